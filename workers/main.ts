// The worker process. BullMQ runs each scheduled job on one of the workers, however many there are.
// It does no harm to skip a job or to run it twice, because each does everything that is due. The
// journal flush and the sweep run on timers in every worker instead: they free memory, so they must
// run even if the queue's Redis is full.

import { type ConnectionOptions, Queue, Worker } from "bullmq";
import type { Registry } from "prom-client";
import { AccountActors } from "../actors/account-actors.ts";
import { newId } from "../src/core/ids.ts";
import type { Log } from "../src/core/log.ts";
import { createRegistry, MetricsPortTaken, serveMetrics } from "../src/http/metrics-server.ts";
import { openPaymentQueue, topUpListener } from "../src/payments/top-up-listener.ts";
import { loadServerConfig, type ServerConfig } from "../src/settings/config.ts";
import { createLog } from "../src/settings/create-log.ts";
import { ConfigError } from "../src/settings/environment.ts";
import { ContentKeys } from "../src/store/content-keys.ts";
import type { Database } from "../src/store/database.ts";
import { checkUpgraded, UpgradeRequired } from "../src/store/first-layout.ts";
import { IdempotencyKeys } from "../src/store/idempotency-keys.ts";
import { Ledger } from "../src/store/ledger.ts";
import { LogUpkeep } from "../src/store/log-upkeep.ts";
import { QUEUE_STREAMS } from "../src/store/mail-queue.ts";
import { PendingWork } from "../src/store/pending-work.ts";
import { openChecked, UnknownPooler } from "../src/store/pooler-check.ts";
import { openRedis } from "../src/store/redis.ts";
import { checkRedis } from "../src/store/redis-check.ts";
import { WrongRedisUrl } from "../src/store/redis-url.ts";
import { RejectedEntries } from "../src/store/rejected-entries.ts";
import { adoptSecrets, WrongSecret } from "../src/store/secrets.ts";
import { WalletRepository } from "../src/store/wallet-repository.ts";
import { rewriteAppendOnlyFiles } from "./append-only-rewrite.ts";
import { auditJob } from "./audit-runs.ts";
import { completeChanges } from "./completer.ts";
import { evictIdle } from "./eviction.ts";
import { expireIpHashes } from "./ip-hash-expiry.ts";
import { JournalLag } from "./journal-lag.ts";
import { type JournalMetrics, journalMetrics } from "./journal-metrics.ts";
import { flushJournal } from "./log-flush.ts";
import { keepLogMonths, type RetentionDeps } from "./log-retention.ts";
import { expireIdempotencyKeys } from "./mail-completer.ts";
import { startMailWorker } from "./mail-worker.ts";
import { runOnTimer } from "./own-timer.ts";
import { makePartitions } from "./partitions.ts";
import { startPaymentWorker } from "./payment-worker.ts";
import { revokePlaygroundKeys } from "./playground-keys.ts";
import { FAILED_JOBS_KEPT, type ScheduledJob } from "./scheduled-job.ts";
import { sweepExpired } from "./sweep.ts";

const METRICS_PORT = 9465;
const QUEUE = "farebox";
/** With a hash tag, the queue works on Redis Cluster. */
const PREFIX = "{farebox-jobs}";
const KEEP_SCHEDULES_MS = 30_000;
const CLOSE_MS_MAX = 10_000;

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

/** For this long, a change is left to the process that is making it. */
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
  const database = await openChecked(config);
  await checkUpgraded(database.db);
  await adoptSecrets(database, config.secrets);
  const paymentQueue =
    config.payments === null ? null : openPaymentQueue(config.queueRedisUrl, log);
  const accounts = new AccountActors({
    redis,
    repository: new WalletRepository(database),
    now: Date.now,
    log,
    processId: newId("process", random),
    ...(paymentQueue !== null && { topUps: topUpListener(paymentQueue, log) }),
  });
  const registry = createRegistry("worker");
  const mail = await startMailWorker({
    ...{ config, log, accounts, database, redis, registry, after },
  });
  const parts = { config, log, accounts, database };
  const payments = startPaymentWorker({
    ...parts,
    ...{ queue: paymentQueue, registry, random, now: Date.now },
  });
  const jobs = { ...schedule(parts), ...mail.jobs, ...payments.jobs };
  // The log must have a partition for its rows before anything else runs.
  await jobs["request-log-partitions"].run();

  accounts.start();
  const metrics = measureJournal(parts, registry);
  const timed = { ...timedJobs({ ...parts, metrics }), ...mail.timers };
  const timers = Object.entries(timed).map(([name, job]) => runOnTimer(name, job, { log, after }));
  const connection = queueConnection(config.queueRedisUrl);
  const queue = new Queue(QUEUE, { connection, prefix: PREFIX, streams: QUEUE_STREAMS });
  const worker = new Worker(QUEUE, (job) => runJob(jobs, job.name), {
    connection,
    prefix: PREFIX,
    concurrency: Object.keys(jobs).length,
    maxStalledCount: 5,
  });
  worker.on("failed", (job, error) => log.error({ job: job?.name, err: error }, "A job failed"));
  worker.on("error", (error) => log.warn({ err: error }, "The queue is not reachable"));
  queue.on("error", (error) => log.warn({ err: error }, "The queue is not reachable"));
  // Repeats until it succeeds: the queue's Redis may be full or away at the start, or lose its data
  // later. The schedules then come back without a restart.
  const keep = () => {
    keepSchedules(queue, jobs).catch((error) => log.warn({ err: error }, "No schedule was kept"));
  };
  keep();
  const keeping = setInterval(keep, KEEP_SCHEDULES_MS);
  const metricsServer = serveMetrics(registry, config.metrics, log);
  log.info({ jobs: [...ON_TIMERS, ...Object.keys(jobs)] }, "The worker runs");

  return async () => {
    clearInterval(keeping);
    const parts = [worker.close(), mail.stop(), payments.stop()];
    const ending = [...parts, ...timers.map((timer) => timer.stop())];
    await Promise.race([Promise.all(ending), Bun.sleep(CLOSE_MS_MAX)]);
    await queue.close();
    await accounts.stop();
    await metricsServer.stop();
    redis.disconnect();
    await database.close();
  };
}

