// Jobs that must run while the queue does not: its Redis may be the one that is full or away.

import type { Log } from "../src/core/log.ts";
import type { ScheduledJob } from "./scheduled-job.ts";

export interface OwnTimer {
  /** Resolves when the run that is under way has ended; none begins after it. */
  stop(): Promise<void>;
}

/** Runs a job again and again, `everyMs` after it ended: two runs never overlap. */
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
