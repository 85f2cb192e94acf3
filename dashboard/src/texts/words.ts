// Words and figures that are written alike in all languages.

import { countText, decimalText } from "../numbers.ts";

/** A word with a capital letter at its beginning. */
export const capital = (word: string) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;

/** Days, with one decimal below ten where they are not whole. */
export function dayCount(count: number): string {
  return count < 10 && count % 1 !== 0 ? decimalText(count, 1) : countText(Math.floor(count));
}
