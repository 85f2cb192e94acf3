import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import type {
  ChatMessage,
  ChatRequest,
} from "../../../../../src/services/chat/protocols/provider.ts";
import {
  countPrompt,
  countPromptTokens,
  countTokens,
  firstTokens,
  promptTokensMax,
  splitRuns,
} from "../../../../../src/services/chat/tokens/tokens.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 700 }),
  fc.string({ unit: "grapheme", maxLength: 700 }),
  // Lone halves of surrogate pairs, which are not characters but may occur in JSON.
  fc
    .array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 700 })
    .map((codes) => String.fromCharCode(...codes)),
  fc.tuple(fc.string({ maxLength: 4 }), fc.nat(700)).map(([text, times]) => text.repeat(times)),
);

const anyMessage: fc.Arbitrary<ChatMessage> = fc.record(
  {
    role: fc.constantFrom("system", "user", "assistant", "tool"),
    content: fc.option(anyText),
    name: fc.string(),
    tool_call_id: fc.string(),
    tool_calls: fc.array(
      fc.record({
        id: fc.string(),
        type: fc.constant("function" as const),
        function: fc.record({ name: fc.string(), arguments: anyText }),
      }),
    ),
  },
  { requiredKeys: ["role", "content"] },
);

function requestOf(messages: readonly ChatMessage[], tools?: unknown): ChatRequest {
  return { messages, maxTokens: 100, parameters: tools === undefined ? {} : { tools } };
}

describe("countTokens()", () => {
  test("never counts more tokens than bytes", () => {
    fc.assert(
      fc.property(anyText, (text) => countTokens(text) <= Buffer.byteLength(text)),
      { numRuns: 1_000 },
    );
  });

  test("counts as the tokenizer does wherever no run is long", () => {
    const text = "A hold is settled, released or expired: exactly once.\n\n```\nnpm start\n```\n";
    expect(countTokens(text)).toBe(encode(text).length);
    expect(countTokens(text.repeat(50))).toBe(encode(text.repeat(50)).length);
  });

  test("treats control tokens as plain text", () => {
    for (const text of ["<|endoftext|>", "a <|endofprompt|> b", "<|im_start|>system"]) {
      expect(countTokens(text)).toBeGreaterThan(3);
    }
  });

  test("is 0 for no text", () => {
    expect(countTokens("")).toBe(0);
  });
});

describe("splitRuns()", () => {
  const runs: Record<string, string> = {
    letters: "a".repeat(100_000),
    Thai: "ราคา".repeat(25_000),
    spaces: " ".repeat(100_000),
    "line breaks": "\n".repeat(100_000),
    dashes: "-".repeat(100_000),
    emoji: "😀".repeat(50_000),
    "halves of emoji": "\udc00".repeat(100_000),
    "other halves": "\ud800".repeat(100_000),
    accents: `e${"\u0301".repeat(100_000)}`,
  };
  for (const [name, text] of Object.entries(runs)) {
    test(`leaves no piece of ${name} that would take long`, () => {
      const pieces = splitRuns(text);
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(201);
      expect(pieces.join("")).toBe(text);
      expect(countTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
    });
  }

  test("never cuts a character in two", () => {
    for (const before of ["", "a"]) {
      for (const piece of splitRuns(before + "😀".repeat(1_000))) {
        expect(piece.isWellFormed()).toBe(true);
      }
    }
  });

  test("cuts ordinary text only where the tokenizer does", () => {
    const text = "What was held is given back, minus what it cost (rounded up). ".repeat(20);
    const whole = encode(text).length;
    expect(splitRuns(text).reduce((sum, piece) => sum + encode(piece).length, 0)).toBe(whole);
  });
});

describe("the prompt", () => {
  test("promptTokensMax() is never below the real count", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 5 }), anyText, (messages, description) => {
        const tools = [{ type: "function", function: { name: "f", description } }];
        const counted = countPromptTokens(messages, JSON.stringify(tools));
        expect(promptTokensMax(requestOf(messages, tools))).toBeGreaterThanOrEqual(counted);
      }),
      { numRuns: 300 },
    );
  });

  test("the bound and the count include everything that is forwarded as text", async () => {
    const nothing = requestOf([{ role: "user", content: null }]);
    const bare = promptTokensMax(nothing);
    const long = "é".repeat(50);
    const counted = countTokens(long);
    const call = { id: long, type: "function", function: { name: long, arguments: long } } as const;
    const more: ChatRequest[] = [
      requestOf([{ role: "user", content: long }]),
      requestOf([{ role: "user", content: null, name: long }]),
      requestOf([{ role: "tool", content: null, tool_call_id: long }]),
      requestOf([{ role: "user", content: null }], [{ description: long }]),
      {
        ...requestOf([{ role: "user", content: null }]),
        parameters: { response_format: { schema: long } },
      },
    ];
    for (const request of more) {
      expect(promptTokensMax(request)).toBeGreaterThanOrEqual(bare + 100);
      const tokens = (await countPrompt(request)) - (await countPrompt(nothing));
      expect(tokens).toBeGreaterThanOrEqual(counted);
    }
    const calls = requestOf([{ role: "assistant", content: null, tool_calls: [call] }]);
    expect(promptTokensMax(calls)).toBeGreaterThanOrEqual(bare + 300);
    const ofCalls = (await countPrompt(calls)) - (await countPrompt(nothing));
    expect(ofCalls).toBeGreaterThanOrEqual(3 * counted);
  });

  test("countPrompt() counts as countPromptTokens() does", async () => {
    const tools = [{ type: "function", function: { name: "find" } }];
    const messages: ChatMessage[] = [
      { role: "system", content: "Be short." },
      { role: "user", content: "😀 and some words. ".repeat(4_000), name: "ada" },
      { role: "tool", content: "42", tool_call_id: "call_1" },
    ];
    const counted = await countPrompt(requestOf(messages, tools));
    const exact = countPromptTokens(messages, JSON.stringify(tools));
    // Each cut of a long text may split a token.
    expect(counted).toBeGreaterThanOrEqual(exact);
    expect(counted).toBeLessThanOrEqual(exact + 10);
  });

  test("countPrompt() lets other work in between, and ends early above its limit", async () => {
    const request = requestOf([{ role: "user", content: "word ".repeat(40_000) }]);
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const all = await countPrompt(request);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    expect(all).toBeGreaterThan(40_000);
    const some = await countPrompt(request, 1_000);
    expect(some).toBeGreaterThan(1_000);
    expect(some).toBeLessThan(all / 2);
  });
});

describe("firstTokens()", () => {
  const count = async (text: string) => countTokens(text);

  test("keeps a start within the limit, of whole characters", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.integer({ min: 0, max: 60 }), async (text, tokensMax) => {
        const start = await firstTokens(text, tokensMax, count);
        expect(start.tokens).toBeLessThanOrEqual(tokensMax);
        expect(start.tokens).toBe(countTokens(start.text));
        expect(text.startsWith(start.text)).toBe(true);
        expect(start.cut).toBe(start.text !== text);
        if (text.isWellFormed()) expect(start.text.isWellFormed()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("leaves a text unchanged that fits", async () => {
    expect(await firstTokens("One hold.", 10, count)).toEqual({
      text: "One hold.",
      tokens: 3,
      cut: false,
    });
  });
});
