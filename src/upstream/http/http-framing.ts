// Finds the body in the bytes that follow the head of a response (RFC 9112, sections 6 and 7).

import { hungUp, malformed } from "./http-error.ts";
import type { ResponseHead } from "./http-head.ts";

/** Takes the bytes of a connection as they arrive, and finds those of the body. */
export interface Framing {
  /** True once the body is complete. */
  readonly isDone: boolean;
  /** True if it is clear where another response on the connection would begin. */
  readonly isReusable: boolean;
  /** The part of the body in the bytes of the last push: those from `from` to `to`. */
  readonly from: number;
  readonly to: number;
  /** Finds the body in these bytes from `start` on; may join its parts. Throws an HttpError. */
  push(bytes: Buffer, start: number): void;
  /**
   * The connection was closed in order. `isForgeable`: a third party between the server and this
   * process may have closed it. Throws an HttpError unless the close ends the body.
   */
  end(isForgeable?: boolean): void;
}

/** Statuses whose responses never have a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);
const LENGTH = /^\d{1,15}$/;

/** Returns the framing of a body by the response's head. Throws an HttpError. */
export function framingOf({ status, headers }: Pick<ResponseHead, "status" | "headers">): Framing {
  if (BODILESS.has(status)) return new Sized(0);
  const coding = headers.get("transfer-encoding")?.toLowerCase();
  const length = headers.get("content-length");
  if (coding !== undefined) {
    if (coding !== "chunked") throw malformed("The response has an unknown Transfer-Encoding");
    // With both headers, the next response could be read in two ways.
    return new Chunked(length === null);
  }
  if (length === null) return new UntilClosed();
  if (LENGTH.test(length)) return new Sized(Number(length));
  const [first = "", ...others] = length.split(",").map((one) => one.trim());
  if (!LENGTH.test(first) || others.some((other) => other !== first)) {
    throw malformed("The response has an invalid Content-Length");
  }
  return new Sized(Number(first));
}

/** A body of a known length. */
class Sized implements Framing {
  from = 0;
  to = 0;
  #left: number;
  #hasExcess = false;

  constructor(length: number) {
    this.#left = length;
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  get isReusable(): boolean {
    return !this.#hasExcess;
  }

  push(bytes: Buffer, start: number): void {
    const end = Math.min(bytes.length, start + this.#left);
    this.#left -= end - start;
    this.#hasExcess ||= end < bytes.length;
    this.from = start;
    this.to = end;
  }

  end(): void {
    if (this.#left > 0) throw hungUp();
  }
}

/** A body that ends with the connection. */
class UntilClosed implements Framing {
  readonly isReusable = false;
  isDone = false;
  from = 0;
  to = 0;

  push(bytes: Buffer, start: number): void {
    this.from = start;
    this.to = bytes.length;
  }

  end(isForgeable = false): void {
    if (isForgeable) throw hungUp();
    this.isDone = true;
  }
}

const LF = 10;
const CR = 13;
const COLON = 58;
/** The bytes that can follow a chunk's size: CR, or spaces and ';' before an extension. */
const SIZE_ENDS: ReadonlySet<number> = new Set([CR, 9, 32, 59]);
const SIZE_DIGITS_MAX = 12;
/** The most bytes of a chunk's extensions, or of all trailers together. */
const IGNORED_BYTES_MAX = 16 * 1024;

/** The part that the next byte belongs to. */
type ChunkPart = "size" | "extension" | "data" | "data end" | "trailer" | "done";

/** A body in chunks. */
class Chunked implements Framing {
  from = 0;
  to = 0;
  #part: ChunkPart = "size";
  /** The size of the chunk as far as it was read, then the length of its data still to come. */
  #left = 0;
  #digits = 0;
  #ignored = 0;
  /** The length of the trailer line so far. */
  #line = 0;
  /** True if the trailer line so far has the name of a header. */
  #hasName = false;
  #hasExcess = false;

  constructor(readonly hasOneLength: boolean) {}

  get isDone(): boolean {
    return this.#part === "done";
  }

  get isReusable(): boolean {
    return this.hasOneLength && !this.#hasExcess;
  }

  end(): void {
    if (!this.isDone) throw hungUp();
  }

  push(bytes: Buffer, start: number): void {
    // The data of further chunks is moved next to that of the first: one piece costs less to handle
    // than many.
    let from = start;
    let to = start;
    let at = start;
    while (at < bytes.length && this.#part !== "done") {
      if (this.#part !== "data") {
        this.#take(bytes[at] ?? 0);
        at += 1;
        continue;
      }
      const end = Math.min(bytes.length, at + this.#left);
      if (to === from) {
        from = at;
        to = end;
      } else {
        bytes.copyWithin(to, at, end);
        to += end - at;
      }
      this.#left -= end - at;
      if (this.#left === 0) this.#part = "data end";
      at = end;
    }
    this.#hasExcess ||= at < bytes.length;
    this.from = from;
    this.to = to;
  }

  /** Takes one byte that is not data. */
  #take(byte: number): void {
    switch (this.#part) {
      case "size":
        this.#takeSize(byte);
        return;
      case "extension":
        this.#ignore();
        if (byte === LF) this.#beginData();
        return;
      case "data end":
        this.#ignore();
        if (byte === LF) this.#part = "size";
        else if (byte !== CR) throw malformed("A chunk is longer than its size says");
        return;
      case "trailer":
        this.#takeTrailer(byte);
        return;
      default:
        throw new Error(`No byte is due in '${this.#part}'`);
    }
  }

  #takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#digits += 1;
      if (this.#digits > SIZE_DIGITS_MAX) throw malformed("A chunk is too large");
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw malformed("A chunk has no size");
    if (byte === LF) this.#beginData();
    else if (SIZE_ENDS.has(byte)) this.#part = "extension";
    else throw malformed("A chunk has an invalid size");
  }

  #beginData(): void {
    this.#digits = 0;
    this.#ignored = 0;
    this.#part = this.#left === 0 ? "trailer" : "data";
  }

  #takeTrailer(byte: number): void {
    this.#ignore();
    if (byte === CR) return;
    if (byte === COLON) this.#hasName = true;
    if (byte !== LF) this.#line += 1;
    else if (this.#line === 0) this.#part = "done";
    else this.#endTrailer();
  }

  /** A line that is not a header may be the head of another response. */
  #endTrailer(): void {
    this.#hasExcess ||= !this.#hasName;
    this.#hasName = false;
    this.#line = 0;
  }

  #ignore(): void {
    this.#ignored += 1;
    if (this.#ignored > IGNORED_BYTES_MAX) throw malformed("A chunk has too long an extension");
  }
}

/** The value of a hexadecimal digit; -1 for any other byte. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
