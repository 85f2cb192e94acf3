// Checks the kind of values that were parsed from JSON: an object, a text, a filled text.

/** A JSON object, not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, otherwise an empty one. */
export function objectOrEmpty(value: unknown): Json {
  return isObject(value) ? value : {};
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
