// Tests our metadata on a payment that a person changed at the provider: the payment is still read,
// and does not stop the reading of other payments.

import { expect, test } from "bun:test";
import { newId } from "../../../src/core/ids.ts";
import { attempt } from "../../../src/payments/charge.ts";
import { auditPayments } from "../../../src/payments/provider-audit.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import { METADATA, metadataOf } from "../../../src/payments/providers/stripe-objects.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { rereadPayments } from "../../../src/payments/reread-payments.ts";
import { chargeCard, startCheckout } from "../../../src/payments/top-ups.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { openPaymentLab, payer } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

const lab = await shared(openPaymentLab());

for (const tax of ["none", "-5", "1.5", "1e3", "9".repeat(40)]) {
  test(`a refund is booked though the tax of its payment reads '${tax}'`, async () => {
    const account = await payer(lab);
    const order = { amount: usd("10"), cardId: null };
    const { intent } = await chargeCard(lab.payments, account.row, order);
    await lab.settle();
    const { actions } = lab.sandbox;
    const { metadata } = actions.get(intent ?? "", "payment_intent");
    const changed = { ...(metadata as object), [METADATA.tax]: tax };
    actions.store.change(intent ?? "", { metadata: changed });
    actions.refund(intent ?? "", 400);
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("26"));
    expect((await auditPayments(lab.payments)).findings).toEqual([]);
  });
}

for (const [amount, bonus] of [
  ["-5", "0"],
  ["0", "0"],
  ["5", "-1"],
] as const) {
  test(`an order of ${amount} with a bonus of ${bonus} is not recreated by a restore`, async () => {
    const topUp = newId("topUp", random);
    const metadata = {
      [METADATA.topUp]: topUp,
      [METADATA.account]: newId("account", random),
      [METADATA.surface]: "gateway",
      [METADATA.kind]: "card",
      [METADATA.amount]: amount,
      [METADATA.bonus]: bonus,
    };
    const { actions } = lab.sandbox;
    const intent = actions.createIntent({ amount: 1_000, metadata });
    actions.store.change(intent.id, { status: "succeeded", amount_received: 1_000 });
    const reread = await rereadPayments(lab.payments);
    expect(reread).toContainEqual({ ref: intent.id, topUp, account: null, result: "unknown" });
    actions.store.change(intent.id, { status: "canceled" });
  });
}

type Metadata = Record<string, string>;

/** Changes that a person can make to a payment's metadata; `other` is of another account. */
const CHANGES: readonly (readonly [
  name: string,
  change: (own: Metadata, other: Metadata) => Metadata,
])[] = [
  ["nothing", (own) => own],
  ["the top-up", (own, other) => ({ ...own, [METADATA.topUp]: other[METADATA.topUp] ?? "" })],
  ["the account", (own, other) => ({ ...own, [METADATA.account]: other[METADATA.account] ?? "" })],
  ["all of it", (_, other) => other],
  ["all of it to nothing", () => ({})],
  ["the top-up to one that nobody has", (own) => ({ ...own, [METADATA.topUp]: "topup_none" })],
];

const terms = (amount: string) => ({ amount: usd(amount), savesCard: true });

/** A charge of an account that was stored and never sent. */
async function openCharge({ row }: TestAccount): Promise<string> {
  const id = newId("topUp", random);
  await lab.world.database.sql`
    INSERT INTO top_ups (id, account, provider, kind, amount, card, created_at)
    SELECT ${id}, ${row.number}, 'sandbox', 'card', 10000000000, number, now()
    FROM saved_cards WHERE account = ${row.number}`;
  return id;
}

/** Resets the row of a charge to the state that a process leaves which dies before the answer. */
async function forget(id: string): Promise<void> {
  const { sql } = lab.world.database;
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    const [row] = await tx`SELECT account, payment FROM top_ups WHERE id = ${id}`;
    await tx`
      UPDATE top_ups SET status = 'open', payment = NULL, intent = NULL, applied_read = 0,
        ended_at = NULL, next_attempt_at = now() WHERE id = ${id}`;
    await tx`DELETE FROM operations WHERE payment = ${row?.payment}`;
    await tx`DELETE FROM payments WHERE number = ${row?.payment}`;
  });
}

const ORDERS = ["payment first", "page first"] as const;

for (const [name, change] of CHANGES) {
  for (const order of ORDERS) {
    test(`a page is credited to its account though ${name} was changed, ${order}`, async () => {
      const { actions } = lab.sandbox;
      const [account, other] = [await lab.account(), await lab.account()];
      const waiting = await startCheckout(lab.payments, other.row, terms("20"));
      const paid = await lab.pay(account, "20");
      await lab.delivered();
      const intent = String(actions.get(paid.checkout ?? "", "checkout.session").payment_intent);
      const of = (id: string, kind: string) => actions.get(id, kind).metadata as Metadata;
      const changed = change(
        of(intent, "payment_intent"),
        of(waiting.checkout ?? "", "checkout.session"),
      );
      for (const id of [intent, paid.checkout ?? ""])
        actions.store.change(id, { metadata: changed });
      const isPage = (id: string) => actions.get(id, "event").type === "checkout.session.completed";
      const events = lab.inbox.splice(0).toSorted((a, b) => {
        const sign = order === "page first" ? -1 : 1;
        return sign * (Number(isPage(a.id)) - Number(isPage(b.id)));
      });
      for (const event of events) await processEvent(lab.payments, event);
      expect(await lab.credited(account)).toBe(usd("20"));
      expect(await lab.credited(other)).toBe(usd("0"));
      expect((await lab.topUp(waiting.id)).status).toBe("open");
      await rereadPayments(lab.payments);
      expect(await lab.credited(other)).toBe(usd("0"));
    });
  }
}

for (const [name, change] of CHANGES.slice(1)) {
  test(`a charge without an answer goes to no other though ${name} was changed`, async () => {
    const { actions } = lab.sandbox;
    const [account, other] = [await lab.account(), await lab.account()];
    for (const one of [account, other]) await lab.pay(one, "20");
    await lab.settle();
    const waiting = await openCharge(other);
    const paid = await chargeCard(lab.payments, account.row, { amount: usd("10"), cardId: null });
    await lab.delivered();
    await forget(paid.id);
    const { metadata } = actions.get(paid.intent ?? "", "payment_intent");
    const theirs = metadataOf(await lab.topUp(waiting));
    actions.store.change(paid.intent ?? "", { metadata: change(metadata as Metadata, theirs) });
    await lab.settle();
    expect(await lab.credited(other)).toBe(usd("20"));
    // The attempt is repeated with its key, which does not depend on metadata.
    await attempt(lab.payments, await lab.topUp(paid.id));
    expect(await lab.credited(account)).toBe(usd("30"));
  });
}

test("a refund whose metadata was changed is not made twice by its id", async () => {
  const { actions } = lab.sandbox;
  const account = await lab.account();
  const { id } = await lab.pay(account, "20");
  await lab.settle();
  const { intent } = await lab.topUp(id);
  const order = { amount: usd("5"), reference: "ticket" };
  await refundTopUp(lab.payments, id, order);
  const refunds = actions.store.list("refund").filter((one) => one.payment_intent === intent);
  expect(refunds).toHaveLength(1);
  for (const refund of refunds) actions.store.change(refund.id, { metadata: {} });
  lab.aheadMs += 2 * 24 * 3_600_000;
  await refundTopUp(lab.payments, id, order);
  lab.aheadMs = 0;
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("15"));
});
