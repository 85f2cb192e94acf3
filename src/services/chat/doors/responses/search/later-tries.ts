// Repeats a call of a response that was refused only because of other calls by the same caller
// (D-871).

import { type Clock, wait } from "../../../../../core/clock.ts";
import { ApiError } from "../../../../../core/errors.ts";

/** Refusals that other calls of the same caller cause. Such refusals may be over soon. */
const OTHERS_FIRST: ReadonlySet<string> = new Set(["too_many_streams", "rate_limit_exceeded"]);
/**
 * A full window has room again after 61 seconds at most: a second counts until its end, if the time
 * of its last request is not known.
 */
const WAIT_MAX_MS = 62_000;

/** The conditions that end the waits of a call. */
export interface WaitTerms {
  readonly clock: Pick<Clock, "after">;
  /** Aborted when nobody waits for the response any more. */
  readonly signal: AbortSignal;
  /** Called after each wait; throws the refusal if the call is forbidden by now. */
  readonly again: () => void;
}

/** Runs a call, and repeats it while it is refused because of the caller's other calls. */
export async function afterOthers<Result>(
  run: () => Promise<Result>,
  { clock, signal, again }: WaitTerms,
): Promise<Result> {
  let waitedMs = 0;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      const askedMs = askedWaitMs(error);
      const waitMs = askedMs === null ? null : nextWaitMs(askedMs, waitedMs);
      if (waitMs === null) throw error;
      await wait({ clock }, waitMs, signal);
      waitedMs += waitMs;
      again();
    }
  }
}

/** The wait that a refusal asks for; null if no wait helps. */
function askedWaitMs(error: unknown): number | null {
  if (!(error instanceof ApiError) || !OTHERS_FIRST.has(error.code)) return null;
  const { retryAfterSeconds } = error;
  return retryAfterSeconds === undefined ? null : retryAfterSeconds * 1_000;
}

/**
 * The next wait of a call: `askedMs` is the wait that the refusal names, `waitedMs` the sum of
 * earlier waits. Each wait at least doubles the sum, within the maximum. Null if the rest of the
 * maximum is too short.
 */
export function nextWaitMs(askedMs: number, waitedMs: number): number | null {
  const leftMs = WAIT_MAX_MS - waitedMs;
  if (leftMs <= 0 || askedMs > leftMs) return null;
  return Math.min(Math.max(askedMs, waitedMs), leftMs);
}
