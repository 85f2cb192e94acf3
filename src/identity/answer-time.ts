// Answers about inboxes take the same time, whether somebody here has the inbox or not.

import type { Clock } from "../core/clock.ts";

/** Longer than a password hash and a write take, so that their time is not seen. */
const ANSWER_MS_MIN = 400;

/** What work comes to, but not before others would have come to theirs. */
export async function atLeast<T>(
  { clock }: { readonly clock: Pick<Clock, "after"> },
  work: Promise<T>,
): Promise<T> {
  const time = Promise.withResolvers<void>();
  clock.after(ANSWER_MS_MIN, time.resolve);
  const [done] = await Promise.allSettled([work, time.promise]);
  if (done.status === "rejected") throw done.reason;
  return done.value;
}

/** Waits so many milliseconds. */
export async function wait(
  { clock }: { readonly clock: Pick<Clock, "after"> },
  waitMs: number,
): Promise<void> {
  if (waitMs === 0) return;
  const time = Promise.withResolvers<void>();
  clock.after(waitMs, time.resolve);
  await time.promise;
}
