import { expect, test } from "bun:test";
import { DAY_MS } from "../../../src/core/durations.ts";
import { startJobQueue } from "../../../workers/job-queue.ts";
import type { ScheduledJob } from "../../../workers/scheduled-job.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { closedGate } from "../../support/gate.ts";
import { shared } from "../../support/shared.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";

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

test("a worker's clock that was a day ahead does not stop a job", async () => {
  const job = countedJob();
  {
    using _ = dayAhead();
    await using _queue = startQueue({ job });
    await eventually("it runs by the wrong clock", () => job.runs > 2);
  }
  const before = job.runs;
  await using _ = startQueue({ job });
  await eventually("it runs by the right one", () => job.runs > before + 5, 3_000);
});

function dayAhead(): Disposable {
  const { now } = Date;
  Date.now = () => now() + DAY_MS;
  return {
    [Symbol.dispose]: () => {
      Date.now = now;
    },
  };
}
