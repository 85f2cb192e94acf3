// Describes the start of the thread that copies documents, and the events that this thread sends
// unasked.

export interface CopySetup {
  readonly databaseUrl: string;
  /** The same Postgres without a pooler; null if its URL is not configured. */
  readonly directUrl: string | null;
  /** The folder of the copy. */
  readonly directory: string;
}

/** Sent now and then; `version` is the version of the copy once it is complete. */
export interface CopyEvent {
  readonly version: number | null;
}
