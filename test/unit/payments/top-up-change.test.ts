// Tests how a payment changes a top-up, without stores.

import { expect, test } from "bun:test";
import { usd, ZERO } from "../../../src/core/money/money.ts";
import type { ProviderDispute, ProviderPayment } from "../../../src/payments/provider.ts";
import { changeOf, standingOf } from "../../../src/payments/top-up-change.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";

const NOW = new Date("2026-11-21T12:00:00Z");

const TOP_UP: TopUp = {
  surface: "gateway",
  number: 1,
  id: "topup_1",
  account: 1,
  accountId: "acct_1",
  bucket: 0,
  provider: "stripe",
  kind: "auto",
  amount: usd("20"),
  fee: ZERO,
  tax: ZERO,
  bonus: ZERO,
  status: "open",
  checkout: null,
  intent: "pi_1",
  url: null,
  card: null,
  plan: null,
  cardId: "card_1",
  cardRef: "pm_1",
  consentVersion: null,
  attempts: 1,
  failure: null,
  nextAttemptAt: NOW,
  concern: null,
  payment: null,
  receiptUrl: null,
  createdAt: NOW,
  expiresAt: null,
  request: null,
  invoiceDueAt: null,
  invoicedAt: null,
  endedAt: null,
};

const PAYMENT: ProviderPayment = {
  intent: "pi_1",
  status: "succeeded",
  currency: "usd",
  received: usd("20"),
  customer: "cus_1",
  topUpId: TOP_UP.id,
  order: null,
  paidAt: NOW,
  refunded: ZERO,
  disputes: [],
  hasFraudWarning: false,
  card: null,
  isCardSaved: false,
  fingerprint: null,
  tax: ZERO,
  receiptUrl: null,
  failure: null,
};

const DECLINED: ProviderPayment = {
  ...PAYMENT,
  status: "failed",
  received: ZERO,
  paidAt: null,
  failure: { code: "generic_decline", needsAuthentication: false, isFinal: false },
};

function change(topUp: Partial<TopUp>, payment: ProviderPayment, attempt: number | null = null) {
  return changeOf({ ...TOP_UP, ...topUp }, { checkout: null, payment }, { attempt, now: NOW });
}

test("a failure that does not answer the attempt in progress changes nothing", () => {
  expect(change({}, DECLINED)).toMatchObject({ status: "open", attempts: 1, failure: null });
  const late = change({ attempts: 2 }, DECLINED, 1);
  expect(late).toMatchObject({ status: "open", attempts: 2, pause: null });
});

test("a pending payment fails, whichever object of the provider reports the failure", () => {
  const pending = change({}, { ...DECLINED, status: "pending", failure: null }, 1);
  expect(pending).toMatchObject({ status: "open", nextAttemptAt: null, attempts: 1 });
  const failed = change({ nextAttemptAt: null }, DECLINED);
  expect(failed).toMatchObject({ status: "open", attempts: 2, failure: "generic_decline" });
  const again = change({ nextAttemptAt: null, attempts: 2 }, DECLINED);
  expect(again).toMatchObject({ status: "failed", pause: "card_failed" });
});

test("a payment in the future counts from now on", () => {
  const paidAt = new Date(NOW.getTime() + 5_000);
  expect(change({}, { ...PAYMENT, paidAt }).paid?.at).toEqual(NOW);
});

const dispute = (state: ProviderDispute["state"], amount: string): ProviderDispute => ({
  state,
  amount: usd(amount),
});

test("of several disputes the open one decides, and lost amounts add up", () => {
  const standing = (...disputes: ProviderDispute[]) => standingOf(TOP_UP, { ...PAYMENT, disputes });
  expect(standing()).toMatchObject({ dispute: null, disputed: ZERO });
  expect(standing(dispute("inquiry", "20"))).toMatchObject({ dispute: null, disputed: ZERO });
  expect(standing(dispute("won", "20"))).toMatchObject({ dispute: "won", disputed: ZERO });
  const two = standing(dispute("lost", "5"), dispute("lost", "7"));
  expect(two).toMatchObject({ dispute: "lost", disputed: usd("12") });
  const open = standing(dispute("lost", "5"), dispute("open", "7"), dispute("won", "1"));
  expect(open).toMatchObject({ dispute: "open", disputed: usd("12") });
  const beyond = standing(dispute("lost", "15"), dispute("lost", "15"));
  expect(beyond).toMatchObject({ dispute: "lost", disputed: usd("20") });
});
