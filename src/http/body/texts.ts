// Refuses texts that cannot be kept as they were sent, by the name of their field.

import { ApiError } from "../../core/errors.ts";
import { nameOf } from "./explain.ts";

/** Refuses half of a surrogate pair: it cannot be encoded as UTF-8, and would silently change. */
export function refuseHalfPairs(value: unknown): void {
  refuseWhere(value, (text) => !text.isWellFormed(), "has half of a surrogate pair");
}

/** Refuses the character U+0000: Postgres cannot store it (D-340). */
export function refuseNul(value: unknown): void {
  refuseWhere(value, (text) => text.includes("\0"), "must not contain the character U+0000");
}

type IsBad = (text: string) => boolean;

function refuseWhere(value: unknown, isBad: IsBad, problem: string): void {
  const place = placeOf(value, isBad);
  if (place === null) return;
  // The name of a field that is itself at fault is not repeated.
  if (place === BAD_NAME) throw new ApiError("invalid_parameter", `A field's name ${problem}`);
  const field = place.reduce<string>(fieldWithin, "");
  throw new ApiError("invalid_parameter", `${field} ${problem}`, { param: field });
}

/** Where a bad text stands: the keys and indexes that lead to it, or in a field's name. */
type Place = readonly (string | number)[] | typeof BAD_NAME;
const BAD_NAME = "name";

/**
 * The place of the first bad text of a JSON value; null if all are good. Its keys are collected
 * only once it is found: a body can have millions of values.
 */
function placeOf(value: unknown, isBad: IsBad): Place | null {
  if (typeof value === "string") return isBad(value) ? [] : null;
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const place = placeOf(value[index], isBad);
      if (place !== null) return within(place, index);
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    if (isBad(key)) return BAD_NAME;
    const place = placeOf((value as Readonly<Record<string, unknown>>)[key], isBad);
    if (place !== null) return within(place, key);
  }
  return null;
}

function within(place: Place, key: string | number): Place {
  return place === BAD_NAME ? place : [key, ...place];
}

function fieldWithin(field: string, key: string | number): string {
  if (typeof key === "number") return `${field}[${key}]`;
  return field === "" ? nameOf(key) : `${field}.${nameOf(key)}`;
}
