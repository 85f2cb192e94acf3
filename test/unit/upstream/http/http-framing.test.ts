// Tests where the body of a response begins and ends.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Framing, framingOf } from "../../../../src/upstream/http/http-framing.ts";
import { HeaderTable } from "../../../../src/upstream/http/http-head.ts";

function framing(headers: Readonly<Record<string, string>>, status = 200): Framing {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  return framingOf({ status, headers: new HeaderTable(`\n${lines.join("")}`) });
}

const chunked = () => framing({ "transfer-encoding": "chunked" });

/** The part of the body in these bytes. */
function partOf(framed: Framing, bytes: Buffer, start = 0): Buffer {
  framed.push(bytes, start);
  return bytes.subarray(framed.from, framed.to);
}

/** Cuts bytes at random places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
}

/** Pushes the pieces, after a head in the first; checks that the end is seen at the last byte. */
function bodyOf(framed: Framing, pieces: readonly Buffer[], endsAt: number): Buffer {
  const parts: Buffer[] = [];
  let given = 0;
  for (const piece of pieces) {
    const head = Buffer.from(given === 0 ? "the head" : "");
    // A copy of each piece, because its memory may be changed.
    parts.push(partOf(framed, Buffer.concat([head, piece]), head.length));
    given += piece.length;
    expect(framed.isDone).toBe(given >= endsAt);
  }
  return Buffer.concat(parts);
}

const places = fc.array(fc.nat(), { maxLength: 20 });
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const someBytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
const lineText = fc.stringMatching(/^[ -~]{0,20}$/);

const chunk = fc
  .record({
    data: someBytes,
    zeros: fc.nat(4),
    isUpper: fc.boolean(),
    extension: fc.option(fc.tuple(fc.constantFrom(";", " ;", "\t;", " "), lineText)),
    lineEnd: fc.constantFrom("\r\n", "\n"),
  })
  .map(({ data, zeros, isUpper, extension, lineEnd }) => {
    const digits = "0".repeat(zeros) + data.length.toString(16);
    const size = (isUpper ? digits.toUpperCase() : digits) + (extension?.join("") ?? "");
    return {
      data: Buffer.from(data),
      text: Buffer.concat([Buffer.from(size + lineEnd), data, Buffer.from(lineEnd)]),
    };
  });

const chunkedBody = fc
  .record({
    chunks: fc.array(chunk, { maxLength: 8 }),
    last: fc.constantFrom("0", "000", "0;last", "0 "),
    trailers: fc.array(
      lineText.map((text) => `x-trailer: ${text}\r\n`),
      { maxLength: 4 },
    ),
  })
  .map(({ chunks, last, trailers }) => ({
    body: Buffer.concat(chunks.map(({ data }) => data)),
    text: Buffer.concat([
      ...chunks.map(({ text }) => text),
      Buffer.from(`${last}\r\n${trailers.join("")}\r\n`),
    ]),
  }));

describe("a body is the same, and ends at its last byte, however it is cut into pieces", () => {
  test("with a Content-Length", () => {
    fc.assert(
      fc.property(bytes, places, (body, at) => {
        const framed = framing({ "content-length": String(body.length) });
        expect(bodyOf(framed, cut(body, at), body.length)).toEqual(body);
        expect(framed.isReusable).toBe(true);
        framed.end();
      }),
    );
  });

  test("in chunks", () => {
    fc.assert(
      fc.property(chunkedBody, places, ({ body, text }, at) => {
        const framed = chunked();
        expect(bodyOf(framed, cut(text, at), text.length)).toEqual(body);
        expect(framed.isReusable).toBe(true);
        framed.end();
      }),
      { numRuns: 500 },
    );
  });

  test("until the connection is closed", () => {
    fc.assert(
      fc.property(bytes, places, (body, at) => {
        const framed = framing({});
        expect(bodyOf(framed, cut(body, at), Number.POSITIVE_INFINITY)).toEqual(body);
        framed.end();
        expect(framed).toMatchObject({ isDone: true, isReusable: false });
      }),
    );
  });
});

describe("bytes after the end are not part of the body, and no response can follow them", () => {
  test("with a Content-Length", () => {
    fc.assert(
      fc.property(bytes, someBytes, places, (body, excess, at) => {
        const framed = framing({ "content-length": String(body.length) });
        const all = Buffer.concat([body, excess]);
        expect(bodyOf(framed, cut(all, at), body.length)).toEqual(body);
        expect(framed.isReusable).toBe(false);
      }),
    );
  });

  test("in chunks", () => {
    fc.assert(
      fc.property(chunkedBody, someBytes, places, ({ body, text }, excess, at) => {
        const framed = chunked();
        const all = Buffer.concat([text, excess]);
        expect(bodyOf(framed, cut(all, at), text.length)).toEqual(body);
        expect(framed.isReusable).toBe(false);
      }),
    );
  });
});

