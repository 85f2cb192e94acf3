// Server-sent events from bytes, as the WHATWG HTML standard says (section 9.2): lines may end in
// LF, CRLF or CR, comments are skipped, the data lines of an event are joined. Bytes may be cut
// anywhere, and no way to cut them, nor any content, takes more than linear time.

const LF = 10;
const SPACE = 32;

/** An event larger than this is no chat chunk. */
const EVENT_LENGTH_MAX = 1024 * 1024;

/** Thrown for a stream that is not what it says it is. */
export class SseError extends Error {
  override readonly name = "SseError";
}

export class SseReader {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  /** Text after the last whole line. */
  #rest = "";
  #data: string | null = null;
  #skipLineFeed = false;

  /** The data of every event that these bytes complete. Throws an SseError. */
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
    // Joined without being searched again, however small the pieces are that a line comes in.
    if (start < text.length) this.#rest += text.slice(start);
    if (this.#rest.length > EVENT_LENGTH_MAX) throw tooLarge();
    return events;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: true });
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
    // Only `data` matters here; `event`, `id`, `retry` and comments change nothing.
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

function tooLarge(): SseError {
  return new SseError("An event is larger than a megabyte");
}
