// Makes application accounts with plans that are paid by the month, on a clock that only the test
// moves.

import { expect } from "bun:test";
import { audit } from "../../../src/accounts/audit.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { type NanoUsd, nano } from "../../../src/core/money/money.ts";
import type { PlanPrices } from "../../../src/core/money/plan-terms.ts";
import { endPlans, planOf } from "../../../src/payments/plans.ts";
import { auditPayments } from "../../../src/payments/provider-audit.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";
import { completePayments } from "../../../workers/payment-completer.ts";
import { silent } from "../fakes/silent-log.ts";
import type { TestAccount } from "./accounts.ts";
import { CARDS, openPaymentLab, type PaymentLab, payer } from "./payment-lab.ts";
import { usd } from "./world.ts";

const WEEK_MS = 7 * DAY_MS;

export const PRICES: PlanPrices = { starter: usd("9"), pro: usd("29"), max: usd("99") };

/** Opens a lab where plans have prices. */
export async function openPlanLab(
  options: Parameters<typeof openPaymentLab>[0] = {},
): Promise<PaymentLab> {
  return await openPaymentLab({ plans: PRICES, ...options });
}

/** An application account with a saved card and a balance of $20. */
export async function subscriber(lab: PaymentLab, card: string = CARDS.ok): Promise<TestAccount> {
  const email = `${crypto.randomUUID()}@customer.example`;
  return await payer(lab, { surface: "application", email }, card);
}

/** Does the work of a worker at this time. */
export async function work(lab: PaymentLab): Promise<void> {
  await completePayments({ payments: lab.payments, graceMs: 0, log: silent });
  await endPlans(lab.payments, true);
  await lab.settle();
}

/**
 * Lets time pass, while a worker runs on each of the last days and at the end. Before these days it
 * runs only each week: within a month that is paid nothing is due.
 */
export async function pass(lab: PaymentLab, untilMs: number): Promise<void> {
  for (;;) {
    const leftMs = untilMs - lab.payments.now();
    if (leftMs <= 0) return;
    lab.aheadMs += leftMs >= 2 * WEEK_MS ? WEEK_MS : Math.min(DAY_MS, leftMs);
    await work(lab);
  }
}

/** The account's plan and its paid plan, as they are stored. */
export async function stateOf(lab: PaymentLab, { row }: TestAccount) {
  const { account, subscription, failed } = await planOf(lab.payments, row);
  return { plan: account.plan, state: account.state, subscription, failed };
}

/** The end of the month that is paid. */
export async function paidUntil(lab: PaymentLab, account: TestAccount): Promise<number> {
  const { subscription } = await stateOf(lab, account);
  if (subscription === null) throw new Error("There is no plan that is paid by the month");
  return subscription.paidUntil.getTime();
}

/** The charges of plans of an account, oldest first. */
export async function chargesOf(lab: PaymentLab, { row }: TestAccount): Promise<TopUp[]> {
  const all = await lab.payments.topUps.list(row.number);
  return all.filter(({ kind }) => kind === "plan").reverse();
}

/** Replaces the behaviour of an account's saved card. */
export async function behave(lab: PaymentLab, { row }: TestAccount, behaviour: string) {
  const [card] = await lab.payments.cards.list(row.number, lab.payments.provider.name);
  if (card === undefined) throw new Error("There is no saved card");
  lab.sandbox.actions.store.setBehaviour(card.ref, behaviour);
}

/**
 * Proves the books of the lab: audits accounts, compares them with the provider, and checks that
 * the provider's money for each payment is credit or price, fee and tax.
 */
export async function prove(lab: PaymentLab, accounts: readonly TestAccount[]): Promise<void> {
  const { world } = lab;
  const repository = new AuditRepository(world.database);
  const parts = { redis: world.redis, repository, graceMs: 0, sleep: Bun.sleep };
  const flush = async () => {
    await world.flush();
    return [];
  };
  const { difference, rejected } = await audit({ ...parts, flush }, null);
  expect([difference, rejected]).toEqual([null, []]);
  expect((await auditPayments(lab.payments)).findings).toEqual([]);
  const paid = lab.sandbox.actions.store
    .list("payment_intent")
    .reduce((sum, { amount_received }) => sum + BigInt(Number(amount_received)), 0n);
  const [booked] = await world.database.sql<{ cents: string }[]>`
    SELECT trunc(sum(amount + fee + tax) / 10000000)::text AS cents FROM payments
    WHERE provider = 'sandbox'`;
  expect(BigInt(booked?.cents ?? "0")).toBe(paid);
  for (const { row } of accounts) expect(await creditedFor(lab, row.number)).toBe(nano(0n));
}

/** The sum that operations have credited for prices of plans. */
async function creditedFor(lab: PaymentLab, account: number): Promise<NanoUsd> {
  const [row] = await lab.world.database.sql<{ sum: string }[]>`
    SELECT coalesce(sum(o.amount), 0)::text AS sum
    FROM operations o JOIN payments p ON p.number = o.payment
    WHERE o.account = ${account} AND p.purpose = 'plan'`;
  return nano(row?.sum ?? "0");
}

/** The number of mails of a kind to an account's holder. */
export async function mailsOf(
  lab: PaymentLab,
  { row }: TestAccount,
  kind: string,
): Promise<number> {
  const [found] = await lab.world.database.sql<{ mails: number }[]>`
    SELECT count(*)::int AS mails FROM outbox WHERE account = ${row.number} AND kind = ${kind}`;
  return found?.mails ?? 0;
}
