import { describe, expect, test } from "bun:test";
import { exactCost, upperBound } from "../../../../src/core/money/call-cost.ts";
import { add, type NanoUsd, subtract, usd } from "../../../../src/core/money/money.ts";
import { bandPrices } from "../../../../src/services/chat/models/catalogue.ts";
import { StreamCost } from "../../../../src/services/chat/stream-cost.ts";
import { TOKENS_EACH_MAX } from "../../../../src/services/chat/tokens/piece-tokens.ts";
import { TokenMeter } from "../../../../src/services/chat/tokens/token-meter.ts";
import { countTokens } from "../../../../src/services/chat/tokens/tokens.ts";
import { MODEL } from "../../../support/api/models.ts";

const CENT = usd("0.01");
const MAX_TOKENS = 10_000;
const PROSE = " when they came back home";
const CHINESE = "我们昨天在城里看见了很多人和车";
const DENSE = " q7z8";

/** A stream whose upstream reports no usage. */
function open({ output = "60", promptTokens = 0 } = {}) {
  const prices = bandPrices({ input: "3", output });
  const meter = new TokenMeter({ count: async (text) => countTokens(text) });
  const usageOf = (completionTokens: number) => ({
    promptTokens,
    cachedTokens: 0,
    completionTokens,
  });
  const cost = new StreamCost(
    {
      model: { ...MODEL, prices },
      hold: {
        amount: upperBound(prices, { promptTokens, outputTokens: MAX_TOKENS }),
        admittedAtMs: 0,
      },
      request: { messages: [], maxTokens: MAX_TOKENS, parameters: {} },
      maxTokens: MAX_TOKENS,
    },
    { meter, soFar: async () => usageOf(await meter.tokensSoFar()) },
    TOKENS_EACH_MAX,
  );
  let sent = "";
  return {
    cost,
    send: (content: string) => {
      meter.add([{ index: 0, delta: { content }, finish_reason: null }]);
      sent += content;
    },
    sent: () => exactCost(prices, usageOf(countTokens(sent))),
  };
}

/** The highest cost of sent text that was not counted, and the number of counts. */
async function stream(texts: readonly string[], terms: Parameters<typeof open>[0]) {
  const { cost, send, sent } = open(terms);
  let counted = usd("0");
  let unsaved = usd("0");
  let asked = 0;
  for (const text of texts) {
    send(text);
    const open = subtract(sent(), counted);
    if (open > unsaved) unsaved = open;
    if (!cost.isDue) continue;
    asked += 1;
    counted = (await cost.costSoFar()) ?? counted;
    expect(counted).toBeLessThanOrEqual(sent());
  }
  return { unsaved, asked };
}

describe("the cost of a stream that no checkpoint has", () => {
  test.each([
    { output: "60", text: PROSE },
    { output: "60", text: CHINESE },
    { output: "60", text: DENSE },
    { output: "60", text: "字" },
    { output: "600", text: PROSE },
    { output: "600", text: "字" },
    { output: "60", text: PROSE, promptTokens: 1_500 },
    { output: "60", text: PROSE, promptTokens: 100_000 },
  ])(
    "is at most a cent and the last piece: $output, $text, $promptTokens",
    async ({ text, ...terms }) => {
      const piece = exactCost(bandPrices({ input: "0", output: terms.output }), {
        promptTokens: 0,
        cachedTokens: 0,
        completionTokens: countTokens(text) + 16,
      });
      const prompt = usd(((terms.promptTokens ?? 0) * 3e-6).toFixed(9));
      const first: NanoUsd = prompt > CENT ? prompt : usd("0");
      const { unsaved } = await stream(Array(150).fill(text), terms);
      expect(unsaved).toBeLessThanOrEqual(add(CENT, first, piece));
    },
  );

  test("is not computed with every chunk", async () => {
    const { asked } = await stream(Array(600).fill(PROSE), { output: "15" });
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThan(60);
  });

  test("is never due if the output is cheap or free", async () => {
    for (const output of ["0", "0.15"]) {
      expect((await stream(Array(600).fill(PROSE), { output })).asked).toBe(0);
    }
  });

  test("is computed with the first token if the prompt costs more", async () => {
    const { cost, send } = open({ promptTokens: 100_000 });
    expect(cost.isDue).toBe(false);
    send("Hel");
    expect(cost.isDue).toBe(true);
    expect(await cost.costSoFar()).toBe(usd("0.3"));
    expect(cost.isDue).toBe(false);
  });

  test("is counted only if text was added", async () => {
    const { cost, send } = open();
    expect(cost.costSoFar()).toBeNull();
    send(PROSE);
    expect(cost.costSoFar()).not.toBeNull();
    expect(cost.costSoFar()).toBeNull();
  });
});
