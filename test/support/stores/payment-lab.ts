// Runs payments without processes: real stores, the sandbox over HTTP, and the webhook over HTTP.
// Events wait in the inbox until the test has them processed, in any order.

import {
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from "../../../src/annexes/stripe-sandbox/sandbox-server.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import type { Log } from "../../../src/core/log.ts";
import { type NanoUsd, nano } from "../../../src/core/money/money.ts";
import { NO_PLAN_PRICES } from "../../../src/core/money/plan-terms.ts";
import { BodyShares } from "../../../src/http/body/body-shares.ts";
import { createClientIp } from "../../../src/http/client-ip.ts";
import { openPayments } from "../../../src/payments/open-payments.ts";
import type { PaymentConfig } from "../../../src/payments/payment-config.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import type { Patience } from "../../../src/payments/provider-kind.ts";
import { PATIENCE } from "../../../src/payments/providers/stripe-provider.ts";
import type { PaymentDeps } from "../../../src/payments/read-top-up.ts";
import { startCheckout } from "../../../src/payments/top-ups.ts";
import { webhookOf } from "../../../src/payments/webhook-endpoint.ts";
import type { EventRef } from "../../../src/store/payments/provider-events.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";
import { eventually } from "../eventually.ts";
import { realClock } from "../fakes/fake-clock.ts";
import { silent } from "../fakes/silent-log.ts";
import { random } from "../random.ts";
import type { AccountTerms, TestAccount } from "./accounts.ts";
import { PLAIN_TERMS } from "./plain-terms.ts";
import { openAccount, openWorld, usd, type World } from "./world.ts";

export const SECRET_KEY = "sk_sandbox_of_the_tests";
export const WEBHOOK_SECRET = "whsec_of_the_payment_tests";
export const PREVIOUS_SECRET = "whsec_that_was_used_before";

/** As in production, but for the pause before a request is repeated. */
export const QUICK: Patience = { ...PATIENCE, pauseMs: 1 };

export interface PaymentLab extends AsyncDisposable {
  readonly world: World;
  readonly sandbox: Sandbox;
  readonly payments: PaymentDeps;
  readonly webhookUrl: string;
  /** Type and result of each event that the webhook answered. */
  readonly answered: (readonly [type: string, result: string])[];
  /** Events that the webhook stored, in that order. */
  readonly inbox: EventRef[];
  /** The clock of payments is ahead of the real one by this time. */
  aheadMs: number;
  account(terms?: AccountTerms): Promise<TestAccount>;
  /** Waits until the webhook has every event, and processes those of the inbox. */
  settle(): Promise<void>;
  /** Waits until the webhook has every event. */
  delivered(): Promise<void>;
  /** A page for the account, paid with a test card. */
  pay(account: TestAccount, amount: string, card?: string, savesCard?: boolean): Promise<TopUp>;
  topUp(id: string): Promise<TopUp>;
  /** The same payments by a client that waits no longer than this for an answer. */
  impatient(timeoutMs: number): PaymentDeps;
  /** The sum of the account's operations after its free credit. */
  credited(account: TestAccount): Promise<NanoUsd>;
}

type LabTerms = Pick<PaymentConfig, "terms" | "plans" | "automaticTax" | "invoices">;

/** The origin of the console that mails link to. */
export const CONSOLE = "https://console.example";

export const CARDS = {
  ok: "4242424242424242",
  declined: "4000000000000002",
  laterDeclined: "4000000000000341",
  laterAuthentication: "4000002500003155",
  disputed: "4000000000000259",
  fraudWarning: "4000000000005423",
  refundFails: "4000000000005126",
} as const;

export async function openPaymentLab(
  options: Partial<Pick<SandboxOptions, "intercept"> & LabTerms> & { readonly log?: Log } = {},
): Promise<PaymentLab> {
  const world = await openWorld();
  const { log = silent } = options;
  const time = { aheadMs: 0 };
  const now = () => Date.now() + time.aheadMs;
  const inbox: EventRef[] = [];
  const answered: (readonly [string, string])[] = [];
  const lab = { payments: null as PaymentDeps | null };
  const server = serveWebhook(lab, { inbox, answered, log });
  const webhookUrl = `http://127.0.0.1:${server.port}/webhooks/stripe`;
  const sandbox = startSandbox({
    port: 0,
    file: null,
    secretKey: SECRET_KEY,
    webhook: { url: webhookUrl, secret: WEBHOOK_SECRET },
    now,
    random,
    after: realClock.after,
    log,
    ...(options.intercept !== undefined && { intercept: options.intercept }),
  });
  const parts = { actors: world.accounts, database: world.database, now, random, log };
  const brand = () => DEFAULT_BRAND;
  const config = configFor(sandbox, options);
  const paymentsWith = (patience: Patience) =>
    openPayments({ ...parts, brand, origin: CONSOLE, config, patience });
  const payments = paymentsWith(QUICK);
  lab.payments = payments;
  const delivered = () =>
    eventually("every event is delivered", () => sandbox.actions.store.undelivered.length === 0);
  const topUp = async (id: string) => {
    const found = await payments.topUps.find({ id });
    if (found === null) throw new Error(`There is no top-up ${id}`);
    return found;
  };
  return {
    world,
    sandbox,
    payments,
    webhookUrl,
    answered,
    inbox,
    delivered,
    topUp,
    get aheadMs() {
      return time.aheadMs;
    },
    set aheadMs(ms) {
      time.aheadMs = ms;
    },
    account: (terms) => openAccount(world, terms),
    impatient: (timeoutMs) => paymentsWith({ ...QUICK, timeoutMs }),
    settle: async () => {
      await delivered();
      for (const event of inbox.splice(0)) await processEvent(payments, event);
    },
    pay: async (account, amount, card = CARDS.ok, savesCard = true) => {
      const started = await startCheckout(payments, account.row, {
        amount: usd(amount),
        savesCard,
      });
      const form = new URLSearchParams({ card });
      await fetch(started.url ?? "", { method: "POST", body: form });
      return started;
    },
    credited: async ({ row }) => {
      const [, ...booked] = await world.accounts.deps.repository.operationsAfter(row.id, 0);
      return nano(booked.reduce((sum, { amount }) => sum + amount, 0n));
    },
    [Symbol.asyncDispose]: async () => {
      await sandbox.stop();
      await server.stop(true);
      await world[Symbol.asyncDispose]();
    },
  };
}

/** An account that paid $20 on a page, with a card that is saved. */
export async function payer(
  lab: PaymentLab,
  terms: AccountTerms = {},
  card: string = CARDS.ok,
): Promise<TestAccount> {
  const account = await lab.account(terms);
  await lab.pay(account, "20", card);
  await lab.settle();
  return account;
}

interface Served {
  readonly inbox: EventRef[];
  readonly answered: (readonly [string, string])[];
  readonly log: Log;
}

function serveWebhook(lab: { readonly payments: PaymentDeps | null }, served: Served) {
  const { inbox, answered, log } = served;
  const limits = { bodies: new BodyShares(), clientIp: createClientIp([]) };
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request, server) {
      if (lab.payments === null) throw new Error("The webhook is called too early");
      const { provider, events } = lab.payments;
      const queue = { addEvent: async (event: EventRef) => void inbox.push(event) };
      const onEvent = (type: string, result: string) => void answered.push([type, result]);
      const payments = { kind: "stripe", provider, events, queue, onEvent } as const;
      const deps = { payments, ...limits, clock: realClock, random, log };
      return await webhookOf("stripe").answer(deps, { request, server });
    },
  });
}

function configFor(
  { url }: Pick<Sandbox, "url">,
  {
    terms = PLAIN_TERMS,
    plans = NO_PLAN_PRICES,
    automaticTax = false,
    invoices = false,
  }: Partial<LabTerms>,
): PaymentConfig {
  return {
    kind: "stripe",
    name: "sandbox",
    secretKey: SECRET_KEY,
    webhookSecrets: [WEBHOOK_SECRET, PREVIOUS_SECRET],
    apiBase: new URL(url),
    returnUrl: "https://farebox.example/",
    terms,
    plans,
    automaticTax,
    invoices,
  };
}
