// Reads chunks that differ from the chunk before only in their text, as most chunks of a stream do,
// without parsing them. OpenAI's chunks also differ in their last member, `obfuscation`: random
// characters that hide the length of the text from whoever watches the network.

import { isObject, jsonOrNull } from "../../../../core/text/json.ts";
import type { ChatDelta } from "../provider.ts";
import { type ReplyParts, ReplyReader } from "./reply-reader.ts";

/** A character that JSON escapes in a string, or refuses there. */
const NOT_PLAIN = /[^ !#-[\]-\uffff]/;
const CONTENT = /"content"\s*:\s*"/g;
/** The last member of a chunk that has one. Only the object that is the chunk can end here. */
const OBFUSCATION = /("obfuscation"\s*:\s*")([^"\\]*)("\s*\}\s*)$/;
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
  /** The JSON before the text of a chunk. */
  #before = "";
  /** The JSON from the text to the obfuscation; empty for chunks without obfuscation. */
  #between = "";
  /** The JSON after the obfuscation, or after the text. */
  #after = "";
  #attempts = 0;
  /** The fingerprint in the chunk that was learned. */
  fingerprint: string | null = null;

  /** `parts`: the parts of chunks that are read besides their text. */
  constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  /**
   * The text of a chunk that differs from the learned one only in its text and its obfuscation;
   * null for any other chunk.
   */
  textOf(json: string): string | null {
    const start = this.#before.length;
    const end = json.length - this.#after.length;
    if (start === 0 || start >= end) return null;
    if (!json.startsWith(this.#before) || !json.endsWith(this.#after)) return null;
    const between = this.#between;
    const textEnd = between === "" ? end : json.indexOf(between, start);
    if (start >= textEnd || NOT_PLAIN.test(json.slice(start, textEnd))) return null;
    if (between !== "") {
      const from = textEnd + between.length;
      if (from > end || NOT_PLAIN.test(json.slice(from, end))) return null;
    }
    // A slice of a text keeps the whole text in memory, here all bytes of a read; parsing makes a
    // copy.
    return JSON.parse(json.slice(start - 1, textEnd + 1));
  }

  /**
   * Learns a chunk from which only this text and fingerprint were read. Reading the chunk again
   * with another text and another obfuscation proves that the right strings were found: two JSON
   * texts that differ within two strings differ in nothing else.
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
      const { between, obfuscation, after } = splitAt(json.slice(end));
      const chunk = jsonOrNull(before + other + between + obfuscation + after);
      if (!isObject(chunk) || new ReplyReader(this.#parts).read(chunk).onlyText !== other) continue;
      if (between !== "" && chunk.obfuscation !== obfuscation) continue;
      this.#before = copied(before);
      this.#between = copied(between);
      this.#after = copied(after);
      this.fingerprint = fingerprint;
      return;
    }
  }
}

/** The end of a chunk around another obfuscation than its own, if the chunk has one. */
function splitAt(end: string) {
  const found = OBFUSCATION.exec(end);
  if (found === null) return { between: "", obfuscation: "", after: end };
  const [, name = "", obfuscation = "", after = ""] = found;
  return { between: end.slice(0, found.index) + name, obfuscation: `${obfuscation}?`, after };
}

/** The same text in memory of its own. */
function copied(part: string): string {
  return Buffer.from(part).toString();
}

/** The delta of a chunk that has only a text. */
export function textDelta(content: string): ChatDelta {
  return { index: 0, delta: { content }, finish_reason: null };
}
