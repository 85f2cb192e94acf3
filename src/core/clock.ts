// Defines the clock that the program reads. The composition roots pass in the real clock, tests
// their own.

import type { Deadline, Expiring } from "./deadlines.ts";

export interface Clock {
  /** Milliseconds since 1970, for times that are shown or stored. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels that. */
  after(delayMs: number, run: () => void): () => void;
  /** Calls `owner.expire()` after `limitMs`, for time limits that every request has. */
  deadline(limitMs: number, owner: Expiring): Deadline;
}

/** Waits by the clock; not at all for zero milliseconds, and no longer once `signal` is aborted. */
export async function wait(
  { clock }: { readonly clock: Pick<Clock, "after"> },
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  if (ms <= 0 || signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      signal?.removeEventListener("abort", end);
      callOff();
      resolve();
    };
    const callOff = clock.after(ms, end);
    signal?.addEventListener("abort", end);
  });
}
