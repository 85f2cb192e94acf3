import { describe, expect, test } from "bun:test";
import {
  PieceTokens,
  TOKENS_EACH_MAX,
} from "../../../../../src/services/chat/tokens/piece-tokens.ts";
import { MODEL } from "../../../../support/api/models.ts";

const OTHER = { ...MODEL };

/** The tokens expected of the model after replies of 100 pieces with these tokens. */
function after(...replies: readonly number[]): number {
  const learned = new PieceTokens();
  for (const tokens of replies) learned.learn(MODEL, { tokens, pieces: 100 });
  return learned.expected(MODEL);
}

describe("the tokens expected of a piece", () => {
  test("are four before a reply has ended", () => {
    expect(after()).toBe(TOKENS_EACH_MAX);
  });

  test("are a quarter more than the last reply had", () => {
    expect(after(120)).toBeCloseTo(1.5);
  });

  test("rise at once and fall slowly", () => {
    expect(after(100, 200)).toBeCloseTo(2.5);
    expect(after(200, 100)).toBeCloseTo(1.25 * 1.875);
    expect(after(200, ...Array<number>(40).fill(100))).toBeCloseTo(1.25, 1);
  });

  test("are never more than four, whatever one reply had", () => {
    expect([after(20), after(900)]).toEqual([1.25, TOKENS_EACH_MAX]);
    // A single reply of very many tokens does not dominate for long.
    expect(after(100_000, ...Array<number>(20).fill(100))).toBeLessThan(2);
  });

  test("are not learned from a short reply, or from another model's", () => {
    const learned = new PieceTokens();
    learned.learn(MODEL, { tokens: 31, pieces: 31 });
    learned.learn(OTHER, { tokens: 100, pieces: 100 });
    expect(learned.expected(MODEL)).toBe(TOKENS_EACH_MAX);
  });
});
