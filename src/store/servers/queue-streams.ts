/** How many of its events a queue keeps. The library writes them, and nobody listens to them. */
export const QUEUE_EVENTS_MAX = 1_000;

/** An option of every queue. */
export const QUEUE_STREAMS = { events: { maxLen: QUEUE_EVENTS_MAX } } as const;
