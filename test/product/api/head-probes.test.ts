// Tests the HEAD requests by which clients find out whether a server is there, before their first
// call: Claude Code sends one to the root.

import { expect, test } from "bun:test";
import { sharedApi } from "../../support/api/shared-api.ts";

const api = await sharedApi();

test.each([
  // The root has a page, but only for clients that accept pages.
  ["/", 404, null],
  ["/v1/messages", 405, "POST"],
  ["/v1/responses", 405, "POST"],
] as const)(
  "HEAD %s is answered %d with a key and without one, and costs nothing",
  async (...row) => {
    const [path, status, allow] = row;
    const account = await api.account({ paid: "5" });
    const before = await api.view(account);
    const keys: readonly Record<string, string>[] = [
      {},
      { authorization: `Bearer ${account.key}` },
      { "x-api-key": account.key, "anthropic-version": "2023-06-01" },
    ];
    for (const headers of keys) {
      const response = await fetch(api.parts.url + path, { method: "HEAD", headers });
      const { status: answered } = response;
      const text = await response.text();
      expect([answered, response.headers.get("allow"), text]).toEqual([status, allow, ""]);
    }
    const { paid, heldPaid } = await api.view(account);
    expect([paid, heldPaid]).toEqual([before.paid, before.heldPaid]);
    expect(api.chat.requests).toEqual([]);
    expect(await api.journal(account)).not.toContainEqual(
      expect.objectContaining({ type: "call" }),
    );
  },
);
