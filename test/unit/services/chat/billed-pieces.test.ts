// A call in which several models ran is charged by the row of each: read by the adapter from a
// provider's reply over real HTTP, and priced as a chat prices it.

import { beforeEach, describe, expect, test } from "bun:test";
import { pricesOf } from "../../../../src/core/money/call-cost.ts";
import { type NanoUsd, price } from "../../../../src/core/money/money.ts";
import type { ChatUsage } from "../../../../src/services/chat/protocols/provider.ts";
import { costOf } from "../../../../src/services/chat/served-model.ts";
import { StreamUsage } from "../../../../src/services/chat/stream-usage.ts";
import { REQUEST } from "../../../support/api/chat-routes.ts";
import { typedEvent } from "../../../support/fakes/wire/wire-answer.ts";
import { protocols, sdkCall } from "../../../support/fakes/wire/wire-forms.ts";
import { startWireServer } from "../../../support/fakes/wire/wire-server.ts";
import { shared } from "../../../support/shared.ts";

const server = await shared(startWireServer());
beforeEach(() => server.reset());

const perMillion = (usd: string) => price(usd, 1_000_000);
const row = (input: string, output: string) => ({
  input: perMillion(input),
  output: perMillion(output),
  cachedInput: null,
});
const PRICES = pricesOf([
  row("1", "2"),
  { ...row("10", "20"), when: { servedModel: "claude-big" } },
  { ...row("3", "6"), when: { abovePromptTokens: 2_000 } },
]);

const counts = (input_tokens: number, output_tokens: number) => ({ input_tokens, output_tokens });
const ADVISED = {
  ...counts(300, 50),
  iterations: [
    { type: "message", ...counts(100, 20) },
    { type: "advisor_message", model: "claude-big", ...counts(1_000, 40) },
    { type: "message", ...counts(200, 30) },
  ],
};
const DECLINED = {
  ...counts(500, 9),
  iterations: [
    { type: "message", ...counts(500, 0) },
    { type: "fallback_message", model: "claude-big", ...counts(500, 9) },
  ],
};
const SEARCHED = { ...counts(9_000, 10), server_tool_use: { web_search_requests: 2 } };

const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "claude-small" };
const TEXT = "Fares are paid.";

/** The usage of a reply, whole and streamed. */
async function usages(usage: object): Promise<ChatUsage[]> {
  const content = [{ type: "text", text: TEXT }];
  const whole = { ...MESSAGE, content, stop_reason: "end_turn", stop_sequence: null, usage };
  const start = { ...MESSAGE, content: [], stop_reason: null, usage: counts(1, 1) };
  server.queue(
    { body: [JSON.stringify(whole)] },
    {
      headers: { "content-type": "text/event-stream" },
      body: [
        typedEvent("message_start", { message: start }),
        typedEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
        typedEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text: TEXT } }),
        typedEvent("content_block_stop", { index: 0 }),
        typedEvent("message_delta", { delta: { stop_reason: "end_turn" }, usage }),
        typedEvent("message_stop"),
      ],
    },
  );
  const call = () => sdkCall("anthropic", server.url);
  const reply = await protocols.anthropic.complete(call());
  const batches = await Array.fromAsync(protocols.anthropic.stream(call()));
  return [reply.usage, batches.at(-1)?.usage].flatMap((one) => one ?? []);
}

const cost = (usage: ChatUsage, request = REQUEST) =>
  costOf(PRICES, usage, { request, hold: { admittedAtMs: 0 } });

describe("whole and streamed", () => {
  test.each([
    // 300 and 50 at the asked model's prices, 1,000 and 40 at the advisor's.
    ["an advisor", ADVISED, 300_000 + 100_000 + 10_000_000 + 800_000],
    ["a fallback, whose declined attempt is free", DECLINED, 5_000_000 + 180_000],
  ])("%s is charged at its own prices", async (_, usage, nano) => {
    const read = await usages(usage);
    expect(read).toHaveLength(2);
    for (const one of read) expect(cost(one)).toBe(BigInt(nano) as NanoUsd);
  });

  test("a prompt that counts once a round has the row of the prompt that was sent", async () => {
    for (const usage of await usages(SEARCHED)) {
      expect(cost(usage)).toBe(9_020_000n as NanoUsd);
      const content = "word ".repeat(1_000);
      const long = { ...REQUEST, messages: [{ role: "user", content }] as const };
      expect(cost(usage, long)).toBe(27_060_000n as NanoUsd);
    }
  });
});

test("a stream that broke off after its usage costs all pieces, or the cut output", async () => {
  const [usage] = await usages(ADVISED);
  const stream = (delivered: number) => {
    const counted = new StreamUsage({} as never, "acct_1", { model: {} } as never);
    counted.reported = usage ?? null;
    Object.defineProperty(counted, "meter", {
      value: { started: true, imageTokens: 0, outputTokens: async () => delivered },
    });
    return counted.streamed();
  };
  expect(await stream(500)).toEqual(usage ?? null);
  expect(await stream(7)).toMatchObject({ promptTokens: 1_300, completionTokens: 7 });
  expect(await stream(7)).not.toHaveProperty("pieces");
});
