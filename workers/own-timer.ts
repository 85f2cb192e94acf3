// Runs jobs on timers of this process: these jobs must run even if the queue's Redis is full or
// away.

import type { Log } from "../src/core/log.ts";
import type { ScheduledJob } from "./scheduled-job.ts";

export interface OwnTimer {
  /** Starts no more runs; resolves when the current one has ended. */
  stop(): Promise<void>;
}

/** Runs a job again and again, each time `everyMs` after the last run ended: runs never overlap. */
export function runOnTimer(
  name: string,
  { everyMs, run }: ScheduledJob,
  deps: { readonly log: Log; readonly after: (delayMs: number, run: () => void) => () => void },
): OwnTimer {
  let isStopped = false;
  let callOff = () => {};
  let running = Promise.resolve();
  const next = () => {
    if (isStopped) return;
    callOff = deps.after(everyMs, () => {
      running = runOnce().finally(next);
    });
  };
  const runOnce = async () => {
    try {
      await run();
    } catch (error) {
      deps.log.error({ job: name, err: error }, "A job failed");
    }
  };
  running = runOnce().finally(next);
  return {
    stop: async () => {
      isStopped = true;
      callOff();
      await running;
    },
  };
}
