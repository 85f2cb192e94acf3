// Checks the kind of values that were parsed from JSON: an object, a text, a place in an array.

/** A JSON object, not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, otherwise an empty one. */
export function objectOrEmpty(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** True for an object with one field; counting needs no array of its names. */
export function hasOneField(value: object): boolean {
  let fields = 0;
  for (const _ in value) fields += 1;
  return fields === 1;
}

/** True for a place in an array. */
export function isIndex(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** True for a text that is not empty. */
export function isFullText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The value if it is a text, otherwise an empty one. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value of a JSON text; null for any other text. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
