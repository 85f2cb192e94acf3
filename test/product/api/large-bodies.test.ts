// Tests that large bodies, which a separate thread parses, are forwarded unchanged.

import { expect, test } from "bun:test";
import { BodyThread } from "../../../src/start/body-threads.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { atEnd } from "../../support/shared.ts";

const thread = new BodyThread({ clock: realClock, log: silent });
atEnd(() => thread.close());
const api = await sharedApi({ parser: thread });

const MEBIBYTE = 1024 * 1024;
const long = (content: string, fields: object = {}) =>
  chatBody({ messages: [{ role: "user", content }], ...fields });

for (const [name, text] of [
  ["ASCII", "a line\n".repeat(MEBIBYTE / 8)],
  ["many scripts", "ä€𝄞\u0000\u2028".repeat(MEBIBYTE / 16)],
] as const) {
  test(`the model gets a long prompt unchanged: ${name}`, async () => {
    const account = await api.account({ paid: "100" });
    const response = await api.post(account, long(text));
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("59");
    expect(api.chat.requests.at(-1)?.messages).toEqual([{ role: "user", content: text }]);
  });
}

test("a large body is refused like a small one, and counted once", async () => {
  const text = "x".repeat(MEBIBYTE);
  const refusals = [
    ["invalid_json", `{"messages":"${text}`],
    ["invalid_json", `["${text}"]`],
    ["messages_required", { model: text }],
    ["invalid_parameter", long(text, { temperature: 3 })],
    [
      "invalid_parameter",
      long(
        text,
        Object.fromEntries(
          Array(300)
            .keys()
            .map((k) => [k, 1]),
        ),
      ),
    ],
    ["model_not_found", long(text, { model: "none" })],
    ["insufficient_credits", long(text)],
  ] as const;
  const account = await api.account({ paid: "0.000001", contract: "enterprise" });
  for (const [index, [code, body]] of refusals.entries()) {
    const response = await api.post(account, body);
    expect((await errorOf(response)).code).toBe(code);
    const remaining = Number(response.headers.get("x-ratelimit-remaining-requests"));
    expect(remaining).toBe(10_000 - index - 1);
  }
});
