// Reads the address that a person signs in with, as it is stored and compared: in lower case.

import { ApiError } from "../core/errors.ts";
import { parseSignInAddress } from "../core/text/mail-address.ts";

/** Reads an address. @throws ApiError that names its fault */
export function emailOf(field: unknown): string {
  const parsed = parseSignInAddress(String(field).trim());
  if (typeof parsed !== "string") return parsed.address;
  throw new ApiError("invalid_parameter", `email ${parsed}`, { param: "email" });
}
