// Reads the fields of bodies that a schema alone cannot check. A refusal names the field.

import { ApiError } from "../core/errors.ts";
import { wrongField } from "../core/text/field-rules.ts";

/**
 * Reads a field with `read`.
 * @throws ApiError with the message of its RangeError
 */
export function readField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ApiError("invalid_parameter", wrongField(field, error), { param: field });
  }
}
