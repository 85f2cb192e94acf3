// Reads chunks that differ from the chunk before only in their text, as most chunks of a stream do,
// without parsing them.

import { isObject, jsonOrNull } from "../../../../upstream/upstream-http.ts";
import type { ChatDelta } from "../provider.ts";
import { type ReplyParts, ReplyReader } from "./reply-reader.ts";

/** A character that JSON escapes in a string, or refuses there. */
const NOT_PLAIN = /[^ !#-[\]-\uffff]/;
const CONTENT = /"content"\s*:\s*"/g;
/** A stream whose chunks differ in more is not worth further attempts. */
const ATTEMPTS_MAX = 4;
/** Reading a chunk again takes time, and a hostile one could have its text in many places. */
const PLACES_MAX = 2;
const LEARNED_LENGTH_MAX = 4 * 1024;

interface OnlyText {
  readonly text: string;
  readonly fingerprint: string | null;
}

export class RepeatedChunk {
  readonly #parts: ReplyParts;
  /** The JSON before and after the text of a chunk. */
  #before = "";
  #after = "";
  #attempts = 0;
  /** The fingerprint in the chunk that was learned. */
  fingerprint: string | null = null;

  /** `parts`: the parts of chunks that are read besides their text. */
  constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  /**
   * The text of a chunk that differs from the learned one only in its text; null for any other
   * chunk.
   */
  textOf(json: string): string | null {
    const start = this.#before.length;
    const end = json.length - this.#after.length;
    if (start === 0 || start >= end) return null;
    if (!json.startsWith(this.#before) || !json.endsWith(this.#after)) return null;
    if (NOT_PLAIN.test(json.slice(start, end))) return null;
    // A slice of a text keeps the whole text in memory, here all bytes of a read; parsing makes a
    // copy.
    return JSON.parse(json.slice(start - 1, end + 1));
  }

  /**
   * Learns a chunk from which only this text and fingerprint were read. Reading it again with
   * another text proves that the right string was found: two JSON texts that differ within one
   * string differ in nothing else.
   */
  learn(json: string, { text, fingerprint }: OnlyText): void {
    if (this.#attempts >= ATTEMPTS_MAX || json.length > LEARNED_LENGTH_MAX) return;
    if (text === "" || NOT_PLAIN.test(text)) return;
    this.#attempts += 1;
    const other = `${text}?`;
    let places = 0;
    CONTENT.lastIndex = 0;
    while (CONTENT.test(json)) {
      const start = CONTENT.lastIndex;
      const end = start + text.length;
      if (!json.startsWith(`${text}"`, start)) continue;
      if (places >= PLACES_MAX) return;
      places += 1;
      const before = json.slice(0, start);
      const after = json.slice(end);
      const chunk = jsonOrNull(before + other + after);
      if (!isObject(chunk) || new ReplyReader(this.#parts).read(chunk).onlyText !== other) continue;
      this.#before = copied(before);
      this.#after = copied(after);
      this.fingerprint = fingerprint;
      return;
    }
  }
}

/** The same text in memory of its own. */
function copied(part: string): string {
  return Buffer.from(part).toString();
}

/** The delta of a chunk that has only a text. */
export function textDelta(content: string): ChatDelta {
  return { index: 0, delta: { content }, finish_reason: null };
}
