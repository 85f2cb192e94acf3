import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../src/core/durations.ts";
import { chargeCard, startCheckout } from "../../../src/payments/top-ups.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";
import { shared } from "../../support/shared.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { refusalCode } from "../../support/stores/postgres-world.ts";
import { balances, usd } from "../../support/stores/world.ts";

const lab = await shared(openPaymentLab());

function intentOf(topUp: { readonly intent: string | null }): string {
  if (topUp.intent === null) throw new Error("The top-up has no payment");
  return topUp.intent;
}

async function paid(amount: string, card?: string) {
  const account = await lab.account();
  const started = await lab.pay(account, amount, card);
  await lab.settle();
  const topUp = await lab.topUp(started.id);
  return { account, topUp };
}

describe("a page of the provider", () => {
  test("is credited once it is paid, and Redis has the credit at once", async () => {
    const { account, topUp } = await paid("20");
    expect(topUp).toMatchObject({ status: "succeeded", failure: null });
    expect((await balances(account)).paid).toBe(usd("20"));
    expect(await lab.credited(account)).toBe(usd("20"));
  });

  test("saves the card with the holder's consent only if the page says so", async () => {
    const { account, topUp } = await paid("10");
    const name = lab.payments.provider.name;
    const [card, ...more] = await lab.payments.cards.list(account.row.number, name);
    expect(more).toEqual([]);
    expect(card).toMatchObject({ lastFour: "4242", consentVersion: topUp.consentVersion ?? "" });
    await lab.pay(account, "10", CARDS.ok, false);
    await lab.settle();
    expect(await lab.payments.cards.list(account.row.number, name)).toHaveLength(1);
    expect(await lab.credited(account)).toBe(usd("20"));
  });

  test("credits nothing while its card is declined, and can be paid with another", async () => {
    const account = await lab.account();
    const started = await lab.pay(account, "20", CARDS.declined);
    await lab.settle();
    expect(await lab.topUp(started.id)).toMatchObject({
      status: "open",
      failure: "generic_decline",
    });
    expect(await lab.credited(account)).toBe(usd("0"));
    await fetch(started.url ?? "", {
      method: "POST",
      body: new URLSearchParams({ card: CARDS.ok }),
    });
    await lab.settle();
    expect(await lab.topUp(started.id)).toMatchObject({ status: "succeeded", failure: null });
    expect(await lab.credited(account)).toBe(usd("20"));
  });

  test("that expires ends without a credit", async () => {
    const account = await lab.account();
    const { row } = account;
    const terms = { amount: usd("20"), savesCard: false };
    const { id, checkout } = await startCheckout(lab.payments, row, terms);
    lab.sandbox.actions.expireSession(checkout ?? "");
    await lab.settle();
    expect(await lab.topUp(id)).toMatchObject({ status: "expired", payment: null });
  });

  test("of an amount above the tier's cap is refused before the provider is called", async () => {
    const { row } = await lab.account();
    const start = (amount: string) =>
      refusalCode(startCheckout(lab.payments, row, { amount: usd(amount), savesCard: false }));
    expect(await start("4.99")).toBe("too_large");
    expect(await start("50.01")).toBe("too_large");
    expect(await start("20.001")).toBe("too_large");
    expect(await start("50")).toBe("done");
  });

  test("ends if another order needs its room in the cap of 24 hours", async () => {
    const account = await lab.account();
    const start = (amount: string) =>
      startCheckout(lab.payments, account.row, { amount: usd(amount), savesCard: false });
    const [first, second] = [await start("30"), await start("20")];
    expect(await lab.topUp(first.id)).toMatchObject({ status: "open" });
    const third = await start("20.01");
    expect((await payAt(first)).ok).toBe(false);
    expect(await lab.topUp(first.id)).toMatchObject({ status: "expired" });
    expect((await payAt(third)).ok).toBe(true);
    // Ending one page was enough.
    expect((await payAt(second)).ok).toBe(true);
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("40.01"));
  });

  test("makes room in that cap behind a page of the day before that was not read", async () => {
    const account = await lab.account();
    const start = (amount: string) =>
      startCheckout(lab.payments, account.row, { amount: usd(amount), savesCard: false });
    await start("50");
    lab.aheadMs += 25 * HOUR_MS;
    try {
      const second = await start("50");
      expect(await start("20")).toMatchObject({ status: "open" });
      expect(await lab.topUp(second.id)).toMatchObject({ status: "expired" });
    } finally {
      lab.aheadMs = 0;
    }
  });

  test("that was paid a moment before another order counts in that cap", async () => {
    const { account } = await paid("20");
    const start = (amount: string) =>
      startCheckout(lab.payments, account.row, { amount: usd(amount), savesCard: false });
    await payAt(await start("100"));
    await payAt(await start("80"));
    // No event or reading has reported the payment yet.
    expect(await refusalCode(start("20"))).toBe("too_large");
    expect(await lab.credited(account)).toBe(usd("200"));
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("200"));
  });

  test("stays if an order would not fit without it either", async () => {
    const { account } = await paid("50");
    const start = (amount: string) =>
      startCheckout(lab.payments, account.row, { amount: usd(amount), savesCard: false });
    await payAt(await start("100"));
    await payAt(await start("40"));
    await lab.settle();
    const page = await start("10");
    expect(await refusalCode(start("20"))).toBe("too_large");
    expect(await lab.topUp(page.id)).toMatchObject({ status: "open" });
  });
});

