// Tests a year of plans at random: orders, cancellations, refunds, disputes, failing cards and lost
// answers, in any order. PLAN_SEED repeats one.

import { expect, setDefaultTimeout, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../../src/core/durations.ts";
import { AdministrationError } from "../../../src/core/errors.ts";
import { PLAN_GRACE_MS, PRICED_PLANS } from "../../../src/core/money/plan-terms.ts";
import { cancelPlan, orderPlan } from "../../../src/payments/plans.ts";
import { ProviderAway } from "../../../src/payments/provider.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import type { PaymentLab } from "../../support/stores/payment-lab.ts";
import {
  behave,
  chargesOf,
  openPlanLab,
  prove,
  stateOf,
  subscriber,
  work,
} from "../../support/stores/plan-lab.ts";

setDefaultTimeout(600_000);

const SEED = Number(process.env.PLAN_SEED ?? Math.floor(Math.random() * 2 ** 31));
const MONTHS = 13;
const ACCOUNTS = 3;

/** Numbers from 0 to 1 that follow from the seed. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Act = (lab: PaymentLab, account: TestAccount, chance: () => number) => Promise<unknown>;

const pick = <T>(all: readonly T[], chance: () => number): T => {
  const found = all[Math.floor(chance() * all.length)];
  if (found === undefined) throw new Error("There is nothing to pick");
  return found;
};

const order: Act = (lab, { row }, chance) =>
  orderPlan(lab.payments, row, { plan: pick(PRICED_PLANS, chance), cardId: null });

/** The newest charge that was paid. */
async function lastPaid(lab: PaymentLab, account: TestAccount) {
  const paid = (await chargesOf(lab, account)).filter(({ status }) => status === "succeeded");
  return paid.at(-1) ?? null;
}

const ACTS: readonly Act[] = [
  order,
  order,
  (lab, { row }) => cancelPlan(lab.payments, row),
  (lab, account, chance) => behave(lab, account, pick(["ok", "ok", "declined"], chance)),
  async (lab, account, chance) => {
    const charge = await lastPaid(lab, account);
    if (charge === null) return;
    const amount = chance() < 0.5 ? null : charge.amount;
    const reference = String(chance()).slice(2, 12);
    await refundTopUp(lab.payments, charge.id, { amount, reference });
  },
  async (lab, account, chance) => {
    const { actions } = lab.sandbox;
    const intent = (await lastPaid(lab, account))?.intent;
    if (intent !== null && intent !== undefined) {
      actions.moveDispute(actions.dispute(intent, "needs_response").id, "under_review");
    }
    for (const { id, status } of actions.store.list("dispute")) {
      if (status === "under_review") actions.moveDispute(id, pick(["won", "lost"], chance));
    }
  },
];

/** True for a refusal that a holder, an operator or the sandbox may get. */
function isRefusal(error: unknown): boolean {
  if (error instanceof AdministrationError || error instanceof ProviderAway) return true;
  return error instanceof Error && /refund|unrefunded|not succeeded/i.test(error.message);
}

async function check(lab: PaymentLab, account: TestAccount): Promise<void> {
  const { plan, subscription } = await stateOf(lab, account);
  const isActive = subscription?.state === "active";
  expect(plan).toBe(isActive ? subscription.plan : "free");
  const charges = await chargesOf(lab, account);
  expect(charges.filter(({ status }) => status === "open").length).toBeLessThanOrEqual(1);
  const isOpen = charges.some(({ status }) => status === "open");
  if (isActive && !isOpen) {
    const graceEnds = subscription.paidUntil.getTime() + PLAN_GRACE_MS;
    expect(graceEnds).toBeGreaterThan(lab.payments.now() - DAY_MS);
  }
  // Every paid month was paid once: none begins before the last one ended, unless that one was
  // taken back or given up.
  const periods = charges.flatMap(({ status, plan: of }) =>
    status === "succeeded" && of?.kind === "renewal" ? [of.paidFrom.getTime()] : [],
  );
  expect(new Set(periods).size).toBe(periods.length);
}

test(`a year by chance keeps plans, charges and books together (seed ${SEED})`, async () => {
  const chance = chances(SEED);
  const accounts: TestAccount[] = [];
  await using lab = await openPlanLab({
    intercept: async (request, answer) => {
      if (request.method !== "POST" || !request.body.includes("off_session")) return null;
      // The start of an account is not random.
      if (accounts.length < ACCOUNTS) return null;
      const luck = chance();
      if (luck < 0.8) return null;
      // Lost after the work was done, or refused before it.
      if (luck < 0.9) answer();
      return Response.json({ error: { type: "api_error", message: "away" } }, { status: 502 });
    },
  });
  while (accounts.length < ACCOUNTS) accounts.push(await subscriber(lab));
  const endMs = lab.payments.now() + MONTHS * 30 * DAY_MS;
  while (lab.payments.now() < endMs) {
    lab.aheadMs += Math.floor((0.2 + 2 * chance()) * DAY_MS);
    await work(lab);
    for (const account of accounts) {
      if (chance() < 0.3) {
        await pick(ACTS, chance)(lab, account, chance).catch((error: unknown) => {
          if (!isRefusal(error)) throw error;
        });
      }
      await lab.settle();
      await check(lab, account);
    }
  }
  // Open charges are repeated until they are answered.
  for (let hours = 0; hours < 48; hours += 1) {
    lab.aheadMs += HOUR_MS;
    await work(lab);
  }
  await prove(lab, accounts);
  const charges = (await Promise.all(accounts.map((one) => chargesOf(lab, one)))).flat();
  expect(charges.length).toBeGreaterThan(MONTHS);
});
