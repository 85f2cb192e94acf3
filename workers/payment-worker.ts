// Runs the payments part of the worker process: the queue's worker, and the jobs that find payments
// without an event. Without a payment provider, only plans end.

import { type ConnectionOptions, Worker } from "bullmq";
import type { Registry } from "prom-client";
import type { AccountActors } from "../actors/account-actors.ts";
import type { ReadBrand } from "../src/core/brand/brand.ts";
import type { RandomBytes } from "../src/core/ids.ts";
import type { Log } from "../src/core/log.ts";
import { nano } from "../src/core/money/money.ts";
import { type AutoDeps, type AutoNeed, topUpAutomatically } from "../src/payments/auto-top-up.ts";
import { issueDueDocuments } from "../src/payments/invoices.ts";
import { openPayments, openPlanEnds } from "../src/payments/open-payments.ts";
import { endPlans } from "../src/payments/plans.ts";
import { processEvent } from "../src/payments/provider-event.ts";
import type { ServerConfig } from "../src/settings/config.ts";
import { PendingWork } from "../src/store/accounts/pending-work.ts";
import { countOpenDisputes, sumOwed } from "../src/store/audit/payment-audit.ts";
import { AutoTopUps } from "../src/store/payments/auto-top-ups.ts";
import {
  PAYMENT_QUEUE,
  PAYMENT_QUEUE_PREFIX,
  type PaymentJob,
  type PaymentQueue,
} from "../src/store/payments/payment-queue.ts";
import { ProviderEvents } from "../src/store/payments/provider-events.ts";
import type { Database } from "../src/store/servers/database.ts";
import { openRedis } from "../src/store/servers/redis.ts";
import { checkAutoTopUps, completePayments, reconcilePayments } from "./payment-completer.ts";
import { type PaymentMetrics, paymentMetrics } from "./payment-metrics.ts";
import type { ScheduledJob } from "./scheduled-job.ts";

export interface PaymentWorkerParts {
  readonly config: Pick<ServerConfig, "console" | "payments" | "queueRedisUrl">;
  readonly brand: ReadBrand;
  readonly log: Log;
  readonly accounts: AccountActors;
  readonly database: Database;
  /** Null without a payment provider. The part ends with the worker. */
  readonly queue: PaymentQueue | null;
  readonly registry: Registry;
  readonly random: RandomBytes;
  readonly now: () => number;
}

export interface PaymentWorker {
  readonly jobs: Readonly<Record<string, ScheduledJob>>;
  stop(): Promise<void>;
}

const COMPLETE_EVERY_MS = 10_000;
/** An event younger than this is left to its job. */
const GRACE_MS = 5_000;
const RECONCILE_EVERY_MS = 600_000;
const INVOICES_EVERY_MS = 30_000;
const PLAN_ENDS_EVERY_MS = 60_000;
const EVENTS_AT_ONCE = 4;

export function startPaymentWorker(parts: PaymentWorkerParts): PaymentWorker {
  const { config, brand, log, accounts, database, queue, registry, random, now } = parts;
  const planEnds = planEndsJob(parts);
  if (config.payments === null || queue === null) {
    return { jobs: { "plan-ends": planEnds }, stop: () => Promise.resolve() };
  }
  const events = new ProviderEvents(database);
  const metrics = paymentMetrics({
    registry,
    events,
    provider: config.payments.name,
    now,
    log,
    openDisputes: () => countOpenDisputes(database),
    owed: () => sumOwed(database),
  });
  const { onEnded } = metrics;
  const opened = openPayments({
    config: config.payments,
    database,
    actors: accounts,
    now,
    random,
    log,
    onEnded,
    brand,
    origin: config.console?.origin ?? null,
  });
  const payments = { ...opened, actors: accounts };
  const onQueueError = (err: Error) => log.warn({ err }, "The queue of payments is not reachable");
  const connection = openRedis(config.queueRedisUrl, "queue");
  connection.on("error", onQueueError);
  const worker = new Worker<PaymentJob>(
    PAYMENT_QUEUE,
    (job) => runJob(payments, job.data, metrics),
    {
      connection: connection as ConnectionOptions,
      prefix: PAYMENT_QUEUE_PREFIX,
      concurrency: EVENTS_AT_ONCE,
      maxStalledCount: 5,
    },
  );
  worker.on("error", onQueueError);
  worker.on("failed", (job, error) => {
    log.warn({ job: job?.data, err: error }, "A payment's job failed; it will be tried again");
  });
  const completer = { payments, graceMs: GRACE_MS, log };
  const pending = new PendingWork(database);
  return {
    jobs: {
      "plan-ends": planEnds,
      "payment-completer": {
        everyMs: COMPLETE_EVERY_MS,
        run: async () =>
          completePayments({
            ...completer,
            payments: { ...payments, now: await pending.earliest(now) },
          }),
      },
      "payment-invoices": {
        everyMs: INVOICES_EVERY_MS,
        run: () => issueDueDocuments(payments),
      },
      "payment-reconciliation": {
        everyMs: RECONCILE_EVERY_MS,
        run: () => reconcilePayments(completer, queue),
      },
      "auto-top-up-check": {
        everyMs: RECONCILE_EVERY_MS,
        run: () => checkAutoTopUps(new AutoTopUps(database), queue),
      },
    },
    stop: async () => {
      await worker.close();
      await queue.close();
      connection.disconnect();
    },
  };
}

function planEndsJob(parts: PaymentWorkerParts): ScheduledJob {
  const { config, accounts, database, now } = parts;
  const origin = config.console?.origin ?? null;
  const deps = openPlanEnds({ ...parts, actors: accounts, origin });
  const takesPayments = config.payments !== null;
  const pending = new PendingWork(database);
  return {
    everyMs: PLAN_ENDS_EVERY_MS,
    run: async () => endPlans({ ...deps, now: await pending.earliest(now) }, takesPayments),
  };
}

async function runJob(
  payments: AutoDeps,
  job: PaymentJob,
  { onProcessed }: PaymentMetrics,
): Promise<void> {
  if (job.kind === "auto") return void (await topUpAutomatically(payments, needOf(job)));
  // A newer release may have added a kind of job that this release does not know.
  if (job.kind !== "event") return;
  try {
    await processEvent(payments, job.event);
    onProcessed("processed");
  } catch (error) {
    onProcessed("failed");
    throw error;
  }
}

function needOf({ accountId, bucket, refused }: Extract<PaymentJob, { kind: "auto" }>): AutoNeed {
  return {
    accountId,
    bucket,
    refused:
      refused === null ? null : { bound: nano(refused.bound), spendable: nano(refused.spendable) },
  };
}
