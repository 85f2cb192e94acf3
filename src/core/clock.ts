// Time as the program sees it. The composition roots pass in the real clock, tests their own.

export interface Clock {
  /** Milliseconds since 1970, for times that are shown or stored. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels that. */
  after(delayMs: number, run: () => void): () => void;
}

/** The UTC month of a time as 202611. */
export function monthOf(ms: number): number {
  const time = new Date(ms);
  return time.getUTCFullYear() * 100 + time.getUTCMonth() + 1;
}

/** When the UTC month after that of `ms` begins. */
export function nextMonthMs(ms: number): number {
  const time = new Date(ms);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
}

/** The month before the given one, both as 202611. */
export function monthBefore(month: number): number {
  return month % 100 === 1 ? month - 89 : month - 1;
}
