// Tests fee, tax and bonus: the payer pays more than the credit, and reversals take back a
// proportional part.

import { expect, test } from "bun:test";
import type { AdministrationError } from "../../../src/core/errors.ts";
import { enableAuto } from "../../../src/payments/auto-settings.ts";
import { type AutoDeps, topUpAutomatically } from "../../../src/payments/auto-top-up.ts";
import { auditPayments } from "../../../src/payments/provider-audit.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { chargeCard, startCheckout } from "../../../src/payments/top-ups.ts";
import { atEnd, shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { balances, usd } from "../../support/stores/world.ts";

/** 2.9 % and 30 cents; 10 % tax in the sandbox; 50 % bonus up to $15. */
const TERMS = {
  fee: { basisPoints: 290, fixed: usd("0.30") },
  bonus: { basisPoints: 5_000, max: usd("15") },
};

const lab = await shared(openPaymentLab({ terms: TERMS, automaticTax: true }));
atEnd(async () => {
  expect((await auditPayments(lab.payments)).findings).toEqual([]);
});

/**
 * Gives earlier tests' cards other identities: the sandbox identifies cards by their last digits.
 */
async function forgetCards(): Promise<void> {
  await lab.world.database.sql`
    UPDATE bonus_claims SET fingerprint = account || ' ' || fingerprint`;
}

async function paid(amount = "20", email?: string, card: string = CARDS.ok) {
  const account = await lab.account(email === undefined ? {} : { email });
  const { id } = await lab.pay(account, amount, card);
  await lab.settle();
  return { account, topUp: await lab.topUp(id) };
}

function settleDispute(intent: string, status: string): void {
  const [dispute] = lab.sandbox.actions.store
    .list("dispute")
    .filter(({ payment_intent }) => payment_intent === intent);
  lab.sandbox.actions.moveDispute(dispute?.id ?? "", status);
}

async function paymentOf({ row }: TestAccount) {
  const [payment] = await lab.world.payments.list(row);
  if (payment === undefined) throw new Error("There is no payment");
  return payment;
}

test("the payer pays credit, fee and tax; the account gets credit and bonus", async () => {
  await forgetCards();
  const account = await lab.account();
  const started = await startCheckout(lab.payments, account.row, {
    amount: usd("20"),
    savesCard: true,
  });
  expect(started).toMatchObject({ fee: usd("0.88"), bonus: usd("10") });
  const page = await (await fetch(started.url ?? "")).text();
  for (const line of ["Prepaid balance: $20", "Payment fee: $0.88", "Tax: $2.09", "Pay $22.97"]) {
    expect(page).toContain(line);
  }
  await fetch(started.url ?? "", { method: "POST", body: new URLSearchParams({ card: CARDS.ok }) });
  await lab.settle();
  const sums = { amount: usd("20"), fee: usd("0.88"), tax: usd("2.09"), bonus: usd("10") };
  expect(await paymentOf(account)).toMatchObject(sums);
  expect(await lab.topUp(started.id)).toMatchObject({ ...sums, status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
  await account.actor.applyOperations();
  expect((await balances(account)).paid).toBe(usd("30"));
});

test("charges of a saved card have fee and tax too, and no bonus", async () => {
  await forgetCards();
  const { account } = await paid();
  const byHand = await chargeCard(lab.payments, account.row, { amount: usd("10"), cardId: null });
  const sums = { fee: usd("0.59"), tax: usd("1.06"), bonus: usd("0") };
  expect(byHand).toMatchObject({ status: "succeeded", ...sums });
  await enableAuto(lab.payments, account.row, {
    amount: usd("50"),
    threshold: usd("50"),
    monthlyCap: usd("100"),
    cardId: null,
  });
  const deps: AutoDeps = { ...lab.payments, actors: lab.world.accounts };
  const { id: accountId, bucket } = account.row;
  const auto = await topUpAutomatically(deps, { accountId, bucket, refused: null });
  expect(auto).toMatchObject({ status: "succeeded", fee: usd("1.75"), tax: usd("5.18") });
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("90"));
});

test("refunds take back credit and bonus in proportion, to the last cent", async () => {
  await forgetCards();
  const { account, topUp } = await paid();
  // A third of the payment, twice; then the rest.
  const third = { amount: usd("7.65"), reference: "first" };
  await refundTopUp(lab.payments, topUp.id, third);
  const { refunded } = await paymentOf(account);
  expect(refunded).toBe(usd("6.660861994"));
  expect(await lab.credited(account)).toBe(usd("20.008707009"));
  await refundTopUp(lab.payments, topUp.id, third);
  expect(await lab.credited(account)).toBe(usd("20.008707009"));
  await refundTopUp(lab.payments, topUp.id, { ...third, reference: "second" });
  await refundTopUp(lab.payments, topUp.id, { amount: null, reference: "rest" });
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("0"));
});

test("a refund that the provider does not make is refused in the provider's words", async () => {
  await forgetCards();
  const { account, topUp } = await paid();
  const orders = async (reference: string, amount: string | null) => {
    const order = { reference, amount: amount === null ? null : usd(amount) };
    const refund = refundTopUp(lab.payments, topUp.id, order);
    return await refund.then(
      () => "done",
      ({ code, message }: AdministrationError) => `${code}: ${message}`,
    );
  };
  expect(await orders("part", "20")).toBe("done");
  expect(await orders("part", "19")).toBe(
    `reference_reused: The reference 'part' stands for another refund of ${topUp.id}`,
  );
  const refused = `wrong_state: The payment provider does not refund ${topUp.id}: `;
  expect(await orders("more", "20")).toStartWith(refused);
  expect(await orders("rest", null)).toBe("done");
  expect(await orders("none", null)).toStartWith(refused);
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("0"));
});

