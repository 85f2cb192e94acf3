// Parses server-sent events from bytes (WHATWG HTML standard, section 9.2): lines end in LF, CRLF
// or CR, comments are skipped, the data lines of an event are joined. The bytes may be split
// anywhere. The time is linear for any content and any split.

// One decoder for all streams, because each takes two kilobytes. So each reader keeps the bytes of
// an incomplete character itself.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = 0xfeff;
/** Stands for bytes that are no UTF-8, but may also have been sent. */
const REPLACEMENT = "\ufffd";
const NO_BYTES = Buffer.alloc(0);
const LF = 10;
const SPACE = 32;

/** A larger event cannot be a chat chunk. */
const EVENT_LENGTH_MAX = 1024 * 1024;

const ERROR_FIELD = "error:";
const ERROR_NAME = /^event:\s*error\s*$/;
const BRACE = 0x7b;

/** The stream is not a valid event stream. */
export class SseError extends Error {
  override readonly name = "SseError";
}

export class SseReader {
  /** The first bytes of an incomplete character. */
  #cut = NO_BYTES;
  #hasBegun = false;
  /** The text after the last complete line. */
  #rest = "";
  #data: string | null = null;
  #skipLineFeed = false;
  #isError = false;
  /** True once an event named `error` is complete, which ends the stream. */
  hasError = false;
  /** The data of the event named `error`; null without one, and if it has none. */
  errorData: string | null = null;
  readonly #eventLengthMax: number;

  constructor(eventLengthMax = EVENT_LENGTH_MAX) {
    this.#eventLengthMax = eventLengthMax;
  }

  /**
   * The data of every event that the bytes from `from` to `to` complete, up to an event named
   * `error`. Throws an SseError.
   */
  push(bytes: Buffer, from = 0, to = bytes.length): string[] {
    const events: string[] = [];
    const text = this.#decode(bytes, from, to);
    if (text === "") return events;
    let start = this.#skipLineFeed && text.charCodeAt(0) === LF ? 1 : 0;
    this.#skipLineFeed = false;
    let lf = text.indexOf("\n", start);
    let cr = text.indexOf("\r", start);
    while (lf >= 0 || cr >= 0) {
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
      const event = this.#line(text, start, end);
      if (event !== null) events.push(event);
      start = end + 1;
      if (end === cr) {
        if (lf === start) start += 1;
        else if (start === text.length) this.#skipLineFeed = true;
        cr = text.indexOf("\r", start);
      }
      if (lf >= 0 && lf < start) lf = text.indexOf("\n", start);
    }
    // The rest is not searched again, so that many small pieces of a line take linear time.
    if (start < text.length) this.#rest += text.slice(start);
    if (this.#rest.length > this.#eventLengthMax) throw tooLarge();
    return events;
  }

  #decode(bytes: Buffer, from: number, to: number): string {
    if (this.#cut.length > 0) {
      const whole = Buffer.concat([this.#cut, bytes.subarray(from, to)]);
      this.#cut = NO_BYTES;
      return this.#decode(whole, 0, whole.length);
    }
    const end = endOfCharacters(bytes, from, to);
    if (end < to) this.#cut = Buffer.from(bytes.subarray(end, to));
    const text = decoded(bytes, from, end);
    if (this.#hasBegun || text === "") return text;
    this.#hasBegun = true;
    return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  }

  /** Returns the data of the event that this line completes, or null. */
  #line(text: string, start: number, end: number): string | null {
    if (this.#rest !== "") {
      const line = this.#rest + text.slice(start, end);
      this.#rest = "";
      this.#field(line, 0, line.length);
      return null;
    }
    if (start < end) {
      this.#field(text, start, end);
      return null;
    }
    const data = this.hasError || this.#isError ? null : this.#data;
    if (this.#isError && !this.hasError) {
      this.hasError = true;
      this.errorData = this.#data;
    }
    this.#isError = false;
    this.#data = null;
    return data;
  }

  #field(text: string, start: number, end: number): void {
    // Only `data` is needed, and errors (D-656); `id`, `retry` and comments are ignored.
    if (!text.startsWith("data", start)) {
      this.#otherField(text.slice(start, end));
      return;
    }
    let at = start + 4;
    if (at < end) {
      if (text[at] !== ":") return;
      at += at + 1 < end && text.charCodeAt(at + 1) === SPACE ? 2 : 1;
    }
    this.#addData(text.slice(at, end));
  }

  /** Some servers report a failure in a field `error`, or as JSON without a field name. */
  #otherField(line: string): void {
    if (line.startsWith("event")) this.#isError = ERROR_NAME.test(line);
    else if (line.startsWith(ERROR_FIELD)) {
      this.#isError = true;
      this.#addData(line.slice(ERROR_FIELD.length));
    } else if (line.charCodeAt(0) === BRACE) this.#addData(line);
  }

  #addData(value: string): void {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.#eventLengthMax) throw tooLarge();
  }
}

/** The strict decoder needs an object for the part, which costs more than decoding it. */
function decoded(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString("utf8", start, end);
  if (!text.includes(REPLACEMENT)) return text;
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch {
    throw new SseError("The stream is not UTF-8");
  }
}

/** The end of the last complete character. Invalid UTF-8 is left for the decoder to reject. */
function endOfCharacters(bytes: Buffer, start: number, stop: number): number {
  for (let at = stop - 1; at >= start && at >= stop - 3; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return stop;
    if (byte < 0xc0) continue;
    const size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return byte <= 0xf4 && at + size > stop ? at : stop;
  }
  return stop;
}

function tooLarge(): SseError {
  return new SseError("An event is larger than a megabyte");
}
