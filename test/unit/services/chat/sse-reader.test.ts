import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SseError, SseReader } from "../../../../src/services/chat/protocols/openai/sse-reader.ts";

/** Other bytes of the memory that a piece is a part of. */
const OTHER = Buffer.from("data: other\n\n");

function read(...pieces: readonly (string | Uint8Array)[]): string[] {
  const reader = new SseReader();
  return pieces.flatMap((piece) => {
    const bytes = Buffer.concat([OTHER, Buffer.from(piece as string), OTHER]);
    return reader.push(bytes, OTHER.length, bytes.length - OTHER.length);
  });
}

describe("SseReader", () => {
  test("joins the data lines of an event and takes one space from each", () => {
    expect(read("data: a\ndata:b\ndata:  c\ndata\n\n")).toEqual(["a\nb\n c\n"]);
  });

  test("skips comments and every field but data", () => {
    expect(read(": hi\nevent: x\nid: 1\nretry: 5\ndatum: y\ndatax: z\ndata: a\n\n")).toEqual(["a"]);
  });

  test("treats a field named error as an event named error", () => {
    const of = (text: string) => {
      const reader = new SseReader();
      return { events: reader.push(Buffer.from(text)), hasError: reader.hasError };
    };
    expect(of('data: a\n\nerror: {"code":500}\n\ndata: b\n\n')).toEqual({
      events: ["a"],
      hasError: true,
    });
    expect(of("event:  error \ndata: a\n\n")).toEqual({ events: [], hasError: true });
    expect(of("errors: 5\n\n")).toEqual({ events: [], hasError: false });
  });

  test("treats an object without a field name as data", () => {
    expect(read('{"error":1}\n\ndata: a\n\n')).toEqual(['{"error":1}', "a"]);
  });

  test("gives no event for an empty line after none", () => {
    expect(read("\n\n\r\n: ping\n\nid: 4\n\n")).toEqual([]);
  });

  test("skips a byte order mark at the start only", () => {
    expect(read("\uFEFFdata: a\n\ndata: \uFEFFb\n\n")).toEqual(["a", "\uFEFFb"]);
    expect(read(new Uint8Array([0xef]), new Uint8Array([0xbb, 0xbf]), "data: a\n\n")).toEqual([
      "a",
    ]);
  });

  test("holds an event back until its empty line", () => {
    const reader = new SseReader();
    expect(reader.push(Buffer.from("data: a"))).toEqual([]);
    expect(reader.push(Buffer.from("\n"))).toEqual([]);
    expect(reader.push(Buffer.from("\n"))).toEqual(["a"]);
  });

  test("does not wait for the line feed after a carriage return", () => {
    const reader = new SseReader();
    expect(reader.push(Buffer.from("data: a\r\n\r"))).toEqual(["a"]);
    expect(reader.push(Buffer.from("\ndata: b\r\r"))).toEqual(["b"]);
  });

  test("refuses an event of more than a megabyte, in one line or in many", () => {
    const piece = "x".repeat(300_000);
    expect(() => read("data: ", piece, piece, piece, piece)).toThrow(SseError);
    const line = `data: ${piece}\n`;
    expect(() => read(line, line, line, line)).toThrow(SseError);
    expect(() => void read(`data: ${piece.repeat(4)}\n\n`)).toThrow(SseError);
    expect(() => read(":", piece, piece, piece, piece)).toThrow(SseError);
    const empty = "data\n".repeat(100_000);
    expect(() => read(...Array.from({ length: 15 }, () => empty))).toThrow(SseError);
  });

  test("refuses bytes that are not UTF-8", () => {
    expect(() => read("data: ", new Uint8Array([0xff, 0xfe]), "\n\n")).toThrow(SseError);
  });
});

type Ending = "\n" | "\r\n" | "\r";

const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((s) => s.replace(/[\r\n]/g, ""));
const ending = fc.constantFrom<Ending>("\n", "\r\n", "\r");
const noise = fc.constantFrom(": a comment", ":", "event: x", "id: 4", "retry: 9", "other");
const line = fc.oneof(
  { weight: 3, arbitrary: text.map((value) => ({ value, raw: `data: ${value}` })) },
  { weight: 1, arbitrary: noise.map((raw) => ({ value: null, raw })) },
);
const event = fc.array(line, { minLength: 1, maxLength: 4 });
const stream = fc.record({
  events: fc.array(event, { maxLength: 6 }),
  ending,
  hasMark: fc.boolean(),
  cuts: fc.array(fc.nat(400), { maxLength: 40 }),
});

test("any split of the bytes of any events gives the same events", () => {
  fc.assert(
    fc.property(stream, ({ events, ending: end, hasMark, cuts }) => {
      const raw = events.map((lines) => lines.map((one) => one.raw + end).join("") + end).join("");
      const expected = events
        .map((lines) => lines.flatMap(({ value }) => value ?? []))
        .filter((values) => values.length > 0)
        .map((values) => values.join("\n"));
      const bytes = Buffer.from((hasMark ? "\uFEFF" : "") + raw);
      const places = [...new Set(cuts), bytes.length]
        .filter((at) => at <= bytes.length)
        .sort((a, b) => a - b);
      const pieces = places.map((at, index) => bytes.slice(places[index - 1] ?? 0, at));
      expect(read(...pieces)).toEqual(expected);
      expect(read(bytes)).toEqual(expected);
      expect(read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

// A linear time needs no measuring: at quadratic cost each of these takes minutes.
describe("no content and no cut takes more than linear time", () => {
  test("of many lines in one read", () => {
    for (const line of [": \n", "\n", "\r", ": \r\n", "data\n\n"]) {
      const bytes = Buffer.from(line.repeat(2_000_000));
      expect(read(bytes).length).toBe(line.startsWith("data") ? 2_000_000 : 0);
    }
  });

  test("of a line that trickles in", () => {
    const reader = new SseReader();
    const drop = Buffer.from("x");
    reader.push(Buffer.from("data: "));
    for (let count = 0; count < 1_000_000; count += 1) reader.push(drop);
    expect(reader.push(Buffer.from("\n\n"))[0]).toHaveLength(1_000_000);
  });
});
