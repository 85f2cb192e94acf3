/** Names the points at which an API process can be killed: see crash-preload.ts. */
export const CRASH_POINTS = [
  /** Redis has taken the hold, and the process has not received the reply yet. */
  "after-admit",
  /** The upstream has answered, and the settlement is not sent to Redis yet. */
  "before-settle",
  /** The settlement was sent to Redis, which may or may not have received it. */
  "amid-settle",
  /** The call is charged, and the caller has not received the response yet. */
  "after-settle",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];
