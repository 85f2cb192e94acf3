// Runs the console with a payment provider: the sandbox over HTTP, whose events reach the webhook.

import {
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from "../../../src/annexes/stripe-sandbox/sandbox-server.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { NO_PLAN_PRICES, type PlanPrices } from "../../../src/core/money/plan-terms.ts";
import { openPayments } from "../../../src/payments/open-payments.ts";
import type { PaymentConfig } from "../../../src/payments/payment-config.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import type { PaymentDeps } from "../../../src/payments/read-top-up.ts";
import { ConsoleWorld, type OwnParts } from "../api/console-world.ts";
import { eventually } from "../eventually.ts";
import { realClock } from "../fakes/fake-clock.ts";
import { silent } from "../fakes/silent-log.ts";
import { random } from "../random.ts";
import type { TestAccount } from "./accounts.ts";
import { QUICK } from "./payment-lab.ts";
import { PLAIN_TERMS } from "./plain-terms.ts";

const SECRET_KEY = "sk_sandbox_of_the_console_tests";
const WEBHOOK_SECRET = "whsec_of_the_console_tests";

export interface BillingLab extends AsyncDisposable {
  readonly world: ConsoleWorld;
  readonly sandbox: Sandbox;
  readonly cashier: PaymentDeps;
  /** Pays on the page of a top-up, as a person does. */
  pay(url: string | null, card?: string): Promise<string>;
  /** The paid balance in Redis. */
  paid(account: TestAccount): Promise<bigint>;
  /** The number of times that cards were charged for the account. */
  payments(account: TestAccount): Promise<number>;
}

interface LabOptions extends Pick<SandboxOptions, "intercept"> {
  readonly plans?: PlanPrices;
}

export async function openBillingLab(
  { plans = NO_PLAN_PRICES, ...options }: LabOptions = {},
  own: OwnParts = () => ({}),
): Promise<BillingLab> {
  const webhook = { url: "", secret: WEBHOOK_SECRET };
  const sandbox = startSandbox({
    port: 0,
    file: null,
    secretKey: SECRET_KEY,
    webhook,
    now: Date.now,
    random,
    after: realClock.after,
    log: silent,
    ...options,
  });
  const config: PaymentConfig = {
    kind: "stripe",
    name: "sandbox",
    secretKey: SECRET_KEY,
    webhookSecrets: [WEBHOOK_SECRET],
    apiBase: new URL(sandbox.url),
    returnUrl: "https://farebox.example/",
    terms: PLAIN_TERMS,
    plans,
    automaticTax: false,
    invoices: false,
  };
  let opened: PaymentDeps | null = null;
  const world = await ConsoleWorld.start((stores) => {
    const { database, actors } = stores;
    const { services, ...app } = own(stores);
    const parts = { database, actors, now: Date.now, random, log: silent };
    const shop = { config, brand: () => DEFAULT_BRAND, origin: null, patience: QUICK };
    const cashier = openPayments({ ...parts, ...shop });
    opened = cashier;
    const { provider, events } = cashier;
    const queue = {
      addEvent: (event: Parameters<typeof processEvent>[1]) => processEvent(cashier, event),
    };
    const { kind } = config;
    const payments = { kind, provider, events, queue, onEvent: () => {} };
    return { payments, ...app, services: { cashier, ...services } };
  });
  if (opened === null) throw new Error("Payments were not opened");
  webhook.url = `${world.api.parts.url}/webhooks/stripe`;
  const { actors, accounts, database } = world.api.parts.stores;
  return {
    world,
    sandbox,
    cashier: opened,
    async pay(url, card = "4242424242424242") {
      const response = await fetch(url ?? "", {
        method: "POST",
        body: new URLSearchParams({ card }),
      });
      return await response.text();
    },
    paid: async ({ id, bucket }) => (await actors.of(id, bucket).state()).wallet.paid,
    async payments({ id }) {
      await eventually("every event is delivered", () => {
        return sandbox.actions.store.undelivered.length === 0;
      });
      const account = await accounts.find(id);
      const [row] = await database.sql`
        SELECT count(*)::int AS n FROM payments
        WHERE account = ${account?.number ?? 0} AND provider = 'sandbox'`;
      return Number(row?.n);
    },
    async [Symbol.asyncDispose]() {
      await sandbox.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}
