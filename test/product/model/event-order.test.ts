// Tests every row of the table of events, as a history of one payment. Events only make us read, so
// their order, number and loss must not change the end of a history.

import { expect, setDefaultTimeout, test } from "bun:test";
import type { SandboxActions } from "../../../src/annexes/stripe-sandbox/sandbox-actions.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import type { EventRef } from "../../../src/store/payments/provider-events.ts";
import { reconcilePayments } from "../../../workers/payment-completer.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { Random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const lab = await shared(openPaymentLab());

type Step = (actions: SandboxActions, intent: string) => void;

interface History {
  readonly name: string;
  readonly card?: string;
  /** The events after the payment, one after the other. */
  readonly steps: readonly Step[];
  readonly credit: string;
  readonly state: "active" | "suspended";
}

const refund =
  (cents: number | null): Step =>
  (actions, intent) =>
    void actions.refund(intent, cents);
const dispute =
  (status: string): Step =>
  (actions, intent) =>
    void actions.dispute(intent, status);
/** Moves the newest dispute, or fails the newest refund, of the payment. */
const move =
  (status: string): Step =>
  (actions, intent) => {
    const [newest] = actions.store.list("dispute").filter((one) => one.payment_intent === intent);
    actions.moveDispute(newest?.id ?? "", status);
  };
const failRefund: Step = (actions, intent) => {
  const [newest] = actions.store.list("refund").filter((one) => one.payment_intent === intent);
  actions.failRefund(newest?.id ?? "");
};

const HISTORIES: readonly History[] = [
  { name: "paid", steps: [], credit: "20", state: "active" },
  { name: "declined", card: CARDS.declined, steps: [], credit: "0", state: "active" },
  {
    name: "refunded in two parts",
    steps: [refund(500), refund(700)],
    credit: "8",
    state: "active",
  },
  {
    name: "refunded, and one refund failed",
    steps: [refund(500), refund(700), failRefund],
    credit: "15",
    state: "active",
  },
  { name: "disputed", card: CARDS.disputed, steps: [], credit: "0", state: "suspended" },
  {
    name: "inquired, disputed and won",
    steps: [
      dispute("warning_needs_response"),
      move("needs_response"),
      move("under_review"),
      move("won"),
    ],
    credit: "20",
    state: "active",
  },
  {
    name: "inquired, and nothing came of it",
    steps: [dispute("warning_needs_response"), move("warning_closed")],
    credit: "20",
    state: "active",
  },
  {
    name: "disputed, lost, appealed and won",
    steps: [dispute("needs_response"), move("lost"), move("appeal_under_review"), move("won")],
    credit: "20",
    state: "active",
  },
  {
    name: "refunded in part, then disputed for the rest and lost",
    steps: [refund(500), dispute("needs_response"), move("lost")],
    credit: "0",
    state: "active",
  },
  {
    name: "warned of fraud and refunded",
    card: CARDS.fraudWarning,
    steps: [refund(null)],
    credit: "0",
    state: "active",
  },
];

/** Each run uses another order; `FAREBOX_LONG=1` tries many. */
const RUNS = process.env.FAREBOX_LONG === "1" ? 100 : 2;

/**
 * Plays a history. After each step `between` gets the new events; those that it returns are
 * processed before the next step, and all others are returned.
 */
async function happen(
  { card, steps }: History,
  between: (events: readonly EventRef[]) => readonly EventRef[] = () => [],
) {
  const account = await lab.account();
  const started = await lab.pay(account, "20", card);
  const session = lab.sandbox.actions.get(started.checkout ?? "", "checkout.session");
  const all: EventRef[] = [];
  for (const step of [null, ...steps]) {
    step?.(lab.sandbox.actions, String(session.payment_intent));
    await lab.delivered();
    all.push(...lab.inbox.splice(0));
    await processAll(between(all));
  }
  return { account, events: all };
}

async function ended(account: TestAccount) {
  const { row } = account;
  const state = (await lab.world.store.find(row.id))?.state;
  const payments = await lab.world.payments.list(row);
  return { credit: await lab.credited(account), state, payments: payments.length };
}

async function processAll(events: readonly EventRef[]): Promise<void> {
  for (const event of events) await processEvent(lab.payments, event);
}

for (const history of HISTORIES) {
  const end = {
    credit: usd(history.credit),
    state: history.state,
    payments: history.name === "declined" ? 0 : 1,
  };

  test(`${history.name}: any order, repeated, late and at once, ends the same`, async () => {
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const random = new Random(seed);
      const some = (events: readonly EventRef[]) => events.filter(() => random.next() < 0.5);
      const { account, events } = await happen(history, (known) => some(random.shuffled(known)));
      await processAll(random.shuffled([...events, ...some(events)]));
      expect(await ended(account)).toEqual(end);
    }
    const atOnce = await happen(history);
    await Promise.all([...atOnce.events, ...atOnce.events].map((event) => processAll([event])));
    expect(await ended(atOnce.account)).toEqual(end);
  });

  test(`${history.name}: any single event is enough, and without events the list is`, async () => {
    const { account, events } = await happen(history);
    const [index = 0] = new Random(events.length).shuffled([...events.keys()]);
    await processAll(events.slice(index, index + 1));
    expect(await ended(account)).toEqual(end);
    const lost = await happen(history);
    await lab.world.database.sql`DELETE FROM provider_events WHERE status = 'received'`;
    const queue = { addEvent: async (event: EventRef) => void lab.inbox.push(event) };
    await reconcilePayments({ payments: lab.payments, log: silent }, queue);
    await processAll(lab.inbox.splice(0));
    expect(await ended(lost.account)).toEqual(end);
  });
}