test("a connection that is closed before the end of a body is a failure", () => {
  fc.assert(
    fc.property(chunkedBody, fc.nat(), ({ text }, cutAt) => {
      const framed = chunked();
      framed.push(Buffer.from(text.subarray(0, cutAt % text.length)), 0);
      expect(() => framed.end()).toThrow("The server closed the connection");
    }),
  );
  const sized = framing({ "content-length": "5" });
  sized.push(Buffer.from("four"), 0);
  expect(() => sized.end()).toThrow("The server closed the connection");
});

test.each([
  ["no size", "\r\n"],
  ["a space before its size", " 5\r\nhello\r\n"],
  ["a size with a sign", "-5\r\nhello\r\n"],
  ["a size with a prefix", "0x5\r\nhello\r\n"],
  ["a size of other digits", "g\r\n"],
  ["a size with other characters behind it", "5g\r\nhello\r\n"],
  ["a size with a fraction", "5.0\r\nhello\r\n"],
  ["a size of thirteen digits", "1000000000000\r\n"],
  ["more data than its size", "5\r\nhello!\r\n"],
  ["less data than its size", "5\r\nhel\r\n0\r\n\r\n"],
  ["no line break after its data", "5\r\nhello0\r\n\r\n"],
  ["an endless extension", `5;${"x".repeat(20_000)}`],
  ["endless carriage returns after its data", `5\r\nhello${"\r".repeat(20_000)}`],
  ["an endless trailer", `0\r\nx: ${"x".repeat(20_000)}`],
  ["endless trailers", `0\r\n${"x: y\r\n".repeat(4_000)}`],
])("a chunk with %s is refused", (_, text) => {
  expect(() => chunked().push(Buffer.from(text), 0)).toThrow(/^A chunk /);
  // The same if it comes byte by byte.
  const framed = chunked();
  expect(() => {
    for (const byte of Buffer.from(text)) framed.push(Buffer.from([byte]), 0);
  }).toThrow(/^A chunk /);
});

test.each([
  ["-1"],
  ["+5"],
  ["5.0"],
  ["0x5"],
  ["five"],
  [""],
  [","],
  ["5,"],
  ["5, 6"],
  ["5, 05"],
  ["5 5"],
  ["1000000000000000"],
])("Content-Length '%s' is refused", (length) => {
  expect(() => framing({ "content-length": length })).toThrow("an invalid Content-Length");
});

test("a Content-Length that is repeated with the same value counts once", () => {
  const framed = framing({ "content-length": "5, 5" });
  expect(partOf(framed, Buffer.from("hello")).toString()).toBe("hello");
  expect(framed).toMatchObject({ isDone: true, isReusable: true });
});

test.each([["gzip"], ["gzip, chunked"], ["chunked, chunked"], ["identity"], [""], ["chunked;q=1"]])(
  "Transfer-Encoding '%s' is refused",
  (coding) => {
    expect(() => framing({ "transfer-encoding": coding })).toThrow("an unknown Transfer-Encoding");
  },
);

test.each([
  ["a header", "x-sum: 1\r\n", true],
  ["the head of another response", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n", false],
  ["a line without a name", "done\r\n", false],
])("whether a response can follow chunks whose trailers have %s: %p", (_, trailers, isReusable) => {
  const framed = chunked();
  framed.push(Buffer.from(`4\r\ndone\r\n0\r\n${trailers}\r\n`), 0);
  expect(framed).toMatchObject({ isDone: true, isReusable });
});

test("with Transfer-Encoding and Content-Length the chunks count, and nothing can follow", () => {
  const framed = framing({ "transfer-encoding": "Chunked", "content-length": "3" });
  expect(partOf(framed, Buffer.from("5\r\nhello\r\n0\r\n\r\n")).toString()).toBe("hello");
  expect(framed).toMatchObject({ isDone: true, isReusable: false });
});

test.each([[204], [304]])("status %d has no body, whatever its head says", (status) => {
  for (const headers of [{ "content-length": "5" }, { "transfer-encoding": "chunked" }, {}]) {
    expect(framing(headers, status)).toMatchObject({ isDone: true, isReusable: true });
  }
});
