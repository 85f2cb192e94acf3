// Parses server-sent events from bytes (WHATWG HTML standard, section 9.2): lines end in LF, CRLF
// or CR, comments are skipped, the data lines of an event are joined. The bytes may be split
// anywhere. The time is linear for any content and any split.

// One decoder for all streams, because each takes two kilobytes. So each reader keeps the bytes of
// an incomplete character itself.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = 0xfeff;
const NO_BYTES = new Uint8Array();
const LF = 10;
const SPACE = 32;

/** A larger event cannot be a chat chunk. */
const EVENT_LENGTH_MAX = 1024 * 1024;

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

  /** Returns the data of every event that these bytes complete. Throws an SseError. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    const text = this.#decode(bytes);
    if (text === "") return events;
    let start = this.#skipLineFeed && text.charCodeAt(0) === LF ? 1 : 0;
    this.#skipLineFeed = false;
    let lf = text.indexOf("\n", start);
    let cr = text.indexOf("\r", start);
    while (lf >= 0 || cr >= 0) {
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
      this.#line(text, start, end, events);
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
    if (this.#rest.length > EVENT_LENGTH_MAX) throw tooLarge();
    return events;
  }

  #decode(bytes: Uint8Array): string {
    const whole = this.#cut.length === 0 ? bytes : Buffer.concat([this.#cut, bytes]);
    const end = endOfCharacters(whole);
    this.#cut = end === whole.length ? NO_BYTES : whole.slice(end);
    try {
      const text = utf8.decode(end === whole.length ? whole : whole.subarray(0, end));
      if (this.#hasBegun || text === "") return text;
      this.#hasBegun = true;
      return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
    } catch {
      throw new SseError("The stream is not UTF-8");
    }
  }

  #line(text: string, start: number, end: number, events: string[]): void {
    if (this.#rest !== "") {
      const line = this.#rest + text.slice(start, end);
      this.#rest = "";
      this.#field(line, 0, line.length);
    } else if (start < end) {
      this.#field(text, start, end);
    } else if (this.#data !== null) {
      events.push(this.#data);
      this.#data = null;
    }
  }

  #field(text: string, start: number, end: number): void {
    // Only `data` is needed; `event`, `id`, `retry` and comments are ignored.
    if (!text.startsWith("data", start)) return;
    let at = start + 4;
    if (at < end) {
      if (text[at] !== ":") return;
      at += at + 1 < end && text.charCodeAt(at + 1) === SPACE ? 2 : 1;
    }
    const value = text.slice(at, end);
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    if (this.#data.length > EVENT_LENGTH_MAX) throw tooLarge();
  }
}

/** Where the last complete character ends. Invalid UTF-8 is left for the decoder to reject. */
function endOfCharacters(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let at = length - 1; at >= 0 && at >= length - 3; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return length;
    if (byte < 0xc0) continue;
    const size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return byte <= 0xf4 && at + size > length ? at : length;
  }
  return length;
}

function tooLarge(): SseError {
  return new SseError("An event is larger than a megabyte");
}