function payAt({ url }: Pick<TopUp, "url">): Promise<Response> {
  return fetch(url ?? "", { method: "POST", body: new URLSearchParams({ card: CARDS.ok }) });
}

describe("a saved card", () => {
  test("is charged on request, and the credit exists when the request returns", async () => {
    const { account } = await paid("20");
    const charged = await chargeCard(lab.payments, account.row, {
      amount: usd("15"),
      cardId: null,
    });
    expect(charged).toMatchObject({ status: "succeeded" });
    expect((await balances(account)).paid).toBe(usd("35"));
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("35"));
  });

  test("that is declined adds nothing and gives the reason", async () => {
    const { account } = await paid("20", CARDS.laterDeclined);
    const charged = await chargeCard(lab.payments, account.row, {
      amount: usd("15"),
      cardId: null,
    });
    expect(charged).toMatchObject({ status: "failed", failure: "generic_decline" });
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("20"));
  });

  test("of no account is not charged", async () => {
    const { row } = await lab.account();
    const charge = chargeCard(lab.payments, row, { amount: usd("15"), cardId: null });
    expect(await refusalCode(charge)).toBe("no_card");
  });
});

describe("a reversal at the provider", () => {
  test("partial refunds take back their exact part, and all of them all", async () => {
    const { account, topUp } = await paid("20");
    const intent = intentOf(topUp);
    lab.sandbox.actions.refund(intent, 333);
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("16.67"));
    lab.sandbox.actions.refund(intent, null);
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("0"));
    expect((await lab.world.store.find(account.row.id))?.state).toBe("active");
  });

  test("a refund that fails gives the credit back", async () => {
    const { account, topUp } = await paid("20", CARDS.refundFails);
    lab.sandbox.actions.refund(intentOf(topUp), 500);
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("20"));
  });

  test("an open dispute takes all credit and suspends; a won one restores both", async () => {
    const { account, topUp } = await paid("20");
    const dispute = lab.sandbox.actions.dispute(intentOf(topUp), "needs_response");
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("0"));
    expect(await lab.world.store.find(account.row.id)).toMatchObject({
      state: "suspended",
      stateReason: "dispute",
    });
    lab.sandbox.actions.moveDispute(dispute.id, "won");
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("20"));
    expect((await lab.world.store.find(account.row.id))?.state).toBe("active");
  });

  test("a lost dispute keeps its amount away, and the account serves again", async () => {
    const { account, topUp } = await paid("20");
    const dispute = lab.sandbox.actions.dispute(intentOf(topUp), "needs_response", 700);
    lab.sandbox.actions.moveDispute(dispute.id, "lost");
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("13"));
    expect((await lab.world.store.find(account.row.id))?.state).toBe("active");
  });

  test("an inquiry moves no money and suspends no account", async () => {
    const { account, topUp } = await paid("20");
    lab.sandbox.actions.dispute(intentOf(topUp), "warning_needs_response");
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("20"));
    expect((await lab.world.store.find(account.row.id))?.state).toBe("active");
  });

  test("an unknown state of a dispute counts as open", async () => {
    const { account, topUp } = await paid("20");
    const dispute = lab.sandbox.actions.dispute(intentOf(topUp), "needs_response");
    lab.sandbox.actions.moveDispute(dispute.id, "appeal_of_the_future");
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("0"));
    expect((await lab.world.store.find(account.row.id))?.state).toBe("suspended");
  });
});
