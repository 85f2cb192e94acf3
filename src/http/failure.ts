import { ApiError, toApiError } from "../core/errors.ts";
import { redisFault } from "../store/servers/redis-errors.ts";
import { isTemporary } from "../store/servers/sql-errors.ts";

/**
 * Returns the error to send to the caller. A store that is away is not our own fault: it may be
 * back at the next try.
 */
export function failureOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError || !isStoreAway(thrown)) return toApiError(thrown);
  return new ApiError("service_unavailable", "A part of the service is away; try again", {
    retryAfterSeconds: 1,
    cause: thrown,
  });
}

/**
 * True for an error after which a store can answer the next try, even if another error wraps it.
 */
function isStoreAway(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (isTemporary(each) || redisFault(each) !== null) return true;
  }
  return false;
}
