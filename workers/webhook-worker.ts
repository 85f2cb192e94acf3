// Runs the part of the worker process that notifies customers: the deliveries of webhooks, the
// events about balances and limits, the burn-rate rules, and the upkeep of the rows.

import type { Registry } from "prom-client";
import type { AccountActors } from "../actors/account-actors.ts";
import { delayedChange } from "../src/accounts/administration.ts";
import { addBalanceEvents } from "../src/accounts/balance-notices.ts";
import { type BurnWatchDeps, watchBurnRates } from "../src/accounts/burn-rates.ts";
import { addLimitEvents } from "../src/accounts/limit-events.ts";
import { webhookDisabledMail } from "../src/accounts/webhook-mails.ts";
import { BURN_EVERY_MS } from "../src/core/access/burn-rules.ts";
import type { ReadBrand } from "../src/core/brand/brand.ts";
import type { RandomBytes } from "../src/core/ids.ts";
import type { Log } from "../src/core/log.ts";
import { WebhookSeals } from "../src/core/webhooks/webhook-seals.ts";
import { counter, gauge } from "../src/http/telemetry/metrics.ts";
import type { ServerConfig } from "../src/settings/config.ts";
import { BalanceNotices } from "../src/store/accounts/balance-notices.ts";
import { deleteOldAlarms } from "../src/store/accounts/burn-alarms.ts";
import type { Database } from "../src/store/servers/database.ts";
import { resealSecrets } from "../src/store/webhooks/receiver-secrets.ts";
import { WebhookDeliveries } from "../src/store/webhooks/webhook-deliveries.ts";
import { openFetch } from "../src/upstream/open-fetch.ts";
import type { ScheduledJob } from "./scheduled-job.ts";
import { WebhookSender, type WebhookSenderDeps } from "./webhook-sender.ts";

export interface WebhookWorkerParts {
  readonly config: Pick<ServerConfig, "console" | "secrets" | "usesProxy" | "webhooksAllowPrivate">;
  readonly brand: ReadBrand;
  /** The operator's burn-rate rules. */
  readonly burnRates: BurnWatchDeps["ofOperator"];
  readonly log: Log;
  readonly accounts: AccountActors;
  readonly database: Database;
  readonly registry: Registry;
  readonly random: RandomBytes;
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicMs: () => number;
}

export interface WebhookWorker {
  readonly jobs: Readonly<
    Record<"balance-events" | "limit-events" | "burn-rates" | "webhook-upkeep", ScheduledJob>
  >;
  /** The job that every worker runs by itself. */
  readonly timers: { readonly webhooks: ScheduledJob };
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
/** The job reads only accounts that chose these events, so it is cheap. */
const BALANCES_EVERY_MS = 15_000;
const LIMITS_EVERY_MS = 15_000;
const UPKEEP_EVERY_MS = 3_600_000;
const TIMEOUT_MS = 10_000;

export function startWebhookWorker(parts: WebhookWorkerParts): WebhookWorker {
  const { config, brand, log, accounts, database, registry, random, now, monotonicMs } = parts;
  const deliveries = new WebhookDeliveries(database);
  const seals = new WebhookSeals(config.secrets.KEY_PEPPER);
  const origin = config.console?.origin ?? null;
  const sender = new WebhookSender({
    deliveries,
    seals,
    fetch: openFetch(config, { monotonicMs }),
    allowPrivate: config.webhooksAllowPrivate,
    timeoutMs: TIMEOUT_MS,
    now,
    monotonicMs,
    chance: () => chanceOf(random),
    mailOf: (why, { account, receiver }) =>
      webhookDisabledMail({ brand, origin }, why, { account: account.id, url: receiver.url }),
    ...webhookMetrics(registry, deliveries, log),
    log,
  });
  const notices = new BalanceNotices(database);
  const alarms = counter(registry, "farebox_burn_alarms_total");
  const burn: BurnWatchDeps = {
    redis: accounts.deps.redis,
    database,
    accounts,
    ofOperator: parts.burnRates,
    brand,
    origin,
    now: () => accounts.clock.now(),
    onDelayed: delayedChange(log),
    onAlarm: (action) => alarms.inc({ action }),
  };
  return {
    jobs: {
      "balance-events": {
        everyMs: BALANCES_EVERY_MS,
        run: () => addBalanceEvents({ notices, now: () => accounts.clock.now() }),
      },
      "limit-events": { everyMs: LIMITS_EVERY_MS, run: () => addLimitEvents(database) },
      "burn-rates": { everyMs: BURN_EVERY_MS, run: () => watchBurnRates(burn) },
      "webhook-upkeep": {
        everyMs: UPKEEP_EVERY_MS,
        async run() {
          await deliveries.expire();
          await deleteOldAlarms(database, new Date(accounts.clock.now()));
          await resealSecrets(database, { seals, random });
        },
      },
    },
    timers: { webhooks: { everyMs: LOOK_EVERY_MS, run: () => sender.look() } },
    stop: () => sender.stop(),
  };
}

function chanceOf(random: RandomBytes): number {
  const [byte = 0] = random(1);
  return byte / 256;
}

/** Counts attempts and disabled receivers, and measures how many deliveries wait. */
function webhookMetrics(
  registry: Registry,
  deliveries: Pick<WebhookDeliveries, "countWaiting">,
  log: Pick<Log, "warn">,
): Pick<WebhookSenderDeps, "onAttempt" | "onDisabled"> {
  const attempts = counter(registry, "farebox_webhooks_total");
  const disabled = counter(registry, "farebox_webhooks_disabled_total");
  gauge(registry, "farebox_webhooks_waiting", { read: () => deliveries.countWaiting(), log });
  return {
    onAttempt: (result) => attempts.inc({ result }),
    onDisabled: (why) => disabled.inc({ why }),
  };
}
