// Tests that chunks that differ only in their text, or also in their obfuscation, are read without
// parsing, with the same result.

import { expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { StreamedReply } from "../../../../src/services/chat/protocols/openai/streamed-reply.ts";
import type { ChatBatch } from "../../../../src/services/chat/protocols/provider.ts";

const PARTS = { logprobs: true, reasoning: true };
const BYTES_MAX = 1_000_000;

const newReply = () => new StreamedReply({ parts: PARTS, bytesMax: BYTES_MAX });

function read(reply: StreamedReply, json: string): ChatBatch | null {
  const bytes = Buffer.from(`data: ${json}\n\n`);
  return reply.read(bytes, 0, bytes.length);
}

/** Counts how often a whole chunk was parsed in a stream of these. */
function parsesOf(chunks: readonly string[]): number {
  const parsing = spyOn(JSON, "parse");
  const reply = newReply();
  for (const chunk of chunks) read(reply, chunk);
  const count = parsing.mock.calls.filter(([json]) => json.startsWith("{")).length;
  parsing.mockRestore();
  return count;
}

function textChunk(text: string, more = ""): string {
  const choice = `{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}`;
  return `{"id":"c","choices":[${choice}]${more}}`;
}

const text = fc.oneof(
  fc.constantFrom("content", ":", '":"', "\\", "?", "a?", "}", " ", "\u0000", "\ud83d\ude00", ""),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

/** Makes chunks of one kind, in which the text may occur more than once. */
const kind = fc.record({
  colon: fc.constantFrom(":", ": ", " :"),
  first: fc.constantFrom("", '"content":NOTE,', '"x":{"content":NOTE},', '"note":NOTE,'),
  delta: fc.constantFrom(
    '"content":TEXT',
    '"role":"assistant","content":TEXT',
    '"content":TEXT,"tool_calls":[]',
    '"content":TEXT,"refusal":null',
    '"content":NOTE,"content":TEXT',
    '"content":TEXT,"content":NOTE',
    '"reasoning":"hm","content":TEXT',
    '"content":[{"type":"text","text":TEXT}]',
    '"refusal":TEXT',
  ),
  last: fc.constantFrom(
    "",
    ',"usage":null',
    ',"usage":{"prompt_tokens":1,"completion_tokens":1}',
    ',"system_fingerprint":"fp_one"',
    ',"content":NOTE',
    ',"error":null',
    ',"choices":[]',
    ',"obfuscation":MASK',
    ',"obfuscation":MASK,"obfuscation":MASK',
    ',"x":{"obfuscation":MASK}',
    ',"usage":null,"obfuscation":"',
    ',"obfuscation":MASK,"content":NOTE',
  ),
  finish: fc.constantFrom("null", '""', '"stop"'),
});

/** Only a few texts, so that equal ones often meet. */
const word = fc.constantFrom("a", "b", "a?");
const mask = fc.constantFrom("", "a", "xYz0", '"', "\\", "\n", '","obfuscation":"', '"}');
const texts = fc.array(fc.record({ text: fc.oneof(text, word), note: word, mask }), {
  minLength: 2,
  maxLength: 8,
});

test("a stream of any chunks is read as if each chunk came alone", () => {
  fc.assert(
    fc.property(kind, texts, ({ colon, first, delta, last, finish }, all) => {
      const choice = `{"index":0,"delta":{${delta}},"finish_reason":${finish}}`;
      const chunk = `{${first}"choices":[${choice}]${last}}`.replaceAll('":', `"${colon}`);
      // A usage depends on the output before it.
      const begun = () => {
        const reply = newReply();
        read(reply, textChunk("Well"));
        return reply;
      };
      const reply = begun();
      for (const one of all) {
        const json = chunk
          .replaceAll("TEXT", () => JSON.stringify(one.text))
          .replaceAll("NOTE", () => JSON.stringify(one.note))
          .replaceAll("MASK", () => JSON.stringify(one.mask));
        const alone = begun();
        expect(read(reply, json)).toEqual(read(alone, json));
        expect(reply.failure).toEqual(alone.failure);
        expect(reply.hasContent).toBe(alone.hasContent);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("a chunk that repeats the previous one is not parsed", () => {
  const chunks = ["Well", " quickly", " ü", " 😀"].map((one) => textChunk(one));
  // Parsed once to read it, and once to prove the learned form.
  expect(parsesOf(chunks)).toBe(2);
});

test("a chunk with another obfuscation is not parsed, whatever its length", () => {
  const masks = ["aB3", "", "xYz0xYz0xYz0", "k"];
  const chunks = ["Well", " quickly", " ü", " 😀"].map((one, at) =>
    textChunk(one, `,"usage":null,"obfuscation":"${masks[at]}"`),
  );
  expect(parsesOf(chunks)).toBe(2);
});

test("a chunk whose obfuscation does not end is refused", () => {
  const reply = newReply();
  read(reply, textChunk("Well", ',"obfuscation":"aB3"'));
  expect(read(reply, textChunk("on", ',"obfuscation":"'))).toBeNull();
  expect(reply.failure).not.toBeNull();
});

test("a text with escapes is parsed", () => {
  expect(parsesOf([textChunk("Well"), textChunk('"'), textChunk("\n"), textChunk("on")])).toBe(4);
});

test("a chunk with bytes that JSON refuses in a string is refused", () => {
  const reply = newReply();
  read(reply, textChunk("Well"));
  expect(read(reply, textChunk("on").replace("on", "o\tn"))).toBeNull();
  expect(reply.failure).not.toBeNull();
});

test("a stream whose chunks differ in more than their text is learned from four times", () => {
  const chunks = Array.from({ length: 20 }, (_, at) => textChunk("Well", `,"at":${at}`));
  expect(parsesOf(chunks)).toBe(24);
});

test("a chunk that has its text in many places is read again twice at most", () => {
  const places = Array(1_000).fill('{"content":"Well"}').join();
  const chunk = `{"x":[{"content":"Well"},{"content":"Well"}],${textChunk("Well").slice(1)}`;
  expect(parsesOf([chunk])).toBe(3);
  expect(parsesOf([`{"x":[${places}],${textChunk("Well").slice(1)}`])).toBe(1);
});

test("a chunk has its own fingerprint", () => {
  const reply = newReply();
  const other = Array.from({ length: 6 }, (_, at) =>
    textChunk("Well", `,"system_fingerprint":"fp_${at}"`),
  );
  const seen = [...other, textChunk("on", ',"system_fingerprint":"fp_3"')].map(
    (chunk) => read(reply, chunk)?.fingerprint ?? "none",
  );
  expect(seen).toEqual(["fp_0", "fp_1", "fp_2", "fp_3", "fp_4", "fp_5", "fp_3"]);
});
