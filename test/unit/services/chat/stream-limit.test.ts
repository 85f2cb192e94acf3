import { describe, expect, test } from "bun:test";
import { nano } from "../../../../src/core/money/money.ts";
import { StreamLimit } from "../../../../src/services/chat/stream-limit.ts";
import { TOKENS_EACH_MAX } from "../../../../src/services/chat/tokens/piece-tokens.ts";
import { TokenMeter } from "../../../../src/services/chat/tokens/token-meter.ts";
import { countTokens } from "../../../../src/services/chat/tokens/tokens.ts";
import { MODEL } from "../../../support/api/models.ts";

const MAX_TOKENS = 1_000;
const PROMPT = { promptTokens: 0, cachedTokens: 0 };
/** Words of four to five characters, one token each. */
const PROSE = " when they came back home";
/** One token. */
const WORD = " quickly";
/** Each character is a token. */
const DENSE = " q7z8";

/** Streams the texts until the limit is reached, and counts the sent tokens. */
async function stream(texts: Iterable<string>, tokensEach = TOKENS_EACH_MAX) {
  let counts = 0;
  const meter = new TokenMeter({
    async count(text) {
      counts += 1;
      return countTokens(text);
    },
  });
  const hold = { amount: nano(2_000n * BigInt(MAX_TOKENS)), admittedAtMs: 0 };
  const request = { messages: [], maxTokens: MAX_TOKENS, parameters: {} };
  const parts = { model: MODEL, hold, request, maxTokens: MAX_TOKENS };
  const limit = new StreamLimit(parts, { meter, prompt: async () => PROMPT }, tokensEach);
  let sent = "";
  for (const content of texts) {
    if (limit.isDue && (await limit.isReached())) break;
    meter.add([{ index: 0, delta: { content }, finish_reason: null }]);
    sent += content;
  }
  return { counts, tokens: countTokens(sent) };
}

describe("a stream that is about as long as its limit", () => {
  test("is counted a few times, not with every chunk", async () => {
    const chunks = Math.floor((MAX_TOKENS * 0.9) / countTokens(PROSE));
    const { counts, tokens } = await stream(Array(chunks).fill(PROSE));
    expect(tokens).toBeGreaterThan(MAX_TOKENS * 0.85);
    expect(counts).toBeLessThanOrEqual(5);
  });

  test.each([PROSE, WORD, DENSE, `${DENSE}${DENSE}${DENSE}`, "字"])(
    "of %j ends within a few tokens of its limit",
    async (text) => {
      const { tokens } = await stream(Array(3_000).fill(text));
      expect(tokens).toBeGreaterThanOrEqual(MAX_TOKENS);
      expect(tokens).toBeLessThan(MAX_TOKENS + 64);
    },
  );

  test("is counted twice if a token comes at a time", async () => {
    const { counts, tokens } = await stream(Array(MAX_TOKENS - 200).fill(WORD));
    expect(tokens).toBe(MAX_TOKENS - 200);
    expect(counts).toBe(2);
  });

  test("is not counted if the model's earlier replies had one token a piece", async () => {
    const { counts } = await stream(Array(MAX_TOKENS - 200).fill(WORD), 1.25);
    expect(counts).toBe(0);
  });

  test("ends within a few tokens of its limit, whatever earlier replies had", async () => {
    const { tokens } = await stream(Array(3_000).fill(WORD), 1);
    expect(tokens).toBeGreaterThanOrEqual(MAX_TOKENS);
    expect(tokens).toBeLessThan(MAX_TOKENS + 64);
  });

  test("exceeds its limit at most by the unexpected tokens of its pieces", async () => {
    const { tokens } = await stream(Array(3_000).fill(DENSE), 1.25);
    expect(tokens).toBeGreaterThanOrEqual(MAX_TOKENS);
    expect(tokens).toBeLessThan((MAX_TOKENS * countTokens(DENSE)) / 1.25 + 64);
  });

  test("exceeds its limit at most by twice the rest at the change of its text", async () => {
    const prose = Array(60).fill(PROSE);
    const before = countTokens(prose.join(""));
    const { tokens } = await stream([...prose, ...Array(2_000).fill(DENSE)]);
    expect(tokens).toBeGreaterThanOrEqual(MAX_TOKENS);
    expect(tokens).toBeLessThan(MAX_TOKENS + 2 * (MAX_TOKENS - before));
  });
});
