// Reads server-sent events from bytes that may be split anywhere (the WHATWG "event stream" format).
// Only the data of an event is of use here.

const LF = 10;
const CR = 13;
const SPACE = 32;
const BYTE_ORDER_MARK = "\uFEFF";

// Only whole lines are decoded, so no character is ever split.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** An event or a line that is longer than the parser holds. */
export class FrameTooLargeError extends Error {
  override readonly name = "FrameTooLargeError";
}

/** Parses one stream of events. */
export class SseParser {
  readonly #frameBytesMax: number;
  /** The bytes behind the last line that is complete. */
  #held = new Uint8Array(0);
  #heldLength = 0;
  #data: string | null = null;
  #isAtStart = true;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  /** The data of each event that these bytes complete. Throws a FrameTooLargeError. */
  push(bytes: Uint8Array): string[] {
    const end = bytes.lastIndexOf(LF) + 1;
    if (end === 0) return this.#hold(bytes);
    const events: string[] = [];
    this.#lines(this.#withHeld(bytes, end), events);
    if (end < bytes.length) this.#keep(bytes.subarray(end));
    return events;
  }

  /** The data of the last event, which servers often end with the stream in place of an empty line. */
  end(): string[] {
    const events: string[] = [];
    const rest = decoder.decode(this.#held.subarray(0, this.#heldLength));
    this.#heldLength = 0;
    this.#lines(`${rest}\n\n`, events);
    return events;
  }

  #lines(raw: string, events: string[]): void {
    let text = raw;
    if (this.#isAtStart && text.length > 0) {
      this.#isAtStart = false;
      if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
    }
    if (text.includes("\r")) text = text.replaceAll(/\r\n?/g, "\n");
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      if (end === start) this.#dispatch(events);
      else if (text.startsWith("data", start)) this.#field(text, start, end);
      start = end + 1;
    }
  }

  /** A line that begins with "data"; all other fields and comments mean nothing here. */
  #field(text: string, start: number, end: number): void {
    let from = start + 4;
    if (from < end) {
      if (text[from] !== ":") return;
      from += text.charCodeAt(from + 1) === SPACE ? 2 : 1;
    }
    const value = text.slice(from, end);
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.#frameBytesMax) throw tooLarge(this.#frameBytesMax);
  }

  #dispatch(events: string[]): void {
    if (this.#data) events.push(this.#data);
    this.#data = null;
  }

  /** Bytes without a line feed: at most a lone carriage return ends a line in them. */
  #hold(bytes: Uint8Array): string[] {
    const searched = Math.max(0, this.#heldLength - 1);
    this.#keep(bytes);
    const held = this.#held.subarray(0, this.#heldLength);
    // A carriage return at the very end may be half of a pair.
    const end = held.subarray(searched, -1).lastIndexOf(CR) + 1;
    if (end === 0) return [];
    const events: string[] = [];
    const lines = decoder.decode(held.subarray(0, searched + end));
    this.#held.copyWithin(0, searched + end, this.#heldLength);
    this.#heldLength -= searched + end;
    this.#lines(lines, events);
    return events;
  }

  #withHeld(bytes: Uint8Array, end: number): string {
    const whole = end === bytes.length ? bytes : bytes.subarray(0, end);
    if (this.#heldLength === 0) return decoder.decode(whole);
    this.#keep(whole);
    const text = decoder.decode(this.#held.subarray(0, this.#heldLength));
    this.#heldLength = 0;
    return text;
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#heldLength + bytes.length;
    if (length > this.#frameBytesMax + bytes.length) throw tooLarge(this.#frameBytesMax);
    if (length > this.#held.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#heldLength));
      this.#held = larger;
    }
    this.#held.set(bytes, this.#heldLength);
    this.#heldLength = length;
  }
}

function tooLarge(bytesMax: number): FrameTooLargeError {
  return new FrameTooLargeError(`An event of the stream has more than ${bytesMax} bytes`);
}
