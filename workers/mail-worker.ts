// Runs the mail part of the worker process: the mail server or the sink, the queue's worker, the
// jobs that complete forgotten messages, the service's own mails, and the listener for bounces.

import { type ConnectionOptions, Worker } from "bullmq";
import type { Cluster, Redis } from "ioredis";
import type { Registry } from "prom-client";
import type { AccountActors } from "../actors/account-actors.ts";
import { type BalanceMailDeps, sendBalanceMails } from "../src/accounts/balance-notices.ts";
import { type BillingUrl, billingUrls } from "../src/core/account-page.ts";
import type { ReadBrand } from "../src/core/brand/brand.ts";
import type { Clock } from "../src/core/clock.ts";
import type { Log } from "../src/core/log.ts";
import { retryDelayMs } from "../src/core/mail.ts";
import { counter } from "../src/http/telemetry/metrics.ts";
import { bounceAddress } from "../src/services/mail/bounce-address.ts";
import { startBounceListener } from "../src/services/mail/providers/bounce-listener.ts";
import {
  createMimeBuilder,
  createServiceMimeBuilder,
} from "../src/services/mail/providers/mime.ts";
import { startSink } from "../src/services/mail/providers/sink.ts";
import { openingMsMax } from "../src/services/mail/providers/smtp-connect.ts";
import { SmtpTransport, sendMsMax } from "../src/services/mail/providers/smtp-transport.ts";
import type { SmtpRelay } from "../src/services/mail/smtp-relay.ts";
import type { ServerConfig } from "../src/settings/config.ts";
import { BalanceNotices } from "../src/store/accounts/balance-notices.ts";
import { ContentKeys } from "../src/store/mail/content-keys.ts";
import { MailDeliveries } from "../src/store/mail/mail-deliveries.ts";
import { MailMessages } from "../src/store/mail/mail-messages.ts";
import {
  MAIL_QUEUE,
  MAIL_QUEUE_PREFIX,
  type MailJob,
  MailQueue,
} from "../src/store/mail/mail-queue.ts";
import { Outbox } from "../src/store/mail/outbox.ts";
import type { Database } from "../src/store/servers/database.ts";
import { openRedis } from "../src/store/servers/redis.ts";
import { completeMail, renewMailHolds } from "./mail-completer.ts";
import { type DeliveryDeps, deliver } from "./mail-delivery.ts";
import { type OutboxDeps, outboxMetrics, sendOutbox } from "./outbox.ts";
import type { ScheduledJob } from "./scheduled-job.ts";

export interface MailWorkerParts {
  readonly config: Pick<
    ServerConfig,
    "console" | "mail" | "payments" | "queueRedisUrl" | "secrets"
  >;
  readonly brand: ReadBrand;
  readonly log: Log;
  readonly accounts: AccountActors;
  readonly database: Database;
  readonly redis: Redis | Cluster;
  readonly registry: Registry;
  readonly now: () => number;
  readonly after: Clock["after"];
}

export interface MailWorker {
  readonly jobs: {
    readonly "mail-completer": ScheduledJob;
    readonly "outbox-expiry": ScheduledJob;
    readonly "balance-mails": ScheduledJob;
  };
  /** The jobs that every worker runs by itself. */
  readonly timers: { readonly outbox: ScheduledJob; readonly "mail-holds": ScheduledJob };
  stop(): Promise<void>;
}

const COMPLETE_EVERY_MS = 5_000;
/** The time between two renewals: a third of the lease that an admission gives. */
const RENEW_EVERY_MS = 20_000;
/** People wait for the codes in these mails. */
const OUTBOX_EVERY_MS = 1_000;
const BALANCES_EVERY_MS = 300_000;
const EXPIRE_EVERY_MS = 3_600_000;
const OUTBOX_KEEP_MS = 90 * 24 * 3_600_000;
/** Conversations in a claim: a mail may wait for another one, as all share the connections. */
const CONVERSATIONS = 2;
const SINK_TIMEOUT_MS = 10_000;

