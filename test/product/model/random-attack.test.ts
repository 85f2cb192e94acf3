// Tests payments of several accounts at once, under attack: refunds, disputes, metadata that a
// person changes at the provider, and events that are lost, repeated, late, and processed at the
// same time. Each account ends with the credit of its own payments, whatever their metadata says.

import { expect, setDefaultTimeout, test } from "bun:test";
import { type NanoUsd, nano } from "../../../src/core/money/money.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import { METADATA } from "../../../src/payments/providers/stripe-objects.ts";
import { rereadPayments } from "../../../src/payments/reread-payments.ts";
import { chargeCard, startCheckout } from "../../../src/payments/top-ups.ts";
import type { EventRef } from "../../../src/store/payments/provider-events.ts";
import { anySeed, Random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { found } from "../../support/stores/audit-lab.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const lab = await shared(openPaymentLab());
const { actions } = lab.sandbox;

const SEED = Number(process.env.PAYMENTS_SEED ?? anySeed());
/** `FAREBOX_LONG=1` tries many. */
const ROUNDS = process.env.FAREBOX_LONG === "1" ? 40 : 3;
const STEPS = 40;
const ACCOUNTS = 3;
/** The amount that a page asks for, in cents. */
const CENTS = 2_000;
const NANO_A_CENT = 10_000_000n;

/** A page that is not paid yet. */
interface Page {
  readonly account: TestAccount;
  readonly session: string;
}

/** A payment as the provider has it. */
interface Paid {
  readonly account: TestAccount;
  /** The page of the payment; null for a charge of a saved card. */
  readonly session: string | null;
  readonly intent: string;
  refunds: { readonly id: string; readonly cents: number }[];
  dispute: { readonly id: string; status: string } | null;
}

type Metadata = Record<string, string>;

/** The cents of a payment that no refund has taken back. */
function notRefunded({ refunds }: Paid): number {
  return CENTS - refunds.reduce((sum, { cents }) => sum + cents, 0);
}

class Attack {
  readonly #random: Random;
  readonly #waiting: Page[] = [];
  readonly #paid: Paid[] = [];
  /** Every event that ever came. */
  readonly #events: EventRef[] = [];

  constructor(
    seed: number,
    readonly accounts: readonly TestAccount[],
  ) {
    this.#random = new Random(seed);
  }

  async step(): Promise<void> {
    const paid = this.#paid.length === 0 ? null : this.#random.pick(this.#paid);
    const kind = this.#random.next();
    if (kind < 0.1) await this.#open();
    else if (paid === null || kind < 0.25) await this.#pay();
    else if (kind < 0.35) this.#refund(paid);
    else if (kind < 0.4) this.#failRefund(paid);
    else if (kind < 0.55) this.#dispute(paid);
    else if (kind < 0.75) this.#changeMetadata(paid);
    else await this.#process(this.#some());
  }

  /** Processes all events that were lost so far, in any order and several at a time. */
  async end(): Promise<void> {
    await this.#collect();
    const all = this.#random.shuffled(this.#events);
    for (let start = 0; start < all.length; start += 8) {
      await this.#process(all.slice(start, start + 8));
    }
  }

  /** The worth of an account's payments, counted without our code. */
  creditOf(account: TestAccount): NanoUsd {
    const cents = this.#paid
      .filter((paid) => paid.account === account)
      .map((paid) => {
        const takes = ["needs_response", "lost"].includes(paid.dispute?.status ?? "");
        return takes ? 0 : notRefunded(paid);
      });
    return nano(BigInt(cents.reduce((sum, one) => sum + one, 0)) * NANO_A_CENT);
  }

  /** Null for a suspended account, which pays nothing. */
  async #anyAccount(): Promise<TestAccount | null> {
    const account = this.#random.pick(this.accounts);
    const row = await lab.world.store.find(account.id);
    return row?.state === "active" ? account : null;
  }

  /** A page that may be paid later. */
  async #open(): Promise<void> {
    const account = await this.#anyAccount();
    if (account === null) return;
    const order = { amount: usd("20"), savesCard: true };
    const { checkout } = await startCheckout(lab.payments, account.row, order);
    this.#waiting.push({ account, session: checkout ?? "" });
  }

  async #pay(): Promise<void> {
    const page = this.#random.next() < 0.5 ? this.#waiting.pop() : undefined;
    if (page !== undefined) return this.#payPage(page);
    const account = await this.#anyAccount();
    if (account === null) return;
    const [card] = await lab.payments.cards.list(account.row.number, "sandbox");
    if (card !== undefined && this.#random.next() < 0.5) {
      const order = { amount: usd("20"), cardId: card.id };
      const { intent } = await chargeCard(lab.payments, account.row, order);
      const paid = { account, session: null, intent: intent ?? "" };
      this.#paid.push({ ...paid, refunds: [], dispute: null });
      return;
    }
    await this.#open();
    const opened = this.#waiting.pop();
    if (opened !== undefined) this.#payPage(opened);
  }

  #payPage({ account, session }: Page): void {
    const { payment_intent } = actions.paySession(session, CARDS.ok);
    const paid = { account, session, intent: String(payment_intent) };
    this.#paid.push({ ...paid, refunds: [], dispute: null });
  }

  #refund(paid: Paid): void {
    const left = notRefunded(paid);
    if (left === 0 || paid.dispute !== null) return;
    const cents = this.#random.next() < 0.3 ? left : this.#random.between(1, left);
    paid.refunds.push({ id: actions.refund(paid.intent, cents).id, cents });
  }

  #failRefund(paid: Paid): void {
    if (paid.dispute !== null) return;
    const refund = paid.refunds.pop();
    if (refund !== undefined) actions.failRefund(refund.id);
  }

  #dispute(paid: Paid): void {
    const left = notRefunded(paid);
    if (paid.dispute === null) {
      if (left === 0) return;
      const { id } = actions.dispute(paid.intent, "needs_response");
      paid.dispute = { id, status: "needs_response" };
      return;
    }
    paid.dispute.status = this.#random.pick(["won", "lost", "needs_response"]);
    actions.moveDispute(paid.dispute.id, paid.dispute.status);
  }

  #changeMetadata({ intent, session }: Paid): void {
    const id = this.#random.next() < 0.7 ? intent : (session ?? intent);
    const own = this.#metadataOf(id);
    const pages = this.#waiting.map((page) => page.session);
    const others = [...this.#paid.map((other) => other.intent), ...pages];
    const other = this.#metadataOf(this.#random.pick(others));
    const metadata = this.#random.pick<Metadata>([
      {},
      other,
      { ...own, [METADATA.topUp]: other[METADATA.topUp] ?? "" },
      { ...own, [METADATA.account]: other[METADATA.account] ?? "" },
      { ...own, [METADATA.amount]: "2000000" },
      { ...own, [METADATA.bonus]: "500" },
      { ...own, [METADATA.tax]: "-5" },
      { ...own, [METADATA.kind]: "plan" },
    ]);
    actions.store.change(id, { metadata });
  }

  #metadataOf(id: string): Metadata {
    const kind = id.startsWith("cs_") ? "checkout.session" : "payment_intent";
    return actions.get(id, kind).metadata as Metadata;
  }

  async #collect(): Promise<void> {
    await lab.delivered();
    this.#events.push(...lab.inbox.splice(0));
  }

  #some(): EventRef[] {
    return this.#random.shuffled(this.#events).slice(0, this.#random.between(1, 6));
  }

  async #process(events: readonly EventRef[]): Promise<void> {
    await this.#collect();
    await Promise.all(events.map((event) => processEvent(lab.payments, event)));
  }
}

/** An account that may pay more in a day than a round does. */
async function wideAccount(): Promise<TestAccount> {
  const account = await lab.account();
  await lab.world.store.change(account.row, { contract: "enterprise" }, new Date());
  return account;
}

for (let round = 0; round < ROUNDS; round++) {
  const seed = (SEED + round) >>> 0;
  test(`no payment is lost, booked twice or somebody else's (PAYMENTS_SEED=${seed})`, async () => {
    const accounts: TestAccount[] = [];
    for (let count = 0; count < ACCOUNTS; count++) accounts.push(await wideAccount());
    const attack = new Attack(seed, accounts);
    for (let step = 0; step < STEPS; step++) await attack.step();
    const expectCredits = async () => {
      for (const account of accounts) {
        expect(await lab.credited(account)).toBe(attack.creditOf(account));
      }
    };
    await attack.end();
    await expectCredits();
    await rereadPayments(lab.payments);
    await expectCredits();
    for (const account of accounts) {
      await account.actor.applyOperations();
      await lab.world.flush();
      expect(await found(lab.world, account)).toBe("");
      expect((await account.actor.state()).wallet.free).toBe(usd("5"));
    }
  });
}
