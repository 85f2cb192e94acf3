// Refuses texts that cannot be kept as they were sent, by the name of their field.

import { ApiError } from "../core/errors.ts";
import { nameOf } from "./explain.ts";

/** Refuses half of a surrogate pair: it cannot be encoded as UTF-8, and would silently change. */
export function refuseHalfPairs(value: unknown): void {
  visit(value, "", (text, field) => {
    if (!text.isWellFormed()) throw refusal(field, "has half of a surrogate pair");
  });
}

/** Refuses the character U+0000: Postgres cannot store it (D-340). */
export function refuseNul(value: unknown): void {
  visit(value, "", (text, field) => {
    if (text.includes("\0")) throw refusal(field, "must not contain the character U+0000");
  });
}

/** The name of a field that is itself at fault is not repeated. */
function refusal(field: string | null, problem: string): ApiError {
  if (field === null) return new ApiError("invalid_parameter", `A field's name ${problem}`);
  return new ApiError("invalid_parameter", `${field} ${problem}`, { param: field });
}

/** Visits each text of a JSON value with its field, and the name of each field with null. */
function visit(
  value: unknown,
  field: string,
  look: (text: string, field: string | null) => void,
): void {
  if (typeof value === "string") look(value, field);
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    look(key, null);
    const inner = field === "" ? nameOf(key) : `${field}.${nameOf(key)}`;
    visit(item, Array.isArray(value) ? `${field}[${key}]` : inner, look);
  }
}
