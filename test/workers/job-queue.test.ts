import { expect, test } from "bun:test";
import { startJobQueue } from "../../workers/job-queue.ts";
import type { ScheduledJob } from "../../workers/scheduled-job.ts";
import { eventually } from "../support/eventually.ts";
import { closedGate } from "../support/gate.ts";
import { startPrivateRedis } from "../support/services.ts";
import { shared } from "../support/shared.ts";
import { silent } from "../support/silent-log.ts";

const { url } = await shared(startPrivateRedis());

/** A job that counts its runs. */
function countedJob() {
  const job = {
    everyMs: 20,
    runs: 0,
    run: async () => {
      job.runs += 1;
    },
  };
  return job;
}

function startQueue(jobs: Readonly<Record<string, ScheduledJob>>): AsyncDisposable {
  const queue = startJobQueue(jobs, { url, log: silent, now: Date.now });
  return { [Symbol.asyncDispose]: () => queue.stop() };
}

test("a job that takes longer than its interval leaves the other jobs their turns", async () => {
  const gate = closedGate();
  const quick = countedJob();
  await using _ = startQueue({ slow: { everyMs: 20, run: gate.pass }, quick });
  await eventually("the slow job runs", () => gate.arrivals > 0);
  await eventually("the other job runs meanwhile", () => quick.runs > 20, 3_000).finally(gate.open);
  expect(gate.arrivals).toBe(1);
});
