// Opens the dependencies of the console's endpoints, except those about people.

import type { AccountActors } from "../../actors/account-actors.ts";
import type { AdministrationDeps } from "../accounts/administration.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import type { RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { openPayments } from "../payments/open-payments.ts";
import type { PaymentConfig } from "../payments/payment-config.ts";
import type { PaymentDeps } from "../payments/read-top-up.ts";
import { Accounts } from "../store/accounts/accounts.ts";
import { Payments } from "../store/payments/payments.ts";
import type { Database } from "../store/servers/database.ts";
import type { BillingDeps } from "./money/billing.ts";
import type { PlaygroundDeps } from "./playground.ts";
import { PlaygroundKeys } from "./playground-keys.ts";
import type { ReadingDeps } from "./readings.ts";

export interface OpenConsoleParts {
  readonly database: Database;
  readonly actors: AccountActors;
  /** The current pepper of keys. */
  readonly keyPepper: string;
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Null if no payment provider is configured. */
  readonly payments: PaymentConfig | null;
  readonly brand: ReadBrand;
  /** Called when a top-up has ended. */
  readonly onEnded?: PaymentDeps["onEnded"];
}

type Opened = Pick<BillingDeps, "administration" | "wallets" | "cashier"> &
  Pick<PlaygroundDeps & ReadingDeps, "playgroundKeys" | "actors" | "reading">;

/** Makes the dependencies. Nothing connects before the first use. */
export function openConsole(parts: OpenConsoleParts): Opened {
  const { database, actors, keyPepper, now, random, log, payments: config } = parts;
  const administration: AdministrationDeps = {
    accounts: new Accounts({ database, random, keyPepper }),
    payments: new Payments({ database, random }),
    actors,
    now,
    onDelayed: (accountId, error) =>
      log.warn({ accountId, err: error }, "A change waits for Redis; the completer applies it"),
  };
  return {
    administration,
    actors,
    wallets: actors,
    playgroundKeys: new PlaygroundKeys(administration),
    cashier: config === null ? null : openPayments({ ...parts, config }),
    reading: { database, journal: { redis: actors.deps.redis, database, now } },
  };
}
