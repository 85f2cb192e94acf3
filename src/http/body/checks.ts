// Checks that follow after the schema: rules between fields, and values that must be converted.

import { ApiError } from "../../core/errors.ts";
import { wrongField } from "../../core/text/field-rules.ts";

/** The refusal of a field: "messages[3].content must be a string". */
export function invalid(field: string, problem: string): ApiError {
  return new ApiError("invalid_parameter", `${field} ${problem}`, { param: field });
}

/** The refusal of a header: "The header x-svc-run must …", with its name as the parameter. */
export function invalidHeader(name: string, problem: string): ApiError {
  return new ApiError("invalid_parameter", `The header ${name} ${problem}`, { param: name });
}

/** Reads a field with `read`. @throws ApiError with the message of its RangeError */
export function readField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ApiError("invalid_parameter", wrongField(field, error), { param: field });
  }
}

/** True for a field that is null or missing. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/**
 * Copies JSON that is forwarded unchanged, such as a JSON schema. The body reader has limited its
 * depth. A key named __proto__ is omitted.
 */
export function copyJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key !== "__proto__") copy[key] = copyJson((value as Record<string, unknown>)[key]);
  }
  return copy;
}
