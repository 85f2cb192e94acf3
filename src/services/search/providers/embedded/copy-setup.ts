// What the thread that copies documents is started with, and what it tells of its own accord.

export interface CopySetup {
  readonly databaseUrl: string;
  /** The same Postgres without a pooler; null where there is none. */
  readonly directUrl: string | null;
  /** The folder of the copy. */
  readonly directory: string;
}

/** Sent now and then; `version` is that of the copy once it is done. */
export interface CopyEvent {
  readonly version: number | null;
}
