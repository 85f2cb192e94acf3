/** A job and how often it is due. */
export interface ScheduledJob {
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}
