// Answers about inboxes take the same time, whether somebody here has the inbox or not.

import { type Clock, wait } from "../core/clock.ts";

/** Longer than a password hash and a write take, so that their time is not seen. */
const ANSWER_MS_MIN = 400;

/** What work comes to, but not before others would have come to theirs. */
export async function atLeast<T>(
  deps: { readonly clock: Pick<Clock, "after"> },
  work: Promise<T>,
): Promise<T> {
  const [done] = await Promise.allSettled([work, wait(deps, ANSWER_MS_MIN)]);
  if (done.status === "rejected") throw done.reason;
  return done.value;
}
