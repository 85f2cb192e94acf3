// Tests every row of the table of events as a history of one payment, with every order of its
// events. An event makes us read, and a reading sees the provider's state at that moment. So any
// order, repetition and loss of events is a list of moments that never goes back, and that ends
// when all events have happened. Here all such lists are made, without stores;
// test/product/model/event-order tries some of them with stores.

import { expect, test } from "bun:test";
import { add, type NanoUsd, subtract, usd, ZERO } from "../../../src/core/money/money.ts";
import { creditOf, type PaymentStanding } from "../../../src/core/money/payment-credit.ts";
import type {
  ProviderCheckout,
  ProviderDispute,
  ProviderPayment,
} from "../../../src/payments/provider.ts";
import { changeOf, type SeenTopUp } from "../../../src/payments/top-up-change.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";

const NOW = new Date("2026-11-22T12:00:00Z");
const AMOUNT = usd("20");
const BONUS = usd("7");
const FEE = usd("0.88");
const TAX = usd("2.09");
const GROSS = add(AMOUNT, FEE, TAX);

const TOP_UP: TopUp = {
  number: 1,
  id: "topup_1",
  account: 1,
  accountId: "acct_1",
  bucket: 0,
  provider: "stripe",
  surface: "gateway",
  kind: "checkout",
  amount: AMOUNT,
  fee: FEE,
  tax: ZERO,
  bonus: BONUS,
  status: "open",
  checkout: "cs_1",
  intent: null,
  url: null,
  card: null,
  cardId: null,
  cardRef: null,
  consentVersion: null,
  attempts: 0,
  failure: null,
  nextAttemptAt: null,
  concern: null,
  payment: null,
  plan: null,
  receiptUrl: null,
  request: null,
  createdAt: NOW,
  expiresAt: null,
  invoiceDueAt: null,
  invoicedAt: null,
  endedAt: null,
};

const PAID: ProviderPayment = {
  intent: "pi_1",
  status: "succeeded",
  currency: "usd",
  received: GROSS,
  customer: "cus_1",
  topUpId: "topup_1",
  order: null,
  paidAt: NOW,
  refunded: ZERO,
  disputes: [],
  hasFraudWarning: false,
  card: null,
  tax: ZERO,
  fingerprint: null,
  receiptUrl: null,
  isCardSaved: false,
  failure: null,
};
const WAITING: ProviderPayment = { ...PAID, status: "pending", received: ZERO, paidAt: null };
const DECLINED: ProviderPayment = {
  ...WAITING,
  status: "failed",
  failure: { code: "generic_decline", needsAuthentication: false, isFinal: false },
};

const page = (more: Partial<ProviderCheckout> = {}): ProviderCheckout => ({
  isExpired: false,
  topUpId: "topup_1",
  intent: "pi_1",
  tax: TAX,
  ...more,
});
const seen = (payment: ProviderPayment | null, checkout = page()): SeenTopUp => ({
  payment,
  checkout,
});
const paid = (more: Partial<ProviderPayment> = {}) => seen({ ...PAID, ...more });
const dispute = (state: ProviderDispute["state"], amount: NanoUsd = GROSS): ProviderDispute => ({
  state,
  amount,
});
const refunded = usd("5");
const OPEN_PAGE = seen(null, page({ intent: null }));

interface History {
  /** The provider's states, one after the other. */
  readonly states: readonly SeenTopUp[];
  readonly credit: NanoUsd;
  readonly status?: TopUp["status"];
}

const WHOLE = add(AMOUNT, BONUS);
/** The rest of the credit after this much of the whole payment went back. */
const left = (gross: NanoUsd) => {
  const back = (AMOUNT * gross + GROSS - 1n) / GROSS;
  const bonus = (BONUS * back + AMOUNT - 1n) / AMOUNT;
  return subtract(WHOLE, (back + bonus) as NanoUsd);
};

