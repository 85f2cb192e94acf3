// Has BullMQ run each scheduled job on one of the workers, however many there are.

import { type ConnectionOptions, Queue, Worker } from "bullmq";
import type { Log } from "../src/core/log.ts";
import { QUEUE_STREAMS } from "../src/store/servers/queue-streams.ts";
import { openRedis } from "../src/store/servers/redis.ts";
import { ON_TIMERS } from "./jobs.ts";
import { FAILED_JOBS_KEPT, type ScheduledJob } from "./scheduled-job.ts";

const QUEUE = "farebox";
/** With a hash tag, the queue works on Redis Cluster. */
const PREFIX = "{farebox-jobs}";
const KEEP_SCHEDULES_MS = 30_000;

type Jobs = Readonly<Record<string, ScheduledJob>>;

export interface JobQueue {
  /** Starts no more runs; resolves when those of this process have ended. */
  stop(): Promise<void>;
}

/** Runs this process's share of the jobs. A job whose last run has not ended here is skipped. */
export function startJobQueue(
  jobs: Jobs,
  { url, log, now }: { readonly url: string; readonly log: Log; readonly now: () => number },
): JobQueue {
  const redis = openRedis(url, "queue");
  const connection: ConnectionOptions = redis;
  const queue = new Queue(QUEUE, { connection, prefix: PREFIX, streams: QUEUE_STREAMS });
  const running = new Set<string>();
  const worker = new Worker(QUEUE, (job) => runJob(jobs, job.name, running), {
    connection,
    prefix: PREFIX,
    concurrency: Object.keys(jobs).length,
    maxStalledCount: 5,
  });
  worker.on("failed", (job, error) => log.error({ job: job?.name, err: error }, "A job failed"));
  const onQueueError = (err: Error) => log.warn({ err }, "The queue is not reachable");
  worker.on("error", onQueueError);
  queue.on("error", onQueueError);
  // Repeats until it succeeds: the queue's Redis may be full or away at the start, or lose its data
  // later. The schedules then come back without a restart.
  const keep = () => {
    keepSchedules(queue, jobs, now()).catch((error) =>
      log.warn({ err: error }, "No schedule was kept"),
    );
  };
  keep();
  const keeping = setInterval(keep, KEEP_SCHEDULES_MS);
  return {
    stop: async () => {
      clearInterval(keeping);
      await worker.close();
      await queue.close();
      redis.disconnect();
    },
  };
}

async function keepSchedules(queue: Queue, jobs: Jobs, nowMs: number): Promise<void> {
  const opts = { removeOnComplete: true, removeOnFail: FAILED_JOBS_KEPT };
  // The queue of an earlier release has schedules for jobs that run on timers now.
  for (const name of ON_TIMERS) await queue.removeJobScheduler(name);
  for (const [name, { everyMs }] of Object.entries(jobs)) {
    const next = (await queue.getJobScheduler(name))?.next ?? nowMs;
    // A worker's clock was ahead. BullMQ would keep the time of the next run, which it computed by
    // that clock.
    if (next > nowMs + 2 * everyMs) await queue.removeJobScheduler(name);
    await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
  }
}

async function runJob(jobs: Jobs, name: string, running: Set<string>): Promise<void> {
  const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
  // A newer release may have scheduled a job that this release does not know. BullMQ makes the next
  // run of a job when a run starts, so a slow job would take the turns of all others.
  if (job === undefined || running.has(name)) return;
  running.add(name);
  try {
    await job.run();
  } finally {
    running.delete(name);
  }
}
