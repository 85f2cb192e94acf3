// Parses the replies of a Redis server (RESP2) from its bytes, which may be split anywhere. No byte
// is read more than twice, however large a reply is or how small the pieces are.

import type { Reply } from "./script-client.ts";

/** An error reply of Redis; the message begins with a code. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** Thrown for bytes that no Redis server sends. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const CR = 13;
const MINUS = 45;
const ZERO = 48;
const [STATUS, ERROR, INTEGER, BULK, ARRAY] = ["+", "-", ":", "$", "*"].map((type) =>
  type.charCodeAt(0),
);
/** The longest line. Only errors may be long, and they are a few hundred bytes. */
const LINE_LENGTH_MAX = 64 * 1024;
const NOTHING = Buffer.alloc(0);

interface OpenArray {
  readonly items: Reply[];
  readonly length: number;
}

export class ReplyReader {
  readonly #onReply: (reply: Reply) => void;
  /** Arrays with items still missing, the innermost last. */
  readonly #open: OpenArray[] = [];
  /** Bytes from the first incomplete element on. */
  #bytes: Buffer = NOTHING;
  #at = 0;
  /** Pieces of a long element, joined when it is complete. */
  #pieces: Buffer[] = [];
  #missing = 0;

  constructor(onReply: (reply: Reply) => void) {
    this.#onReply = onReply;
  }

  /** Calls back for each reply that these bytes complete. Throws a ProtocolError. */
  push(bytes: Buffer): void {
    if (this.#missing > 0) {
      this.#pieces.push(bytes);
      this.#missing -= bytes.length;
      if (this.#missing > 0) return;
      this.#bytes = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#missing = 0;
    } else {
      this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    }
    this.#at = 0;
    while (this.#at < this.#bytes.length && this.#element());
    this.#bytes = this.#at === this.#bytes.length ? NOTHING : this.#bytes.subarray(this.#at);
    if (this.#missing > 0) {
      this.#pieces.push(this.#bytes);
      this.#bytes = NOTHING;
    }
  }

  /** Reads one element; false if it is not complete. */
  #element(): boolean {
    const bytes = this.#bytes;
    const start = this.#at + 1;
    const end = bytes.indexOf(CR, start);
    // The line feed may be in the next piece.
    if (end < 0 || end + 1 >= bytes.length) {
      if (bytes.length - start > LINE_LENGTH_MAX) throw new ProtocolError("A line is too long");
      return false;
    }
    const next = end + 2;
    switch (bytes[this.#at]) {
      case BULK:
        return this.#bulk(integerAt(bytes, start, end), next);
      case ARRAY:
        this.#at = next;
        this.#array(integerAt(bytes, start, end));
        return true;
      case INTEGER:
        this.#at = next;
        this.#take(integerAt(bytes, start, end));
        return true;
      case STATUS:
        this.#at = next;
        this.#take(bytes.subarray(start, end));
        return true;
      case ERROR:
        this.#at = next;
        this.#take(new ReplyError(bytes.toString("utf8", start, end)));
        return true;
      default:
        throw new ProtocolError(`A reply begins with byte ${bytes[this.#at]}`);
    }
  }

  #bulk(length: number, start: number): boolean {
    const end = start + Math.max(0, length);
    const next = length < 0 ? start : end + 2;
    if (next > this.#bytes.length) {
      this.#missing = next - this.#bytes.length;
      return false;
    }
    this.#at = next;
    this.#take(length < 0 ? null : this.#bytes.subarray(start, end));
    return true;
  }

  #array(length: number): void {
    if (length > 0) this.#open.push({ items: [], length });
    else this.#take(length < 0 ? null : []);
  }

  /** A value is an item of the innermost open array, which it may complete, or a whole reply. */
  #take(value: Reply): void {
    let reply = value;
    for (let array = this.#open.at(-1); array !== undefined; array = this.#open.at(-1)) {
      array.items.push(reply);
      if (array.items.length < array.length) return;
      this.#open.pop();
      reply = array.items;
    }
    this.#onReply(reply);
  }
}

function integerAt(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) throw new ProtocolError("A number has a letter in it");
    value = value * 10 + digit;
  }
  return isNegative ? -value : value;
}
