/** A job and how often it runs. */
export interface ScheduledJob {
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}
