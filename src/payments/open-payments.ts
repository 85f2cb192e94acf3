// Payments, opened for one process: the provider with the stores around it.

import type { ChangedAccount } from "../../actors/changed-account.ts";
import { accountPage, billingUrls } from "../core/account-page.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import type { RandomBytes } from "../core/ids.ts";
import { ProviderEvents } from "../store/payments/provider-events.ts";
import { SavedCards } from "../store/payments/saved-cards.ts";
import { TopUps } from "../store/payments/top-ups.ts";
import type { Database } from "../store/servers/database.ts";
import type { PaymentConfig } from "./payment-config.ts";
import type { PlanEndDeps } from "./plans.ts";
import type { Patience } from "./provider-kind.ts";
import { PROVIDERS } from "./providers.ts";
import type { PaymentDeps } from "./read-top-up.ts";

export interface OpenPaymentsParts {
  readonly config: PaymentConfig;
  readonly database: Database;
  readonly actors: { of(accountId: string, bucket: number): ChangedAccount };
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly log: PaymentDeps["log"];
  readonly brand: ReadBrand;
  /** The origin where people open the console; null if there is none. */
  readonly origin: string | null;
  readonly onEnded?: PaymentDeps["onEnded"];
  readonly patience?: Patience;
}

/** Opens payments; the provider gets no request before the first use. */
export function openPayments(parts: OpenPaymentsParts): PaymentDeps {
  const { config, database, actors, now, random, log, brand, onEnded = () => {} } = parts;
  const { patience } = parts;
  const billingUrl = billingUrls(parts.origin, config.returnUrl);
  return {
    provider: PROVIDERS[config.kind].open({ ...config, now, patience }),
    topUps: new TopUps({ database, random }),
    cards: new SavedCards(database),
    events: new ProviderEvents(database),
    actors,
    now,
    log,
    terms: config.terms,
    plans: config.plans,
    mailsTo: (account) => ({ brand, billingUrl: billingUrl(account) }),
    onEnded,
  };
}

/** Opens the dependencies for ending monthly plans, which work without a payment provider too. */
export function openPlanEnds({
  database,
  random,
  actors,
  now,
  log,
  brand,
  origin,
}: Omit<OpenPaymentsParts, "config" | "onEnded">): PlanEndDeps {
  const mailsTo = (account: string) => ({
    brand,
    billingUrl: origin === null ? null : accountPage(origin, account, "billing").href,
  });
  return { topUps: { deps: { database, random } }, actors, now, log, mailsTo };
}