test("a dispute takes the bonus too, and a won one gives it back", async () => {
  await forgetCards();
  const { account, topUp } = await paid("20", undefined, CARDS.disputed);
  expect(await lab.credited(account)).toBe(usd("0"));
  settleDispute(topUp.intent ?? "", "won");
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("a bonus is at most its ceiling, and given only for the first payment", async () => {
  await forgetCards();
  const account = await lab.account();
  const pages = [await lab.pay(account, "10"), await lab.pay(account, "12")];
  expect(pages).toMatchObject([{ bonus: usd("5") }, { bonus: usd("6") }]);
  await lab.settle();
  const given = await Promise.all(pages.map(({ id }) => lab.topUp(id)));
  expect(given.filter(({ bonus }) => bonus > 0n)).toHaveLength(1);
  await forgetCards();
  const large = await paid("45");
  expect(large.topUp.bonus).toBe(usd("15"));
});

test("the same address or the same card gets no second bonus in another account", async () => {
  await forgetCards();
  const first = await paid("20", "Ada@example.test");
  expect(first.topUp.bonus).toBe(usd("10"));
  const byCard = await paid("20", "bob@example.test");
  expect(byCard.topUp.bonus).toBe(usd("0"));
  await forgetCards();
  const byAddress = await paid("20", "ada@EXAMPLE.test");
  expect(byAddress.topUp.bonus).toBe(usd("0"));
  const other = await paid("20", "carol@example.test");
  expect(other.topUp.bonus).toBe(usd("10"));
});

test("ten accounts that pay by one card at once get one bonus", async () => {
  await forgetCards();
  const accounts = await Promise.all(Array.from({ length: 10 }, () => lab.account()));
  const pages = await Promise.all(accounts.map((account) => lab.pay(account, "20")));
  await lab.delivered();
  await Promise.all(lab.inbox.splice(0).map((event) => processEvent(lab.payments, event)));
  const topUps = await Promise.all(pages.map(({ id }) => lab.topUp(id)));
  expect(topUps.filter(({ bonus }) => bonus > 0n)).toHaveLength(1);
});
