// Recognises replies with status 200 that report a failure (D-656). Such a reply must not look like
// "nothing found".

import { isObject } from "../core/text/json.ts";

/** The members that describe a failure; null, false and empty values describe none. */
const MESSAGES = ["error", "errors", "error_code", "detail", "detailedError"] as const;
/** The members that report success; false reports a failure. */
const SUCCESSES = ["ok", "success"] as const;
/** The members that repeat the status of HTTP as a number, or as a word. */
const STATUSES = ["code", "status", "statusCode", "status_code"] as const;
const STATUS_WORD = /^(?:error|fail|failed|failure)$/i;
const REFUSALS_FROM = 400;
const STATUSES_END = 600;

/** True if a reply reports a failure in any of the common ways. */
export function reportsFailure(reply: unknown): boolean {
  if (!isObject(reply)) return false;
  return (
    MESSAGES.some((name) => isFilled(reply[name])) ||
    SUCCESSES.some((name) => reply[name] === false) ||
    STATUSES.some((name) => isRefusal(reply[name]))
  );
}

/** True for a member with content: an object, a list or a text must not be empty. */
export function isFilled(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function isRefusal(value: unknown): boolean {
  if (typeof value === "string") return STATUS_WORD.test(value);
  return typeof value === "number" && value >= REFUSALS_FROM && value < STATUSES_END;
}