const HISTORIES: Readonly<Record<string, History>> = {
  "paid on the page": { states: [OPEN_PAGE, paid()], credit: WHOLE },
  "waits for the bank, then paid": { states: [OPEN_PAGE, seen(WAITING), paid()], credit: WHOLE },
  "declined, then paid by another card": {
    states: [OPEN_PAGE, seen(DECLINED), paid()],
    credit: WHOLE,
  },
  "never paid": {
    states: [OPEN_PAGE, seen(DECLINED), seen(DECLINED, page({ isExpired: true }))],
    credit: ZERO,
    status: "expired",
  },
  "paid in the wrong amount": {
    states: [OPEN_PAGE, paid({ received: AMOUNT })],
    credit: ZERO,
    status: "failed",
  },
  "paid in the wrong currency": {
    states: [OPEN_PAGE, paid({ currency: "eur" })],
    credit: ZERO,
    status: "failed",
  },
  "refunded in three parts, to the end": {
    states: [
      OPEN_PAGE,
      paid(),
      paid({ refunded: usd("0.01") }),
      paid({ refunded: usd("9.87") }),
      paid({ refunded: GROSS }),
    ],
    credit: ZERO,
  },
  "two refunds, of which one fails": {
    states: [paid(), paid({ refunded }), paid({ refunded: usd("12") }), paid({ refunded })],
    credit: left(refunded),
  },
  "an inquiry that comes to nothing": {
    states: [
      paid(),
      paid({ disputes: [dispute("inquiry")] }),
      paid({ disputes: [dispute("won")] }),
    ],
    credit: WHOLE,
  },
  "inquired, disputed, won": {
    states: [
      paid(),
      paid({ disputes: [dispute("inquiry")] }),
      paid({ disputes: [dispute("open")] }),
      paid({ disputes: [dispute("won")] }),
    ],
    credit: WHOLE,
  },
  "disputed, lost, appealed, won": {
    states: [
      paid(),
      paid({ disputes: [dispute("open")] }),
      paid({ disputes: [dispute("lost")] }),
      paid({ disputes: [dispute("open")] }),
      paid({ disputes: [dispute("won")] }),
    ],
    credit: WHOLE,
  },
  "disputed for a part and lost": {
    states: [
      paid(),
      paid({ disputes: [dispute("open", refunded)] }),
      paid({ disputes: [dispute("lost", refunded)] }),
    ],
    credit: left(refunded),
  },
  "refunded in part, disputed for the rest, lost": {
    states: [
      paid(),
      paid({ refunded }),
      paid({ refunded, disputes: [dispute("open", subtract(GROSS, refunded))] }),
      paid({ refunded, disputes: [dispute("lost", subtract(GROSS, refunded))] }),
    ],
    credit: ZERO,
  },
  "two disputes, one won and one open": {
    states: [
      paid(),
      paid({ disputes: [dispute("open", refunded)] }),
      paid({ disputes: [dispute("open", refunded), dispute("open", refunded)] }),
      paid({ disputes: [dispute("won", refunded), dispute("open", refunded)] }),
    ],
    credit: ZERO,
  },
  "warned of fraud, then refunded": {
    states: [
      paid(),
      paid({ hasFraudWarning: true }),
      paid({ hasFraudWarning: true, refunded: GROSS }),
    ],
    credit: ZERO,
  },
};

/** The stored state: the top-up, the standing of its payment, and the sum of its operations. */
interface Stored {
  readonly topUp: TopUp;
  readonly standing: PaymentStanding | null;
  readonly booked: NanoUsd;
}

function read({ topUp, standing, booked }: Stored, state: SeenTopUp): Stored {
  const {
    paid: payment,
    card,
    pause,
    ...columns
  } = changeOf(topUp, state, {
    attempt: null,
    now: NOW,
  });
  const next = { ...topUp, ...columns, payment: payment === null ? topUp.payment : 1 };
  if (payment === null) return { topUp: next, standing, booked };
  const after = { amount: AMOUNT, bonus: BONUS, ...payment.standing };
  // The operation of a reading is a difference, never an absolute amount.
  const before = standing === null ? ZERO : creditOf(standing);
  return { topUp: next, standing: after, booked: add(booked, subtract(creditOf(after), before)) };
}

/** All lists of moments that never go back and end with the last, of at most this length. */
function* moments(states: number, length: number, from = 0): Generator<readonly number[]> {
  const last = states - 1;
  yield [last];
  if (length <= 1) return;
  for (let first = from; first <= last; first += 1) {
    for (const others of moments(states, length - 1, first)) yield [first, ...others];
  }
}

for (const [name, { states, credit, status = "succeeded" }] of Object.entries(HISTORIES)) {
  test(`${name}: every order, repetition and loss of events ends the same`, () => {
    const ends = new Set<string>();
    let lists = 0;
    for (const list of moments(states.length, states.length + 2)) {
      let stored: Stored = { topUp: TOP_UP, standing: null, booked: ZERO };
      for (const moment of list) stored = read(stored, states[moment] ?? OPEN_PAGE);
      const { topUp, standing, booked } = stored;
      expect(booked).toBe(standing === null ? ZERO : creditOf(standing));
      ends.add(`${topUp.status} ${topUp.failure} ${topUp.concern} ${booked}`);
      lists += 1;
    }
    expect(lists).toBeGreaterThan(states.length * 2);
    expect([...ends]).toHaveLength(1);
    expect([...ends][0]).toStartWith(`${status} `);
    expect([...ends][0]).toEndWith(` ${credit}`);
  });
}
