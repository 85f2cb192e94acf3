// Failures that servers tell with status 200 (D-582). A reply that tells one must not look like
// "nothing found".

import { isObject } from "./upstream-http.ts";

/** The members by which servers tell what failed; null, false and empty ones tell nothing. */
const MESSAGES = ["error", "errors", "error_code", "detail", "detailedError"] as const;
/** The members that say whether a request succeeded, where false says that it did not. */
const SUCCESSES = ["ok", "success"] as const;
/** The members that repeat the status of HTTP as a number, or as a word. */
const STATUSES = ["code", "status", "statusCode", "status_code"] as const;
const STATUS_WORD = /^(?:error|fail|failed|failure)$/i;
const REFUSALS_FROM = 400;
const STATUSES_END = 600;

/** True if a reply says that it failed, in any of the ways that are common. */
export function tellsFailure(reply: unknown): boolean {
  if (!isObject(reply)) return false;
  return (
    MESSAGES.some((name) => isFilled(reply[name])) ||
    SUCCESSES.some((name) => reply[name] === false) ||
    STATUSES.some((name) => isRefusal(reply[name]))
  );
}

/** True for a member that says something: an object, a list or a text must not be empty. */
export function isFilled(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function isRefusal(value: unknown): boolean {
  if (typeof value === "string") return STATUS_WORD.test(value);
  return typeof value === "number" && value >= REFUSALS_FROM && value < STATUSES_END;
}
