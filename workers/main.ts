// The worker process: BullMQ runs each job on its schedule, on one of however many workers there
// are. A job that is skipped or run twice does no harm: each does "everything that is due".

import { type ConnectionOptions, Queue, Worker } from "bullmq";
import { AccountActors } from "../actors/account-actors.ts";
import type { Log } from "../src/core/log.ts";
import { createRegistry, serveMetrics } from "../src/http/metrics-server.ts";
import { ConfigError, loadServerConfig, type ServerConfig } from "../src/settings/config.ts";
import { createLog } from "../src/settings/create-log.ts";
import { openDatabase } from "../src/store/database.ts";
import { Ledger } from "../src/store/ledger.ts";
import { LogUpkeep } from "../src/store/log-upkeep.ts";
import { MailRepeats } from "../src/store/mail-repeats.ts";
import { openRedis } from "../src/store/redis.ts";
import { checkRedis } from "../src/store/redis-check.ts";
import { Unfinished } from "../src/store/unfinished.ts";
import { WalletRepository } from "../src/store/wallet-repository.ts";
import { completeChanges } from "./completer.ts";
import { evictIdle } from "./eviction.ts";
import { expireIpHashes } from "./ip-hash-expiry.ts";
import { type JournalMetrics, journalMetrics } from "./journal-metrics.ts";
import { flushJournal } from "./log-flush.ts";
import { expireRepeats } from "./mail-completer.ts";
import { startMailWorker } from "./mail-worker.ts";
import { makePartitions } from "./partitions.ts";
import type { ScheduledJob } from "./scheduled-job.ts";
import { sweepExpired } from "./sweep.ts";

const METRICS_PORT = 9465;
const QUEUE = "farebox";
/** A hash tag, so that the queue works on Redis Cluster. */
const PREFIX = "{farebox-jobs}";
const KEEP_SCHEDULES_MS = 30_000;
const CLOSE_MS_MAX = 10_000;

/** A change that another process is just making is left to it for so long. */
const GRACE_MS = 5_000;

async function main(): Promise<void> {
  const config = loadServerConfig(METRICS_PORT);
  const log = createLog("worker", config.logLevel);
  process.on("unhandledRejection", (error) => log.error({ err: error }, "A promise was lost"));
  const stop = await start(config, log);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void stop().then(() => process.exit(0)));
  }
}

async function start(config: ServerConfig, log: Log): Promise<() => Promise<void>> {
  const redis = openRedis(config.redisUrl);
  redis.on("error", (error) => log.warn({ err: error }, "Redis is not reachable"));
  for (const warning of await checkRedis(redis)) log.warn({}, warning);
  const database = openDatabase(config.databaseUrl);
  const accounts = new AccountActors({
    redis,
    repository: new WalletRepository(database),
    now: Date.now,
    log,
  });
  const registry = createRegistry("worker");
  const mail = await startMailWorker({
    ...{ config, log, accounts, database, redis, registry, after },
  });
  const metered = { metrics: journalMetrics(registry) };
  const jobs = { ...schedule({ config, log, accounts, database, ...metered }), ...mail.jobs };
  // Whatever else waits, the log must have a place for its rows.
  await jobs["request-log-partitions"].run();

  accounts.start();
  const connection = queueConnection(config.queueRedisUrl);
  const queue = new Queue(QUEUE, { connection, prefix: PREFIX });
  const worker = new Worker(QUEUE, (job) => runJob(jobs, job.name), {
    connection,
    prefix: PREFIX,
    concurrency: Object.keys(jobs).length,
    maxStalledCount: 5,
  });
  worker.on("failed", (job, error) => log.error({ job: job?.name, err: error }, "A job failed"));
  worker.on("error", (error) => log.warn({ err: error }, "The queue is not reachable"));
  queue.on("error", (error) => log.warn({ err: error }, "The queue is not reachable"));
  await keepSchedules(queue, jobs);
  // A queue whose Redis lost its data gets its schedules back without a restart.
  const keeping = setInterval(() => {
    keepSchedules(queue, jobs).catch((error) => log.warn({ err: error }, "No schedule was kept"));
  }, KEEP_SCHEDULES_MS);
  const metrics = serveMetrics(registry, config.metricsPort, log);
  log.info({ jobs: Object.keys(jobs) }, "The worker runs");

  return async () => {
    clearInterval(keeping);
    await Promise.race([Promise.all([worker.close(), mail.stop()]), Bun.sleep(CLOSE_MS_MAX)]);
    await queue.close();
    accounts.stop();
    await metrics.stop();
    redis.disconnect();
    await database.close();
  };
}

interface Parts {
  readonly config: ServerConfig;
  readonly log: Log;
  readonly accounts: AccountActors;
  readonly database: ReturnType<typeof openDatabase>;
  readonly metrics: JournalMetrics;
}

function schedule(parts: Parts) {
  const { config, log, accounts, database, metrics } = parts;
  const { scripts } = accounts;
  const ledger = new Ledger(database);
  const unfinished = new Unfinished(database);
  const upkeep = new LogUpkeep(database);
  const now = () => accounts.clock.now();
  const flush = {
    scripts,
    ledger,
    log,
    keepMs: config.journalKeepMs,
    rebuild: (bucket: number, epoch: number) => accounts.rebuild(bucket, epoch),
    onFork: metrics.onFork,
    onWritten: metrics.onWritten,
  };
  return {
    "log-flush": { everyMs: 500, run: () => flushJournal(flush) },
    sweep: { everyMs: 5_000, run: () => sweepExpired({ scripts }) },
    completer: {
      everyMs: 10_000,
      run: () => completeChanges({ accounts, unfinished, now, log, graceMs: GRACE_MS }),
    },
    "wallet-eviction": {
      everyMs: 600_000,
      run: () => evictIdle({ accounts, redis: scripts.redis, idleMs: config.walletIdleMs, log }),
    },
    "ip-hash-expiry": { everyMs: 3_600_000, run: () => expireIpHashes({ upkeep, now }) },
    "mail-repeats-expiry": {
      everyMs: 3_600_000,
      run: () => expireRepeats(new MailRepeats(database)),
    },
    "request-log-partitions": {
      everyMs: 3_600_000,
      run: () => makePartitions({ upkeep, now }),
    },
  } satisfies Readonly<Record<string, ScheduledJob>>;
}

async function keepSchedules(
  queue: Queue,
  jobs: Readonly<Record<string, ScheduledJob>>,
): Promise<void> {
  const opts = { removeOnComplete: true, removeOnFail: 100 };
  for (const [name, { everyMs }] of Object.entries(jobs)) {
    await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
  }
}

async function runJob(jobs: Readonly<Record<string, ScheduledJob>>, name: string): Promise<void> {
  const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
  // A newer release may have scheduled a job that this one does not know.
  if (job !== undefined) await job.run();
}

function queueConnection(url: string): ConnectionOptions {
  return openRedis(url, "queue");
}

function after(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}

try {
  await main();
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  // As the log shows it: what the runtime prints of an error may hold the address of a store.
  else createLog("worker", "info").error({ err: error }, "The worker could not start");
  process.exit(1);
}
