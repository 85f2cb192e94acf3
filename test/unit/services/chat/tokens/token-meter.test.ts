import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TokenMeter } from "../../../../../src/services/chat/tokens/token-meter.ts";
import { countTokens } from "../../../../../src/services/chat/tokens/tokens.ts";

const counter = { count: async (text: string) => countTokens(text) };
const delta = (content: string) => ({ index: 0, delta: { content }, finish_reason: null });

const piece = fc.oneof(
  fc.lorem({ maxCount: 8 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(" ", "  ", "\n", " \n ", "don't ", "東京都 ", "x = 5; ", "🙂 ", "\u00a0"),
);

describe("TokenMeter", () => {
  test("settledTokens() is never more than the tokens that were streamed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 30 }), async (pieces) => {
        const meter = new TokenMeter(counter);
        let streamed = "";
        for (const text of pieces) {
          meter.add([delta(text)]);
          streamed += text;
          expect(await meter.settledTokens()).toBeLessThanOrEqual(countTokens(streamed));
        }
        const reply = streamed.replace(/(\S) $/, "$1");
        expect(await meter.outputTokens()).toBe(countTokens(reply));
      }),
      { numRuns: 2_000 },
    );
  });

  test("a no-break space counts as space: text is not cut beside it", async () => {
    for (const text of ["\u00a0 \u00a0 pellentesque", "a\u00a0 b"]) {
      const meter = new TokenMeter(counter);
      meter.add([delta(text)]);
      await meter.settledTokens();
      expect(await meter.outputTokens()).toBe(countTokens(text));
    }
  });

  test("counts names and arguments of tool calls", async () => {
    const meter = new TokenMeter(counter);
    const call = { index: 0, function: { name: "get_fare", arguments: '{"from":' } };
    meter.add([{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }]);
    expect(await meter.outputTokens()).toBe(countTokens('get_fare{"from":'));
  });

  test("a reply of pieces that end in a space has no token for the last space", async () => {
    for (const pieces of [["word "], Array(10).fill("word "), ["a b ", "c "], ["a ", "b"]]) {
      const meter = new TokenMeter(counter);
      for (const text of pieces) meter.add([delta(text)]);
      expect(await meter.outputTokens()).toBe(countTokens(pieces.join("").trimEnd()));
    }
    const meter = new TokenMeter(counter);
    meter.add([delta(" ")]);
    expect(await meter.outputTokens()).toBe(1);
  });

  test("goes on counting after a reply that seemed to end in a space", async () => {
    const meter = new TokenMeter(counter);
    meter.add([delta("one ")]);
    expect(await meter.outputTokens()).toBe(1);
    meter.add([delta("two ")]);
    expect(await meter.outputTokens()).toBe(countTokens("one two"));
  });

  test("has not started before the first token", () => {
    const meter = new TokenMeter(counter);
    meter.add([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
    expect(meter.started).toBe(false);
    meter.add([delta("a")]);
    expect(meter.started).toBe(true);
  });

  test("adds up counts that overlap, whichever ends first", async () => {
    const texts: string[] = [];
    const counts: ((tokens: number) => void)[] = [];
    const meter = new TokenMeter({
      count(text) {
        texts.push(text);
        return new Promise((resolve) => counts.push(resolve));
      },
    });
    meter.add([delta("One two three")]);
    const settled = meter.settledTokens();
    meter.add([delta(" four")]);
    const all = meter.outputTokens();
    expect(texts).toEqual(["One two", " three four"]);
    counts[1]?.(2);
    counts[0]?.(2);
    expect([await settled, await all]).toEqual([2, 4]);
  });
});
