import { ApiError, toApiError } from "../core/errors.ts";
import { isStoreAway } from "../store/sql-errors.ts";

/**
 * The error to send to the caller. A store that is away is not a fault of ours: it may be back at
 * the next try.
 */
export function failureOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError || !isStoreAway(thrown)) return toApiError(thrown);
  return new ApiError("service_unavailable", "A part of the service is away; try again", {
    retryAfterSeconds: 1,
    cause: thrown,
  });
}
