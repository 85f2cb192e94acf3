// Tests that the session of a client is its run where the operator says so, by any door.

import { expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { startFakeUpstream } from "../../support/fakes/fake-upstream.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const upstream = await shared(startFakeUpstream());
const HEADERS = ["x-claude-code-session-id", "session_id"] as const;
const catalogue = catalogueOf(
  [{ ...modelOf(["ai", "ok"]), id: "ok" }],
  [providerAt(upstream.baseUrl, { name: "ai" })],
  {
    sessionHeaders: HEADERS,
    runs: { sessionHeaders: HEADERS, max: usd("2"), seconds: 3_600 },
  },
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });

const MESSAGES = [{ role: "user", content: "Hello" }];
const DOORS = {
  "/v1/chat/completions": chatBody({ model: "ok" }),
  "/v1/messages": { model: "ok", max_tokens: 20, messages: MESSAGES },
} as const;

const open = () => api.account({ paid: "5", contract: "enterprise" });

interface RunJson {
  readonly state: string;
  readonly max_usd: number;
  readonly services: readonly { readonly calls: number }[];
}

async function runOf(account: TestAccount, id: string): Promise<RunJson | null> {
  await api.parts.stores.flush();
  const reply = await api.get(`/v1/runs/${id}`, account);
  return reply.status === 200 ? ((await reply.json()) as RunJson) : null;
}

test("the calls of a session are one run, whatever door and header names it", async () => {
  const account = await open();
  for (const name of HEADERS) {
    for (const [path, body] of Object.entries(DOORS)) {
      const reply = await api.postTo(path, account, body, { headers: { [name]: "session-1" } });
      expect(reply.status).toBe(200);
    }
  }
  const other = { headers: { session_id: "session-2" } };
  const path = "/v1/chat/completions";
  expect((await api.postTo(path, account, DOORS[path], other)).status).toBe(200);
  expect(await runOf(account, "session-1")).toMatchObject({
    state: "active",
    max_usd: 2,
    services: [{ calls: 4 }],
  });
  expect(await runOf(account, "session-2")).toMatchObject({ services: [{ calls: 1 }] });
});

test("the header x-svc-run comes before the session", async () => {
  const account = await open();
  const headers = { session_id: "session-1", "x-svc-run": "mine; max-usd=1" };
  const path = "/v1/chat/completions";
  const reply = await api.postTo(path, account, DOORS[path], { headers });
  expect(reply.status).toBe(200);
  expect(await runOf(account, "mine")).toMatchObject({ max_usd: 1 });
  expect(await runOf(account, "session-1")).toBeNull();
});

test("a session stops at its amount, and another one goes on", async () => {
  const account = await open();
  const path = "/v1/chat/completions";
  const send = (session: string) =>
    api.postTo(path, account, DOORS[path], { headers: { session_id: session } });
  expect((await send("session-1")).status).toBe(200);
  const lowered = await api.postTo("/v1/runs/session-1", account, { max_usd: "0" });
  expect(lowered.status).toBe(200);
  const refused = await send("session-1");
  expect([refused.status, (await errorOf(refused)).code]).toEqual([402, "run_budget_exceeded"]);
  expect((await send("session-2")).status).toBe(200);
});

test("a session that can be no run is refused, and the refusal names its header", async () => {
  const account = await open();
  const path = "/v1/chat/completions";
  const headers = { "x-claude-code-session-id": "a session" };
  const reply = await api.postTo(path, account, DOORS[path], { headers });
  expect([reply.status, await errorOf(reply)]).toMatchObject([
    400,
    { code: "invalid_parameter", message: expect.stringContaining("x-claude-code-session-id") },
  ]);
});
