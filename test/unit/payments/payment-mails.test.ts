// Tests the mails to the holder about payments, as they are read. Each is sent once for its
// subject, however often and in whatever order events come.

import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { HOUR_MS } from "../../../src/core/durations.ts";
import { enableAuto } from "../../../src/payments/auto-settings.ts";
import { type AutoDeps, topUpAutomatically } from "../../../src/payments/auto-top-up.ts";
import { chargeCard } from "../../../src/payments/top-ups.ts";
import { completePayments } from "../../../workers/payment-completer.ts";
import { openMailbox, type ReadMail } from "../../support/fakes/mailbox.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { CARDS, CONSOLE, openPaymentLab, payer } from "../../support/stores/payment-lab.ts";
import { DONE, hold, usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const lab = await shared(openPaymentLab());
const mailbox = await shared(openMailbox(lab.world.database));
beforeEach(() => {
  lab.aheadMs = 0;
});

interface Holder extends TestAccount {
  readonly email: string;
}

let holders = 0;

async function holder(): Promise<Holder> {
  holders += 1;
  const email = `holder${holders}@example.test`;
  return { ...(await lab.account({ email })), email };
}

/** The mails since the last look; text and HTML must say the same. */
async function read({ email }: Holder, ...said: readonly string[]): Promise<readonly ReadMail[]> {
  const mails = await mailbox.read(email);
  for (const words of said) {
    expect(mails.filter(({ text }) => text.includes(words))).toHaveLength(1);
    expect(mails.filter(({ html }) => html.includes(words))).toHaveLength(1);
  }
  return mails;
}

function billingOf({ row }: Holder): string {
  return `${CONSOLE}/dashboard/${row.id}/billing`;
}

function subjects(mails: readonly ReadMail[]): string[] {
  return mails.map(({ subject }) => subject).toSorted();
}

/** A holder who has paid $20 and has read the receipt. */
async function paid(card: string = CARDS.ok): Promise<Holder & { readonly intent: string }> {
  const account = await holder();
  const started = await lab.pay(account, "20", card);
  await lab.settle();
  const { intent } = await lab.topUp(started.id);
  await read(account);
  return { ...account, intent: intent ?? "" };
}

async function automatic(card: string = CARDS.ok) {
  const account = await paid(card);
  await enableAuto(lab.payments, account.row, {
    amount: usd("10"),
    threshold: usd("5"),
    monthlyCap: usd("100"),
    cardId: null,
  });
  return account;
}

/** Spends below the threshold, and runs the decision about an automatic top-up. */
async function cross(account: TestAccount): Promise<void> {
  const { row } = account;
  await (await hold(account, usd("16"), { freeEligible: false })).settle(usd("16"), DONE);
  const deps: AutoDeps = { ...lab.payments, actors: lab.world.accounts };
  await topUpAutomatically(deps, { accountId: row.id, bucket: row.bucket, refused: null });
}

test("a top-up sends one receipt, whatever the number of its events", async () => {
  const account = await holder();
  const { id } = await lab.pay(account, "20.50");
  await lab.settle();
  await lab.payments.events.database.sql`UPDATE provider_events SET status = 'received'`;
  for (const event of await lab.payments.events.unprocessed("sandbox", new Date(), 100)) {
    lab.inbox.push(event);
  }
  await lab.settle();
  const mails = await read(account, "$20.50 were added to your prepaid balance", id);
  expect(subjects(mails)).toEqual(["Receipt: $20.50 added to your balance"]);
  const { receiptUrl } = await lab.topUp(id);
  expect(mails[0]?.links).toEqual([receiptUrl ?? ""]);
  expect(await (await fetch(receiptUrl ?? "")).text()).toContain("Paid: $20.5");
});

test("a declined payment on the page sends no mail: its payer sees it there", async () => {
  const account = await holder();
  await lab.pay(account, "20", CARDS.declined);
  await lab.settle();
  expect(await read(account)).toEqual([]);
});

test("an account without an address gets no mail", async () => {
  const account = await payer(lab);
  const [row] = await lab.world.database.sql`
    SELECT count(*)::int AS mails FROM outbox WHERE account = ${account.row.number}`;
  expect(row?.mails).toBe(0);
});

test("an automatic charge sends a receipt; a failed one says when it is retried", async () => {
  const good = await automatic();
  await cross(good);
  expect(subjects(await read(good, "Automatic top-up"))).toEqual([
    "Receipt: $10.00 added to your balance",
  ]);
  const bad = await automatic(CARDS.laterDeclined);
  await cross(bad);
  await lab.settle();
  const failed = await read(bad, "The card was declined", "It is tried once more at");
  expect(subjects(failed)).toEqual(["Your card was not charged $10.00"]);
  lab.aheadMs += HOUR_MS + 1_000;
  await completePayments({ payments: lab.payments, graceMs: 0, log: silent });
  await lab.settle();
  const paused = await read(bad, "Your card was declined, and is not charged again");
  expect(subjects(paused)).toEqual(["Your automatic top-up is paused"]);
});

test("an automatic charge that needs the holder pauses and sends a mail", async () => {
  const account = await automatic(CARDS.laterAuthentication);
  await cross(account);
  await lab.settle();
  expect(subjects(await read(account, "confirm a payment by your saved card yourself"))).toEqual([
    "Your automatic top-up is paused",
  ]);
});

test("a mail reports a failed charge that the holder ordered", async () => {
  const account = await paid(CARDS.laterDeclined);
  await chargeCard(lab.payments, account.row, { amount: usd("10"), cardId: null });
  await lab.settle();
  expect(subjects(await read(account, "It is not tried again."))).toEqual([
    "Your card was not charged $10.00",
  ]);
});

test("a card that the bank removes pauses, and is reported once", async () => {
  const account = await automatic();
  const [card] = await lab.payments.cards.list(account.row.number, "sandbox");
  await lab.payments.provider.removeCard(card?.ref ?? "");
  await lab.settle();
  expect(subjects(await read(account, "The card that it charged was removed."))).toEqual([
    "Your automatic top-up is paused",
  ]);
});

test("a mail reports each refund, and a failed refund too", async () => {
  const account = await paid();
  lab.sandbox.actions.refund(account.intent, 500);
  await lab.settle();
  const refunded = await read(account, "$5.00 of your payment of $20.00 are refunded");
  expect(subjects(refunded)).toEqual(["Refund of $5.00"]);
  const [refund] = lab.sandbox.actions.store
    .list("refund")
    .filter(({ payment_intent }) => payment_intent === account.intent);
  lab.sandbox.actions.failRefund(refund?.id ?? "");
  await lab.settle();
  expect(subjects(await read(account, "Its credit is back"))).toEqual(["A refund of $5.00 failed"]);
});

test("buttons of mails about payments open the billing page of their account", async () => {
  const account = await automatic();
  lab.sandbox.actions.refund(account.intent, 500);
  lab.sandbox.actions.dispute(account.intent, "needs_response");
  await lab.settle();
  const declined = await paid(CARDS.laterDeclined);
  await chargeCard(lab.payments, declined.row, { amount: usd("10"), cardId: null });
  await lab.settle();
  const [three, one] = [await read(account), await read(declined)];
  expect([three.length, one.length]).toEqual([3, 1]);
  for (const { links } of three) expect(links).toEqual([billingOf(account)]);
  for (const { links } of one) expect(links).toEqual([billingOf(declined)]);
});

test("a mail reports a dispute when it opens and when it is decided", async () => {
  for (const [decision, subject, words] of [
    ["won", "A dispute is over: your credit is back", "no longer suspended for it"],
    ["lost", "A dispute was decided: its credit stays removed", "$20.00 of credit stay removed"],
  ] as const) {
    const account = await automatic();
    lab.sandbox.actions.dispute(account.intent, "needs_response");
    await lab.settle();
    expect(subjects(await read(account, "is disputed at your bank"))).toEqual([
      "A payment is disputed: your account is suspended",
      "Your automatic top-up is paused",
    ]);
    const [dispute] = lab.sandbox.actions.store
      .list("dispute")
      .filter(({ payment_intent }) => payment_intent === account.intent);
    lab.sandbox.actions.moveDispute(dispute?.id ?? "", decision);
    await lab.settle();
    expect(subjects(await read(account, words))).toEqual([subject]);
  }
});
