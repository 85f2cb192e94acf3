import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TokenMeter } from "../../../src/services/chat/token-meter.ts";
import { countTokens } from "../../../src/services/chat/tokens.ts";

const delta = (content: string) => ({ index: 0, delta: { content }, finish_reason: null });

const piece = fc.oneof(
  fc.lorem({ maxCount: 8 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(" ", "  ", "\n", " \n ", "don't ", "東京都 ", "x = 5; ", "🙂 ", "\u00a0"),
);

describe("TokenMeter", () => {
  test("settledTokens() is never more than the tokens that were streamed", () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 30 }), (pieces) => {
        const meter = new TokenMeter();
        let streamed = "";
        for (const text of pieces) {
          meter.add([delta(text)]);
          streamed += text;
          expect(meter.settledTokens()).toBeLessThanOrEqual(countTokens(streamed));
        }
        expect(meter.tokens()).toBe(countTokens(streamed));
      }),
      { numRuns: 2_000 },
    );
  });

  test("a no-break space is space: text is not cut beside it", () => {
    for (const text of ["\u00a0 \u00a0 pellentesque", "a\u00a0 b"]) {
      const meter = new TokenMeter();
      meter.add([delta(text)]);
      meter.settledTokens();
      expect(meter.tokens()).toBe(countTokens(text));
    }
  });

  test("counts names and arguments of tool calls", () => {
    const meter = new TokenMeter();
    const call = { index: 0, function: { name: "get_fare", arguments: '{"from":' } };
    meter.add([{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }]);
    expect(meter.tokens()).toBe(countTokens('get_fare{"from":'));
  });

  test("has not started before the first token", () => {
    const meter = new TokenMeter();
    meter.add([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
    expect(meter.started).toBe(false);
    meter.add([delta("a")]);
    expect(meter.started).toBe(true);
  });
});
