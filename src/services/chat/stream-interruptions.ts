// The reasons for which Farebox ends a stream early.

import type { InterruptionReason } from "../../calls/interruption.ts";
import { CHAT } from "../../core/access/limits.ts";
import { ApiError } from "../../core/errors.ts";

/** While a model thinks, its client gets something this often, so that nothing cuts it off. */
export const KEEP_ALIVE_MS = 15_000;

/** The upstream sent nothing for 90 seconds (SPEC 4.2). */
export const SILENT_UPSTREAM: InterruptionReason = reason(
  "stream_idle",
  `The model sent nothing for ${CHAT.streamIdleMs / 1000} seconds`,
);
/** The stream reached 15 minutes (SPEC 4.2). */
export const TOO_LONG = reason(
  "stream_too_long",
  `The stream reached its limit of ${CHAT.streamMaxMs / 60_000} minutes`,
);
/** The client did not read the stream. */
export const NOT_READING: InterruptionReason = { code: "client_not_reading", error: null };

function reason(code: string, message: string): InterruptionReason {
  return { code, error: new ApiError("upstream_unreachable", message) };
}
