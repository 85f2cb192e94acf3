/** Where an API process can be made to die: see crash-preload.ts. */
export const CRASH_POINTS = [
  /** Redis holds the money, and nobody knows of it yet. */
  "after-admit",
  /** The upstream has answered, and Redis does not know the cost. */
  "before-settle",
  /** Redis was sent the cost; it may have it or not. */
  "amid-settle",
  /** The call is charged, and the caller has no answer yet. */
  "after-settle",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];
