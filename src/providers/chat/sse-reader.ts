// Server-sent events from bytes, as the WHATWG HTML standard says (section 9.2): lines may end in LF,
// CRLF or CR, comments are skipped, the data lines of an event are joined. Bytes may be cut anywhere.

const LF = 10;
const CR = 13;

/** An event larger than this is no chat chunk. */
const EVENT_BYTES_MAX = 1024 * 1024;

/** Thrown for a stream that is not what it says it is. */
export class SseError extends Error {
  override readonly name = "SseError";
}

export class SseReader {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  /** Text after the last whole line. */
  #rest = "";
  #data: string[] = [];
  #dataLength = 0;
  #skipLineFeed = false;

  /** The data of every event that these bytes complete. Throws an SseError. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    const text = this.#rest + this.#decode(bytes);
    let start = 0;
    if (this.#skipLineFeed && text.length > 0) {
      if (text.charCodeAt(0) === LF) start = 1;
      this.#skipLineFeed = false;
    }
    for (;;) {
      const end = lineEnd(text, start);
      if (end < 0) break;
      this.#line(text, start, end, events);
      start = end + 1;
      if (text.charCodeAt(end) !== CR) continue;
      if (start < text.length) start += text.charCodeAt(start) === LF ? 1 : 0;
      else this.#skipLineFeed = true;
    }
    this.#rest = text.slice(start);
    if (this.#rest.length + this.#dataLength > EVENT_BYTES_MAX) {
      throw new SseError("An event is larger than a megabyte");
    }
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
    if (start === end) {
      if (this.#data.length > 0) events.push(this.#data.join("\n"));
      this.#data = [];
      this.#dataLength = 0;
      return;
    }
    // Only `data` matters here; `event`, `id`, `retry` and comments change nothing.
    if (!text.startsWith("data", start)) return;
    let at = start + 4;
    if (at < end && text[at] !== ":") return;
    at = Math.min(at + 1, end);
    if (text[at] === " " && at < end) at += 1;
    const data = text.slice(at, end);
    this.#data.push(data);
    this.#dataLength += data.length;
  }
}

function lineEnd(text: string, start: number): number {
  const lf = text.indexOf("\n", start);
  const cr = text.indexOf("\r", start);
  if (lf < 0) return cr;
  return cr < 0 ? lf : Math.min(lf, cr);
}
