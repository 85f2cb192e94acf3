// Tests the objects that the payment provider still has of a closed account.

import { expect, test } from "bun:test";
import { changeAccount } from "../../../src/accounts/administration.ts";
import type { ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { enableAuto } from "../../../src/payments/auto-settings.ts";
import { startCheckout } from "../../../src/payments/top-ups.ts";
import { completePayments } from "../../../workers/payment-completer.ts";
import { openMailbox } from "../../support/fakes/mailbox.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { administrationOf, usd } from "../../support/stores/world.ts";

let isAway = false;
const isDetach = ({ path }: ApiRequest) => path.endsWith("/detach");
const lab = await shared(
  openPaymentLab({
    intercept: async (request) =>
      isAway && isDetach(request) ? new Response("gone", { status: 502 }) : null,
  }),
);
const mailbox = await shared(openMailbox(lab.world.database));

const EMAIL = "closed@example.test";

async function withAutomaticTopUp() {
  const account = await lab.account({ email: EMAIL });
  const { id } = await lab.pay(account, "20", CARDS.ok);
  await lab.settle();
  const terms = { amount: usd("10"), threshold: usd("5"), monthlyCap: usd("100"), cardId: null };
  await enableAuto(lab.payments, account.row, terms);
  const [card] = await lab.payments.cards.list(account.row.number, "sandbox");
  if (card === undefined) throw new Error("There is no saved card");
  await mailbox.read(EMAIL);
  return { ...account, card, intent: (await lab.topUp(id)).intent ?? "" };
}

async function close(id: string): Promise<void> {
  await changeAccount(administrationOf(lab.world, lab.payments.now), id, { kind: "close" });
}

async function work(): Promise<void> {
  await completePayments({ payments: lab.payments, graceMs: 0, log: silent });
  await lab.settle();
}

const customerOfCard = (ref: string) =>
  lab.sandbox.actions.store.list("payment_method").find(({ id }) => id === ref)?.customer;

test("the cards of a closed account are removed at the provider, when it answers", async () => {
  const { row, card } = await withAutomaticTopUp();
  await work();
  expect(customerOfCard(card.ref)).not.toBeNull();
  await close(row.id);
  isAway = true;
  await work();
  expect(customerOfCard(card.ref)).not.toBeNull();
  expect((await lab.payments.cards.find(card.id))?.removedAt).toBeNull();
  isAway = false;
  await work();
  expect(customerOfCard(card.ref)).toBeNull();
  expect((await lab.payments.cards.find(card.id))?.removedAt).not.toBeNull();
  // The closed account gets no mail.
  expect(await mailbox.read(EMAIL)).toEqual([]);
});

test("a card is removed that was saved on a page after its account was closed", async () => {
  const account = await lab.account({ email: EMAIL });
  const page = await startCheckout(lab.payments, account.row, {
    amount: usd("20"),
    savesCard: true,
  });
  await close(account.row.id);
  await fetch(page.url ?? "", { method: "POST", body: new URLSearchParams({ card: CARDS.ok }) });
  await lab.settle();
  const [card] = await lab.payments.cards.list(account.row.number, "sandbox");
  await work();
  expect(customerOfCard(card?.ref ?? "")).toBeNull();
});

test("payments of a closed account are refunded and disputed though its card is gone", async () => {
  const { row, intent } = await withAutomaticTopUp();
  await close(row.id);
  await work();
  lab.sandbox.actions.refund(intent, 500);
  await lab.settle();
  const [payment] = await lab.world.payments.list(row);
  expect(payment?.refunded).toBe(usd("5"));
  lab.sandbox.actions.dispute(intent, "needs_response");
  await lab.settle();
  const [disputed] = await lab.world.payments.list(row);
  expect(disputed?.disputed).not.toBe(usd("0"));
});
