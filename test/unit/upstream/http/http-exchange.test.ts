// Tests that a response is read from any pieces in which it comes.

import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { Cancellation } from "../../../../src/core/cancellation.ts";
import { HttpExchange } from "../../../../src/upstream/http/http-exchange.ts";
import type { BytesTaker, UpstreamResponse } from "../../../../src/upstream/upstream-response.ts";

interface Sent {
  readonly bytes: Buffer;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** True if it ends with its last byte, not with the connection. */
  readonly hasEnd: boolean;
}

const lineEnd = fc.constantFrom("\r\n", "\n");
const header = fc.tuple(
  fc.stringMatching(/^x-[a-z]{1,8}$/),
  fc.stringMatching(/^([!-~]([ -~]{0,20}[!-~])?)?$/),
);
const informational = fc.constantFrom(
  "",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 Early Hints\nlink: </style.css>\n\n",
);

const response: fc.Arbitrary<Sent> = fc
  .record({
    before: fc.array(informational, { maxLength: 3 }),
    status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
    headers: fc.uniqueArray(header, { maxLength: 5, selector: ([name]) => name }),
    body: fc.string({ unit: "grapheme", maxLength: 60 }),
    breaks: fc.constantFrom("", "\r\n\r\n", "\n\n"),
    eol: lineEnd,
    kind: fc.constantFrom("length" as const, "chunked" as const, "close" as const),
  })
  .map(({ before, status, headers, body: text, breaks, eol, kind }) => {
    const body = breaks + text;
    const length = Buffer.byteLength(body);
    const framing = {
      length: [`content-length: ${length}`],
      chunked: ["transfer-encoding: chunked"],
      close: [],
    }[kind];
    const lines = headers.map(([name, value]) => `${name}: ${value}`);
    const head = [`HTTP/1.1 ${status} Some`, ...lines, ...framing, "", ""].join(eol);
    const data = length === 0 ? "" : `${length.toString(16)}\r\n${body}\r\n`;
    const framed = kind === "chunked" ? `${data}0\r\n\r\n` : body;
    const bytes = Buffer.from(before.join("") + head + framed);
    return { bytes, status, headers, body, hasEnd: kind !== "close" };
  });

/** Gives an exchange the pieces; resolves with the response, and the state of the connection. */
async function receive(pieces: readonly Buffer[], hasEnd: boolean) {
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();
  const exchange = new HttpExchange(null, { resolve, reject });
  let released = -1;
  exchange.sentOn({
    pause: () => {},
    resume: () => {},
    release: (keepMs) => {
      released = keepMs;
    },
    abandon: () => reject(new Error("The connection was given up")),
  });
  for (const piece of pieces) {
    expect(released).toBe(-1);
    // A copy, because its memory belongs to the receiver.
    exchange.receive(Buffer.from(piece));
  }
  if (!hasEnd) {
    expect(released).toBe(-1);
    exchange.close();
  }
  return { response: await promise, released };
}

test("a response is the same, and ends at its last byte, whatever pieces it comes in", async () => {
  const cuts = fc.array(fc.nat(), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(response, cuts, async ({ bytes, hasEnd, ...sent }, places) => {
      const at = [...new Set(places.map((place) => place % bytes.length))].sort((a, b) => a - b);
      const pieces = [0, ...at]
        .map((start, index) => bytes.subarray(start, at[index] ?? bytes.length))
        .filter((piece) => piece.length > 0);
      const { response: got, released } = await receive(pieces, hasEnd);
      expect(got.status).toBe(sent.status);
      for (const [name, value] of sent.headers) expect(got.headers.get(name)).toBe(value);
      expect(await got.text()).toBe(new TextDecoder().decode(Buffer.from(sent.body)));
      expect(released > 0).toBe(hasEnd);
    }),
    { numRuns: 1_000 },
  );
});

test("a response is the same if it comes byte by byte", async () => {
  await fc.assert(
    fc.asyncProperty(response, async ({ bytes, status, hasEnd, body }) => {
      const pieces = Array.from(bytes, (byte) => Buffer.from([byte]));
      const { response: got } = await receive(pieces, hasEnd);
      expect(got.status).toBe(status);
      expect(await got.text()).toBe(new TextDecoder().decode(Buffer.from(body)));
    }),
  );
});

