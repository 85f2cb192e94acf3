// Measures JSON text before it is parsed: its depth, its number of keys and its number of values.

import { JSON_DEPTH_MAX } from "../../core/access/limits.ts";
import { ApiError } from "../../core/errors.ts";

/** The keys of a body whose endpoint sets no other bound. */
export const KEYS_MAX = 10_000;
/**
 * The values of a body whose endpoint sets no other bound: each step of handling a body takes time
 * for each value, and meanwhile all other callers wait.
 */
export const VALUES_MAX = 100_000;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The bounds of a body. */
export interface ShapeBounds {
  readonly keysMax: number;
  readonly valuesMax: number;
}

export interface JsonShape {
  readonly keys: number;
  /** An upper bound: a comma or bracket that is not JSON counts too. */
  readonly values: number;
}

/**
 * Throws if the text is dangerous to parse or process: `invalid_json` if it nests too deep,
 * `invalid_parameter` if it has too many keys or values. Does not check that it is JSON.
 */
export function checkJsonShape(
  text: string,
  { keysMax = KEYS_MAX, valuesMax = VALUES_MAX }: Partial<ShapeBounds> = {},
): JsonShape {
  let depth = 0;
  let keys = 0;
  // The text is one value; each comma and each opening bracket adds at most one more value.
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        values++;
        if (depth > JSON_DEPTH_MAX) {
          throw new ApiError("invalid_json", `The body nests deeper than ${JSON_DEPTH_MAX} levels`);
        }
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
      case COMMA:
        values++;
        break;
      case COLON:
        keys++;
        if (keys > keysMax) throw tooMany(keysMax, "keys");
        break;
    }
    if (values > valuesMax) throw tooMany(valuesMax, "values");
  }
  return { keys, values };
}

function tooMany(most: number, what: string): ApiError {
  return new ApiError("invalid_parameter", `The body has more than ${most} ${what}`);
}

// Jumps from quote to quote with native code: most of a body is text inside strings.
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
