// Describes, for the log, a call whose hold the sweep ended, mostly because its process died: the
// real outcome is unknown.

import { ERRORS } from "../src/core/errors.ts";
import { NOTHING_COUNTED, outcomeText } from "../src/core/journal/journal.ts";

export const HOLD_EXPIRED = "hold_expired";

/** An Outcome in the form of `outcomeText`. */
export const HOLD_EXPIRED_OUTCOME = outcomeText({
  status: ERRORS.internal_error.status,
  errorCode: HOLD_EXPIRED,
  latencyMs: 0,
  ...NOTHING_COUNTED,
});