/** Pulls until the body ends, and notes each piece. */
class Notes implements BytesTaker {
  readonly seen: string[] = [];
  readonly #exchange: HttpExchange;
  onTaken: (bytes: string) => void = () => {};

  constructor(exchange: HttpExchange) {
    this.#exchange = exchange;
  }

  take(bytes: Buffer, from: number, to: number): void {
    const text = bytes.toString("latin1", from, to);
    this.seen.push(text);
    this.onTaken(text);
    this.#exchange.pull(this);
  }

  end(): void {
    this.seen.push("end");
  }

  fail(reason: unknown): void {
    this.seen.push(`failure: ${reason instanceof Error ? reason.message : reason}`);
  }
}

/** An exchange whose head has come, its connection, and a puller of its body. */
function begun(signal: Cancellation | null = null) {
  const exchange = new HttpExchange(signal, { resolve: () => {}, reject: () => {} });
  const connection = { released: false, abandoned: false };
  exchange.sentOn({
    pause: () => {},
    resume: () => {},
    release: () => {
      connection.released = true;
    },
    abandon: () => {
      connection.abandoned = true;
    },
  });
  const give = (text: string) => exchange.receive(Buffer.from(text, "latin1"));
  give("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n");
  return { exchange, connection, give, notes: new Notes(exchange) };
}

/** Records rejections that are not handled: a program logs them. */
function watchLostPromises() {
  return spyOn(Promise, "reject").mockImplementation(() => new Promise(() => {}));
}

describe("a body that is pulled", () => {
  test("gives waiting bytes at once, then each piece as it comes, then its end", async () => {
    const { exchange, connection, give, notes } = begun();
    exchange.pull(notes);
    expect(notes.seen).toEqual(["ab"]);
    give("3\r\ncde\r\n1\r\nf\r");
    expect(notes.seen).toEqual(["ab", "cdef"]);
    give("\n0\r\n\r\n");
    await Promise.resolve();
    expect(notes.seen).toEqual(["ab", "cdef", "end"]);
    expect(connection).toEqual({ released: true, abandoned: false });
    exchange.pull(notes);
    await Promise.resolve();
    expect(notes.seen).toEqual(["ab", "cdef", "end", "end"]);
  });

  test("reports an abort after the aborting code has gone on, and then again", async () => {
    const caller = new Cancellation();
    const { exchange, connection, notes } = begun(caller);
    exchange.pull(notes);
    caller.abort(new Error("gone"));
    expect(notes.seen).toEqual(["ab"]);
    await Promise.resolve();
    expect(notes.seen).toEqual(["ab", "failure: gone"]);
    expect(connection.abandoned).toBe(true);
    exchange.pull(notes);
    await Promise.resolve();
    expect(notes.seen).toEqual(["ab", "failure: gone", "failure: gone"]);
  });

  test("fails for a taker that throws; the taker's fault is an unhandled rejection", async () => {
    for (const isWaiting of [true, false]) {
      const { exchange, connection, give, notes } = begun();
      const fault = new Error("a fault");
      const lost = watchLostPromises();
      if (!isWaiting) exchange.pull(notes);
      notes.onTaken = () => {
        throw fault;
      };
      if (isWaiting) exchange.pull(notes);
      else give("1\r\nc\r\n");
      await Promise.resolve();
      expect(lost.mock.calls).toEqual([[fault]]);
      lost.mockRestore();
      expect(notes.seen.at(-1)).toBe("failure: a fault");
      expect(connection).toEqual({ released: false, abandoned: true });
    }
  });

  test("reports the fault of a taker that gave it up as an unhandled rejection", async () => {
    const caller = new Cancellation();
    const { exchange, notes } = begun(caller);
    const fault = new Error("a fault");
    const lost = watchLostPromises();
    notes.onTaken = () => {
      caller.abort(new Error("enough"));
      throw fault;
    };
    exchange.pull(notes);
    expect(lost.mock.calls).toEqual([[fault]]);
    lost.mockRestore();
  });

  test("may be given up by its taker", async () => {
    const caller = new Cancellation();
    const { exchange, connection, give, notes } = begun(caller);
    exchange.pull(notes);
    notes.onTaken = () => caller.abort(new Error("enough"));
    give("1\r\nc\r\n0\r\n\r\n");
    await Promise.resolve();
    expect(notes.seen).toEqual(["ab", "c", "failure: enough"]);
    expect(connection).toEqual({ released: false, abandoned: true });
  });
});
