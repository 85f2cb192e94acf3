// Checks of single values of a request body. Each throws the 400 that names the field.

import { ApiError } from "../core/errors.ts";
import type { UncheckedObject } from "./read-body.ts";

/** Checks a value that is there, and gives back what may be used of it. */
export type Check<T> = (value: unknown, field: string) => T;

/** The refusal of a field: "messages[3].content must be a string". */
export function invalid(field: string, problem: string): ApiError {
  return new ApiError("invalid_parameter", `${field} ${problem}`, { param: field });
}

/** True for what JSON calls null, and for what is not there. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export function asObject(value: unknown, field: string): UncheckedObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(field, "must be an object");
  }
  return value as UncheckedObject;
}

export function asArray(value: unknown, field: string, itemsMax: number): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(field, "must be an array");
  if (value.length > itemsMax) throw invalid(field, `must have at most ${itemsMax} items`);
  return value;
}

/** A string that can be written as UTF-8: half a surrogate pair would be changed silently. */
export function asText(value: unknown, field: string): string {
  if (typeof value !== "string") throw invalid(field, "must be a string");
  if (!value.isWellFormed()) throw invalid(field, "has half of a surrogate pair");
  return value;
}

/** Text of at least one character and at most `charactersMax` Unicode code points. */
export function asShortText(charactersMax: number): Check<string> {
  return (value, field) => {
    const text = asText(value, field);
    // A code point takes at most two UTF-16 units, so most lengths need no counting.
    const isLong = text.length > charactersMax && [...text].length > charactersMax;
    if (text === "" || isLong) throw invalid(field, `must have 1 to ${charactersMax} characters`);
    return text;
  };
}

export function asBoolean(value: unknown, field: string): boolean {
  if (typeof value !== "boolean") throw invalid(field, "must be true or false");
  return value;
}

export function asNumber(least: number, most: number): Check<number> {
  return (value, field) => {
    if (typeof value !== "number" || !(value >= least && value <= most)) {
      throw invalid(field, `must be a number from ${least} to ${most}`);
    }
    return value;
  };
}

export function asInteger(least: number, most: number): Check<number> {
  return (value, field) => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw invalid(field, `must be an integer from ${least} to ${most}`);
    }
    return value as number;
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Check<T> {
  const known: ReadonlySet<unknown> = new Set(choices);
  return (value, field) => {
    if (!known.has(value)) throw invalid(field, `must be one of: ${choices.join(", ")}`);
    return value as T;
  };
}

/**
 * Copies JSON that is forwarded as it is, such as a JSON schema. The body reader has bounded how
 * deep it is; a key named __proto__ stays behind.
 */
export function asJson(value: unknown, field: string): unknown {
  if (typeof value === "string") return asText(value, field);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => asJson(item, field));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key !== "__proto__") {
      copy[asText(key, field)] = asJson((value as UncheckedObject)[key], field);
    }
  }
  return copy;
}
