// Makes answers about inboxes take the same time for known and unknown inboxes.

import { type Clock, wait } from "../core/clock.ts";

/** Longer than a password hash and a write take, so that their time is not seen. */
const ANSWER_MS_MIN = 400;

/** Returns the result of `work`, but not before ANSWER_MS_MIN have passed. */
export async function atLeast<T>(
  deps: { readonly clock: Pick<Clock, "after"> },
  work: Promise<T>,
): Promise<T> {
  const [done] = await Promise.allSettled([work, wait(deps, ANSWER_MS_MIN)]);
  if (done.status === "rejected") throw done.reason;
  return done.value;
}
