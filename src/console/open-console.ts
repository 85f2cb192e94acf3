// Opens the dependencies of the console's endpoints, except those about people.

import type { AccountActors } from "../../actors/account-actors.ts";
import { type AdministrationDeps, delayedChange } from "../accounts/administration.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import type { RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { SecretList } from "../core/secrets.ts";
import { WebhookSeals } from "../core/webhooks/webhook-seals.ts";
import { openPayments, openPlanEnds } from "../payments/open-payments.ts";
import type { PaymentConfig } from "../payments/payment-config.ts";
import type { PaymentDeps } from "../payments/read-top-up.ts";
import { Accounts } from "../store/accounts/accounts.ts";
import { Payments } from "../store/payments/payments.ts";
import type { Database } from "../store/servers/database.ts";
import type { BillingDeps } from "./money/billing.ts";
import type { PlaygroundDeps } from "./playground.ts";
import { PlaygroundKeys } from "./playground-keys.ts";
import type { ReadingDeps } from "./readings.ts";
import type { WebhooksDeps } from "./webhooks.ts";

export interface OpenConsoleParts {
  readonly database: Database;
  readonly actors: AccountActors;
  /** The peppers of keys, the current one first. */
  readonly keyPeppers: SecretList;
  /** True if webhooks may have any address. */
  readonly webhooksAllowPrivate: boolean;
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Null if no payment provider is configured. */
  readonly payments: PaymentConfig | null;
  readonly brand: ReadBrand;
  /** The origin where people open the console; null if there is none. */
  readonly origin: string | null;
  /** Called when a top-up has ended. */
  readonly onEnded?: PaymentDeps["onEnded"];
}

type Opened = Pick<BillingDeps, "administration" | "wallets" | "cashier" | "planEnds"> &
  Pick<PlaygroundDeps & ReadingDeps, "playgroundKeys" | "actors" | "reading"> &
  Pick<WebhooksDeps, "webhooks">;

/** Makes the dependencies. Nothing connects before the first use. */
export function openConsole(parts: OpenConsoleParts): Opened {
  const { database, actors, keyPeppers, now, random, log, payments: config } = parts;
  const [keyPepper, ...earlierPeppers] = keyPeppers;
  const administration: AdministrationDeps = {
    accounts: new Accounts({ database, random, keyPepper, earlierPeppers }),
    payments: new Payments({ database, random }),
    actors,
    now,
    onDelayed: delayedChange(log),
  };
  return {
    administration,
    actors,
    wallets: actors,
    playgroundKeys: new PlaygroundKeys(administration),
    cashier: config === null ? null : openPayments({ ...parts, config }),
    planEnds: openPlanEnds(parts),
    webhooks: {
      seals: new WebhookSeals(keyPeppers),
      allowPrivate: parts.webhooksAllowPrivate,
    },
    reading: { database, journal: { redis: actors.deps.redis, database, now } },
  };
}