export async function startMailWorker(parts: MailWorkerParts): Promise<MailWorker> {
  const { config, log, accounts } = parts;
  await using resources = new AsyncDisposableStack();
  const relay = config.mail.relay ?? (await openSink(log, resources));
  const deps = deliveryDeps(parts, relay, resources);
  await listenForBounces(parts, resources);
  const onQueueError = (err: Error) => log.warn({ err }, "The mail queue is not reachable");
  const connection = openRedis(config.queueRedisUrl, "queue");
  connection.on("error", onQueueError);
  resources.defer(() => connection.disconnect());
  const worker = new Worker<MailJob>(MAIL_QUEUE, (job) => deliver(deps, job.data.id), {
    connection: connection as ConnectionOptions,
    prefix: MAIL_QUEUE_PREFIX,
    concurrency: config.mail.connections,
    maxStalledCount: 5,
  });
  resources.defer(() => worker.close());
  worker.on("error", onQueueError);
  worker.on("failed", (job, error) => {
    log.warn({ messageId: job?.data.id, err: error }, "An attempt failed; it will be made again");
  });
  const { deliveries, keys, queue, buying } = deps;
  const completer = { accounts, deliveries, keys, queue, buying, log };
  const graceMs = COMPLETE_EVERY_MS;
  const outbox = outboxDeps(parts, deps);
  const kept = resources.move();
  return {
    jobs: {
      "mail-completer": {
        everyMs: COMPLETE_EVERY_MS,
        run: () => completeMail({ ...completer, graceMs }),
      },
      "outbox-expiry": {
        everyMs: EXPIRE_EVERY_MS,
        run: () => outbox.outbox.expire(OUTBOX_KEEP_MS),
      },
      "balance-mails": {
        everyMs: BALANCES_EVERY_MS,
        run: () => sendBalanceMails(balanceMailDeps(parts)),
      },
    },
    timers: {
      outbox: { everyMs: OUTBOX_EVERY_MS, run: () => sendOutbox(outbox) },
      // Like the sweep, which settles holds that are not renewed, this must not depend on the
      // queue.
      "mail-holds": {
        everyMs: RENEW_EVERY_MS,
        run: () => renewMailHolds({ ...completer, graceMs }),
      },
    },
    stop: () => kept.disposeAsync(),
  };
}

async function openSink(log: Log, resources: AsyncDisposableStack): Promise<SmtpRelay> {
  const sink = await startSink(log);
  resources.defer(() => sink.close());
  log.warn({ port: sink.port }, "MAIL_SMTP_URL is not set: mail is taken and delivered NOWHERE");
  const server = { host: "127.0.0.1", port: sink.port, name: "localhost" };
  return { ...server, tls: "none", user: null, password: null, timeoutMs: SINK_TIMEOUT_MS };
}

function deliveryDeps(
  { config, brand, log, accounts, database, redis, registry, after }: MailWorkerParts,
  relay: SmtpRelay,
  resources: AsyncDisposableStack,
): DeliveryDeps {
  const { mail, secrets } = config;
  const { bounces } = mail;
  const transport = new SmtpTransport({
    relay,
    connectionsMax: mail.connections,
    clock: { after },
  });
  resources.defer(() => transport.close());
  const queue = new MailQueue(openRedis(config.queueRedisUrl, "queue"), (error) =>
    log.warn({ err: error }, "The mail queue is not reachable"),
  );
  resources.defer(() => queue.close());
  const outcomes = counter(registry, "farebox_mail_attempts_total");
  return {
    deliveries: new MailDeliveries(database),
    keys: new ContentKeys(redis),
    queue,
    transport,
    build: createMimeBuilder({ ...mail, brand }),
    accounts,
    mailDomain: mail.domain,
    buying: mail.buying,
    returnPath: (id, sender) =>
      bounces === null ? sender : bounceAddress(id, secrets.KEY_PEPPER[0], bounces.domain),
    claimMs: CONVERSATIONS * (openingMsMax(relay) + sendMsMax(relay)),
    retryDelayMs,
    onAttempt: (outcome) => outcomes.inc({ outcome }),
    log,
  };
}

function outboxDeps(
  { config, brand, database, registry, log }: MailWorkerParts,
  { transport, mailDomain, claimMs }: DeliveryDeps,
): OutboxDeps {
  const outbox = new Outbox(database);
  return {
    outbox,
    transport,
    mailDomain,
    claimMs,
    retryDelayMs,
    log,
    atOnce: config.mail.connections,
    build: createServiceMimeBuilder({ ...config.mail, brand }),
    ...outboxMetrics(registry, outbox, log),
  };
}

function balanceMailDeps({ config, brand, database, accounts }: MailWorkerParts): BalanceMailDeps {
  return {
    notices: new BalanceNotices(database),
    brand,
    billingUrl: billingUrlOf(config),
    now: () => accounts.clock.now(),
  };
}

function billingUrlOf({ payments, console }: MailWorkerParts["config"]): BillingUrl | null {
  return payments === null ? null : billingUrls(console?.origin ?? null, payments.returnUrl);
}

async function listenForBounces(
  { config, database, log }: MailWorkerParts,
  resources: AsyncDisposableStack,
): Promise<void> {
  const { bounces } = config.mail;
  if (bounces === null) return;
  const listener = await startBounceListener({
    ...bounces,
    secrets: config.secrets.KEY_PEPPER,
    messages: new MailMessages(database),
    log,
  });
  resources.defer(() => listener.close());
}
