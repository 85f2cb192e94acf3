// The worker process. BullMQ runs each scheduled job on one of the workers, however many there are.
// A job may be skipped, or run twice, without harm: each run does everything that is due. The flush
// of the journal, the sweep and the renewal of mail's holds run on timers in every worker instead:
// the queue's Redis may be full, but these three must run to free memory and to keep money.

import { AccountActors } from "../actors/account-actors.ts";
import { newId } from "../src/core/ids.ts";
import type { Log } from "../src/core/log.ts";
import { createRegistry, serveMetrics } from "../src/http/telemetry/metrics-server.ts";
import { openPaymentQueue, topUpListener } from "../src/payments/top-up-listener.ts";
import { BrandSource } from "../src/settings/brand-source.ts";
import type { ServerConfig } from "../src/settings/config.ts";
import { runProcess } from "../src/settings/run-process.ts";
import { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import { Configurations } from "../src/store/operators/configurations.ts";
import { checkMigrated } from "../src/store/servers/migrate.ts";
import { openChecked } from "../src/store/servers/pooler-check.ts";
import { openRedis } from "../src/store/servers/redis.ts";
import { checkRedis } from "../src/store/servers/redis-check.ts";
import { adoptSecrets } from "../src/store/servers/secrets.ts";
import { startJobQueue } from "./job-queue.ts";
import { measureJournal, queueJobs, timedJobs } from "./jobs.ts";
import { startMailWorker } from "./mail-worker.ts";
import { runOnTimer } from "./own-timer.ts";
import { startPaymentWorker } from "./payment-worker.ts";
import { startWebhookWorker } from "./webhook-worker.ts";

const METRICS_PORT = 9465;
const CLOSE_MS_MAX = 10_000;
const POSTGRES_SILENT_MS = 10_000;
/** The interval at which API processes look for a newer configuration. */
const BRAND_EVERY_MS = 2_000;

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

async function start(config: ServerConfig, log: Log): Promise<() => Promise<void>> {
  const redis = openRedis(config.redisUrl);
  redis.on("error", (error) => log.warn({ err: error }, "Redis is not reachable"));
  for (const warning of await checkRedis(redis)) log.warn({}, warning);
  const database = await openChecked(config, { silentMs: POSTGRES_SILENT_MS });
  await checkMigrated(database);
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
  const applied = new Configurations(database);
  const brands = new BrandSource({ applied, path: config.catalogueFile.path, log });
  await brands.look();
  const mail = await startMailWorker({
    config,
    brand: brands.read,
    log,
    accounts,
    database,
    redis,
    registry,
    now: Date.now,
    after,
  });
  const parts = { config, log, accounts, database, now: Date.now, sleep: Bun.sleep, after };
  const payments = startPaymentWorker({
    ...parts,
    brand: brands.read,
    queue: paymentQueue,
    registry,
    random,
  });
  const webhooks = startWebhookWorker({
    ...parts,
    brand: brands.read,
    burnRates: brands.burnRates,
    registry,
    random,
    monotonicMs: () => performance.now(),
  });
  const jobs = { ...queueJobs(parts), ...mail.jobs, ...payments.jobs, ...webhooks.jobs };
  // The log must have a partition for its rows before anything else runs.
  await jobs["request-log-partitions"].run();
  // While no worker ran, the deadlines of waiting mail may have passed: the sweep would give back
  // its holds, and the mail could not be charged any more.
  await mail.timers["mail-holds"].run();

  accounts.start();
  const metrics = measureJournal(parts, registry);
  const brand = { everyMs: BRAND_EVERY_MS, run: () => brands.look() };
  const timed = { ...timedJobs({ ...parts, metrics }), ...mail.timers, ...webhooks.timers, brand };
  const timers = Object.entries(timed).map(([name, job]) => runOnTimer(name, job, { log, after }));
  const queue = startJobQueue(jobs, { url: config.queueRedisUrl, log, now: Date.now });
  const metricsServer = serveMetrics(registry, config.metrics, log);
  log.info({ jobs: [...Object.keys(timed), ...Object.keys(jobs)] }, "The worker runs");

  return async () => {
    const parts = [queue.stop(), mail.stop(), payments.stop(), webhooks.stop()];
    const ending = [...parts, ...timers.map((timer) => timer.stop())];
    await Promise.race([Promise.all(ending), Bun.sleep(CLOSE_MS_MAX)]);
    await accounts.stop();
    await metricsServer.stop();
    redis.disconnect();
    await database.close();
  };
}

function after(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}

await runProcess({ name: "worker", metricsPort: METRICS_PORT, start });
