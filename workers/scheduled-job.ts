/** A job and how often it runs. */
export interface ScheduledJob {
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}

/** Runs of each job that failed and are kept in Redis; those that succeeded are not. */
export const FAILED_JOBS_KEPT = 100;
