/** The number of events that a queue keeps. The library writes them, and no code reads them. */
export const QUEUE_EVENTS_MAX = 1_000;

/** An option of every queue. */
export const QUEUE_STREAMS = { events: { maxLen: QUEUE_EVENTS_MAX } } as const;
