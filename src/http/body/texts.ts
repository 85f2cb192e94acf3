// Refuses texts that cannot be stored as they were sent; the message names their field.

import { ApiError } from "../../core/errors.ts";
import { shownName } from "./explain.ts";

/** Refuses half of a surrogate pair: it cannot be encoded as UTF-8, and would silently change. */
export function refuseHalfPairs(value: unknown): void {
  refuseWhere(value, (text) => !text.isWellFormed(), "has half of a surrogate pair");
}

/** Refuses the character U+0000: Postgres cannot store it. */
export function refuseNul(value: unknown): void {
  refuseWhere(value, (text) => text.includes("\0"), "must not contain the character U+0000");
}

type IsBad = (text: string) => boolean;

function refuseWhere(value: unknown, isBad: IsBad, problem: string): void {
  const path = pathOf(value, isBad);
  if (path === null) return;
  // The name of a field is not repeated if it is itself at fault.
  if (path === BAD_NAME) throw new ApiError("invalid_parameter", `A field's name ${problem}`);
  const field = path.reduce<string>(fieldWithin, "");
  throw new ApiError("invalid_parameter", `${field} ${problem}`, { param: field });
}

/** The path of a bad text: the keys and indexes that lead to it, or the name of a field. */
type TextPath = readonly (string | number)[] | typeof BAD_NAME;
const BAD_NAME = "name";

/**
 * Returns the path of the first bad text of a JSON value; null if all texts are good. The keys of
 * the path are collected only after the text is found: a body can have millions of values.
 */
function pathOf(value: unknown, isBad: IsBad): TextPath | null {
  if (typeof value === "string") return isBad(value) ? [] : null;
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const path = pathOf(value[index], isBad);
      if (path !== null) return within(path, index);
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    if (isBad(key)) return BAD_NAME;
    const path = pathOf((value as Readonly<Record<string, unknown>>)[key], isBad);
    if (path !== null) return within(path, key);
  }
  return null;
}

function within(path: TextPath, key: string | number): TextPath {
  return path === BAD_NAME ? path : [key, ...path];
}

function fieldWithin(field: string, key: string | number): string {
  if (typeof key === "number") return `${field}[${key}]`;
  return field === "" ? shownName(key) : `${field}.${shownName(key)}`;
}