interface Parts {
  readonly config: ServerConfig;
  readonly log: Log;
  readonly accounts: AccountActors;
  readonly database: Database;
}

/** Jobs that BullMQ ran in earlier releases. */
const ON_TIMERS = ["log-flush", "sweep"] as const;

/** The jobs that every worker runs on its own timers. */
function timedJobs({
  config,
  log,
  accounts,
  database,
  metrics,
}: Parts & { readonly metrics: JournalMetrics }) {
  const { scripts } = accounts;
  const flush = {
    scripts,
    ledger: new Ledger(database),
    log,
    keepMs: config.journalKeepMs,
    rebuild: (bucket: number, epoch: number) => accounts.rebuild(bucket, epoch),
    ...metrics,
  };
  return {
    "log-flush": { everyMs: 500, run: () => flushJournal(flush) },
    sweep: { everyMs: 5_000, run: () => sweepExpired({ scripts }) },
  } satisfies Readonly<Record<(typeof ON_TIMERS)[number], ScheduledJob>>;
}

function measureJournal({ log, accounts, database }: Parts, registry: Registry): JournalMetrics {
  const { scripts, clock } = accounts;
  const lag = new JournalLag({
    redis: scripts.redis,
    ledger: new Ledger(database),
    now: () => clock.now(),
    after,
  });
  const rejected = new RejectedEntries(database);
  return journalMetrics({
    registry,
    lag: () => lag.measure(),
    openRejections: () => rejected.countOpen(),
    log,
  });
}

/** Moves the journal; answers how many buckets did not fit. */
async function flushOnce({ config, log, accounts, database }: Parts): Promise<number> {
  let conflicts = 0;
  await flushJournal({
    scripts: accounts.scripts,
    ledger: new Ledger(database),
    log,
    keepMs: config.journalKeepMs,
    rebuild: (bucket, epoch) => accounts.rebuild(bucket, epoch),
    onFork: () => {
      conflicts += 1;
    },
  });
  return conflicts;
}

/** The jobs that the queue gives to one of the workers. */
function schedule({ config, log, accounts, database }: Parts) {
  const { scripts } = accounts;
  const pendingWork = new PendingWork(database);
  const upkeep = new LogUpkeep(database);
  const now = () => accounts.clock.now();
  const readNow = () => pendingWork.nowMs();
  const retention: RetentionDeps = {
    upkeep,
    rejected: new RejectedEntries(database),
    redis: scripts.redis,
    now,
    keepMonths: config.logKeepMonths,
    flush: () => flushOnce({ config, log, accounts, database }),
  };
  return {
    completer: {
      everyMs: 10_000,
      run: () => completeChanges({ accounts, pendingWork, now: readNow, log, graceMs: GRACE_MS }),
    },
    "wallet-eviction": {
      everyMs: 600_000,
      run: () => evictIdle({ accounts, redis: scripts.redis, idleMs: config.walletIdleMs, log }),
    },
    "playground-keys": {
      everyMs: 30_000,
      run: () => revokePlaygroundKeys({ database, accounts, now: readNow, log }),
    },
    "ip-hash-expiry": { everyMs: 3_600_000, run: () => expireIpHashes({ upkeep, now }) },
    "mail-repeats-expiry": {
      everyMs: 3_600_000,
      run: () => expireIdempotencyKeys(new IdempotencyKeys(database)),
    },
    "append-only-rewrite": {
      everyMs: 600_000,
      run: () => {
        const { redis } = scripts;
        return rewriteAppendOnlyFiles({ redis, keys: new ContentKeys(redis), log });
      },
    },
    "log-retention": {
      everyMs: 3_600_000,
      run: async () => {
        const months = await keepLogMonths(retention);
        if (months.length > 0) log.info({ months }, "Months of the request log were dropped");
      },
    },
    "request-log-partitions": {
      everyMs: 3_600_000,
      run: () => makePartitions({ upkeep, now }),
    },
    audits: auditJob({ database, scripts, log, now: Date.now, sleep: Bun.sleep }),
  } satisfies Readonly<Record<string, ScheduledJob>>;
}

async function keepSchedules(
  queue: Queue,
  jobs: Readonly<Record<string, ScheduledJob>>,
): Promise<void> {
  const opts = { removeOnComplete: true, removeOnFail: FAILED_JOBS_KEPT };
  // The queue of an earlier release has schedules for jobs that run on timers now.
  for (const name of ON_TIMERS) await queue.removeJobScheduler(name);
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
  const isInWords = [
    ConfigError,
    UpgradeRequired,
    UnknownPooler,
    WrongSecret,
    MetricsPortTaken,
    WrongRedisUrl,
  ].some((of) => error instanceof of);
  if (isInWords && error instanceof Error) process.stderr.write(`${error.message}\n`);
  // Log the error in the log's own format: the runtime's output may contain the address of a store.
  else createLog("worker", "info").error({ err: error }, "The worker could not start");
  process.exit(1);
}
