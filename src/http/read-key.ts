// Reads the API key of a request (SPEC 5.1). A refusal here needs no look-up.

import { invalidKey, isWellFormedKey, KEY_PREFIXES } from "../core/access/keys.ts";
import type { Surface } from "../core/access/services.ts";
import { ApiError } from "../core/errors.ts";

/** The key of a request, with a valid checksum. Throws `missing_api_key` or `invalid_api_key`. */
export function readKey(headers: Headers, surface: Surface): string {
  const bearer = bearerOf(headers.get("authorization"));
  const plain = headers.get("x-api-key")?.trim() ?? "";
  if (bearer === "" && plain === "") {
    throw new ApiError(
      "missing_api_key",
      "Send an API key as 'Authorization: Bearer <key>' or in the header 'x-api-key'",
    );
  }
  if (bearer !== "" && plain !== "" && bearer !== plain) throw invalidKey();
  const key = bearer === "" ? plain : bearer;
  if (!isWellFormedKey(surface, key)) throw invalidKey();
  return key;
}

/** True if a request has a key that looks like one of this surface; it may be a wrong one. */
export function hasKeyOf(surface: Surface, headers: Headers): boolean {
  const named = [headers.get("authorization"), headers.get("x-api-key")];
  return named.some((text) => text?.includes(KEY_PREFIXES[surface]) === true);
}

const BEARER = /^bearer[ \t]/i;
const BEARER_LENGTH = "bearer ".length;

function bearerOf(header: string | null): string {
  if (header === null) return "";
  // Two Authorization lines arrive as one value, joined by a comma. Nobody can tell which of the
  // two counts, so both are refused.
  if (header.includes(",")) throw invalidKey();
  const value = header.trim();
  return BEARER.test(value) ? value.slice(BEARER_LENGTH).trim() : "";
}
