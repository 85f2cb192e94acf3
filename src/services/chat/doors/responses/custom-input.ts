// Reads the text of a custom tool out of the arguments of the function that stands for it, piece by
// piece: callers show an edit while it is written.

import { isObject, jsonOrNull } from "../../../../core/text/json.ts";
import { CUSTOM_INPUT } from "./served-tools.ts";

/** Before the text in the arguments: `{"input": "`. */
const START = new RegExp(`^\\s*\\{\\s*"${CUSTOM_INPUT}"\\s*:\\s*"`);
/** The longest start that is waited for. */
const START_LENGTH_MAX = 256;
/** A piece without a part of an escape, or a half of a pair, at its end. */
const WHOLE_ESCAPES = /^(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/;
const HALF_PAIR = /[\ud800-\udbff]$/;

/** The text of one call. */
export class CustomInput {
  #arguments = "";
  /** The part of the arguments that was not read yet, from the start of the text. */
  #unread: string | null = null;
  #text = "";

  /** The text in a further piece of the arguments; empty if there is none yet. */
  take(piece: string): string {
    this.#arguments += piece;
    if (this.#unread === null) {
      const [start] = START.exec(this.#arguments.slice(0, START_LENGTH_MAX)) ?? [];
      if (start === undefined) return "";
      this.#unread = this.#arguments.slice(start.length);
    } else this.#unread += piece;
    const [whole = ""] = WHOLE_ESCAPES.exec(this.#unread) ?? [];
    const decoded = jsonOrNull(`"${whole}"`);
    // The other half of a character may follow.
    if (typeof decoded !== "string" || HALF_PAIR.test(decoded)) return "";
    this.#unread = this.#unread.slice(whole.length);
    this.#text += decoded;
    return decoded;
  }

  /** The whole text. Arguments of another shape count as the text themselves. */
  get whole(): string {
    const read = jsonOrNull(this.#arguments);
    const input = isObject(read) ? read[CUSTOM_INPUT] : undefined;
    if (typeof input === "string") return input;
    return this.#text === "" ? this.#arguments : this.#text;
  }
}
