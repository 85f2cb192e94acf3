// What a wallet must be, in BigInt and without Redis: a ledger, and holds on top of it.

import { deriveTier, LEASE_MS, type PlanName, type Tier } from "../../src/core/limits.ts";
import { nano } from "../../src/core/money.ts";

export interface ModelHold {
  readonly id: string;
  readonly key: number;
  readonly paid: bigint;
  readonly free: bigint;
  readonly month: string;
  readonly stream: boolean;
  readonly admittedMs: number;
  readonly cap: bigint;
  readonly budget: bigint | null;
  checkpoint: bigint;
  leaseMs: number;
}

export interface Ledger {
  paid: bigint;
  free: bigint;
  seq: number;
  credits: number;
  /** By month, and by month and key: `203103`, `203103:1`. */
  spent: Map<string, bigint>;
}

export interface ModelCredit {
  readonly number: number;
  readonly purse: "paid" | "free";
  readonly amount: bigint;
  readonly expiresAtMs: number | null;
}

export interface ModelTerms {
  readonly plan: PlanName | null;
  /** What the Free plan grants a month. */
  readonly allowance: bigint;
  readonly netPaid: bigint;
  readonly firstPaymentAtMs: number | null;
  readonly ownCap: bigint | null;
  readonly budgets: readonly (bigint | null)[];
  readonly credits: readonly ModelCredit[];
}

export interface ModelCall {
  readonly id: string;
  readonly key: number;
  readonly bound: bigint;
  readonly freeEligible: boolean;
  readonly stream: boolean;
  readonly tentative: boolean;
  /** A refusal known before Redis is asked, and whether it outranks the window. */
  readonly refusal: { readonly code: string; readonly first: boolean } | null;
}

export interface ModelAnswer {
  readonly verdict: string;
  readonly paid?: bigint;
  readonly free?: bigint;
  readonly spendable?: bigint;
  readonly remaining?: number;
}

interface Tombstone {
  readonly charged: bigint;
  readonly chargedFree: bigint;
  readonly hold: ModelHold;
}

interface Charge {
  readonly charged: bigint;
  readonly free: bigint;
  readonly left: bigint | null;
}

const SECONDS = 61;
const least = (...amounts: bigint[]) => amounts.reduce((a, b) => (a < b ? a : b));
const atLeastZero = (amount: bigint) => (amount > 0n ? amount : 0n);
const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7).replace("-", "");

/** Counts whole seconds; what is counted leaves after 61 of them. */
export class ModelWindow {
  counted: number[] = [];
  last = 0;
  /** Passed requests in a time that never goes back, for the check of any 60 s. */
  passed: number[] = [];

  /** The requests that count at `nowMs`; a far jump back makes all of them count as of now. */
  total(nowMs: number): number {
    if (this.#second(nowMs) < this.last - SECONDS) {
      this.last = this.#second(nowMs);
      this.counted = this.counted.map(() => this.last);
      this.passed = this.passed.map(() => nowMs);
    }
    const second = Math.max(this.#second(nowMs), this.last);
    return this.counted.filter((one) => one > second - SECONDS).length;
  }

  count(nowMs: number): void {
    const second = Math.max(this.#second(nowMs), this.last);
    this.counted = this.counted.filter((one) => one > second - SECONDS);
    this.counted.push(second);
    this.last = second;
    this.passed.push(Math.max(nowMs, this.passed.at(-1) ?? 0));
  }

  /** The most that the last 60 s hold. */
  get busiest(): number {
    const end = this.passed.at(-1) ?? 0;
    return this.passed.filter((time) => time > end - 60_000).length;
  }

  #second(nowMs: number): number {
    return Math.floor(nowMs / 1000);
  }
}

function copyOf(ledger: Ledger): Ledger {
  return { ...ledger, spent: new Map(ledger.spent) };
}

export class WalletModel {
  /** What Redis says was booked; the balances include what is held. */
  ledger: Ledger = { paid: 0n, free: 0n, seq: 0, credits: 0, spent: new Map() };
  /** What Postgres has of it. */
  repository: Ledger = copyOf(this.ledger);
  /** Whether Redis has the wallet. */
  here = false;
  freeExpiresMs = 0;
  usedMs = 0;
  /** The credits that there will be, as far as is known. */
  readonly credits: ModelCredit[];
  /** How many of them are committed in Postgres. */
  visible: number;
  /** The last month whose allowance was granted. */
  allowanceMonth = "";
  /**
   * When the free credit began that is in the balance; what is older and held does not come
   * back.
   */
  freeSinceMs = 0;
  readonly holds = new Map<string, ModelHold>();
  /** Every call that was admitted and whose owner lives, whatever became of its hold. */
  readonly calls = new Map<string, ModelHold>();
  readonly windows = [new ModelWindow(), new ModelWindow()];
  accountWindow = new ModelWindow();
  readonly #tombstones = new Map<string, Tombstone>();
  readonly #answers = new Map<string, Charge>();

  constructor(
    readonly terms: ModelTerms,
    readonly now: () => number,
  ) {
    this.credits = [...terms.credits];
    this.visible = Math.min(1, this.credits.length);
  }

  get heldPaid(): bigint {
    return this.#sum((hold) => hold.paid);
  }

  get heldFree(): bigint {
    return this.#sum((hold) => hold.free);
  }

  get streams(): number {
    return [...this.holds.values()].filter((hold) => hold.stream).length;
  }

  held(month: string, key: number | null): bigint {
    return this.#sum((hold) => {
      const counts = hold.month === month && (key === null || hold.key === key);
      return counts ? hold.paid + hold.free : 0n;
    });
  }

  spent(month: string, key: number | null): bigint {
    return this.ledger.spent.get(key === null ? month : `${month}:${key}`) ?? 0n;
  }

  tier(nowMs: number): Tier {
    const { plan, netPaid, firstPaymentAtMs } = this.terms;
    const inputs = { plan, netPaid: nano(netPaid), firstPaymentAtMs, contract: null };
    return deriveTier(inputs, nowMs);
  }

  /** Redis is asked for the wallet: it is built where it is not there. */
  touch(): void {
    if (this.here) return;
    this.here = true;
    this.usedMs = 0;
    this.freeExpiresMs = 0;
    this.freeSinceMs = 0;
    for (const credit of this.credits.slice(0, this.ledger.credits)) this.#extendFree(credit);
    this.applyCredits();
  }

  applyCredits(): void {
    this.touch();
    for (const credit of this.credits.slice(this.ledger.credits, this.visible)) {
      if (credit.purse === "free" && this.#freeIsOver(this.now())) {
        this.expireFree(this.now());
        this.freeSinceMs = this.now();
      }
      this.#extendFree(credit);
      this.ledger.credits = credit.number;
      if (credit.purse === "paid") this.#enter(credit.amount, 0n);
      else this.#enter(0n, credit.amount);
    }
  }

  /** The Free plan's allowance, once a month. */
  grant(nowMs: number): void {
    const month = monthOf(nowMs);
    if (this.terms.plan !== "free" || this.allowanceMonth >= month) return;
    const now = new Date(nowMs);
    this.allowanceMonth = month;
    this.visible = this.credits.push({
      number: this.credits.length + 1,
      purse: "free",
      amount: this.terms.allowance,
      expiresAtMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1),
    });
    this.applyCredits();
  }

  admit(call: ModelCall, nowMs: number): ModelAnswer {
    this.touch();
    this.grant(nowMs);
    const tier = this.tier(nowMs);
    const window = this.windows[call.key] ?? new ModelWindow();
    const all = tier.accountRequestsPerMinute ?? Number.POSITIVE_INFINITY;
    const count = () => {
      window.count(nowMs);
      this.accountWindow.count(nowMs);
    };
    const remainingNow = () =>
      Math.max(
        0,
        Math.min(
          tier.requestsPerMinute - window.total(nowMs),
          all - this.accountWindow.total(nowMs),
        ),
      );
    const cap = this.cap(nowMs);
    const budget = this.terms.budgets[call.key] ?? null;
    const month = monthOf(nowMs);
    const paid = this.ledger.paid - this.heldPaid;
    const free = call.freeEligible && !this.#freeIsOver(nowMs) ? this.freeAvailable : 0n;
    const capRoom = cap - this.spent(month, null) - this.held(month, null);
    const budgetRoom =
      budget === null
        ? paid + free
        : budget - this.spent(month, call.key) - this.held(month, call.key);
    const isFull = remainingNow() === 0;
    const spendable = atLeastZero(least(paid + free, capRoom, budgetRoom));
    const money = (): string | null => {
      if (call.bound > 0n && budget !== null && call.bound > budgetRoom)
        return "key_budget_exceeded";
      if (call.bound > 0n && call.bound > capRoom) return "monthly_limit_reached";
      return call.bound > paid + free ? "insufficient_credits" : null;
    };
    const streams = () => (call.stream && this.streams >= tier.streams ? "too_many_streams" : null);
    const outranking = call.refusal?.first ? call.refusal.code : null;
    const known = call.refusal?.code ?? null;
    const before = outranking ?? (isFull ? "rate_limit_exceeded" : known);
    const short = before === null ? money() : null;
    if (short !== null && call.tentative) {
      count();
      return { verdict: "short", spendable };
    }
    const code = before ?? short ?? streams();
    if (code !== null) {
      if (!isFull) count();
      const remaining = remainingNow();
      return { verdict: code, remaining, ...(short === null ? {} : { spendable }) };
    }
    const fromFree = least(call.bound, free);
    const hold: ModelHold = {
      ...{ id: call.id, key: call.key, stream: call.stream, month, cap, budget },
      ...{ paid: call.bound - fromFree, free: fromFree, admittedMs: nowMs, checkpoint: 0n },
      leaseMs: nowMs + LEASE_MS,
    };
    this.holds.set(call.id, hold);
    this.calls.set(call.id, hold);
    count();
    this.usedMs = nowMs;
    this.expireFree(nowMs);
    return { verdict: "admitted", paid: hold.paid, free: hold.free, remaining: remainingNow() };
  }

  cap(nowMs: number): bigint {
    const { monthlyCap } = this.tier(nowMs);
    return this.terms.ownCap === null ? monthlyCap : least(monthlyCap, this.terms.ownCap);
  }

  /** What is neither spent nor held. */
  get left(): bigint {
    return this.ledger.paid - this.heldPaid + this.freeAvailable;
  }

  /** The same as a late settlement sees it, which does not bring a wallet back. */
  get leftHere(): bigint | null {
    return this.here ? this.left : null;
  }

  get freeAvailable(): bigint {
    return this.ledger.free - this.heldFree;
  }

  settle(call: ModelHold, cost: bigint, nowMs: number): Charge {
    this.calls.delete(call.id);
    const done = this.#answers.get(call.id);
    if (done !== undefined) return done;
    const answer = this.holds.has(call.id)
      ? this.#resolve(call, cost)
      : this.#late(call, cost, nowMs);
    this.#answers.set(call.id, answer);
    return answer;
  }

  /** The sweep of every hold whose lease is over; the ids that it resolves. */
  sweep(nowMs: number): string[] {
    const over = [...this.holds.values()].filter((hold) => hold.leaseMs <= nowMs);
    for (const hold of over) {
      const { charged, free } = this.#resolve(hold, hold.checkpoint);
      this.#tombstones.set(hold.id, { charged, chargedFree: free, hold });
    }
    return over.map((hold) => hold.id);
  }

  /** A renewal of these calls; the ids of those that have no hold any more. */
  renew(streamed: ReadonlyMap<string, bigint>, nowMs: number): string[] {
    const lost: string[] = [];
    for (const [id, cost] of streamed) {
      const hold = this.holds.get(id);
      if (hold === undefined) {
        lost.push(id);
        continue;
      }
      const checkpoint = least(cost, hold.paid + hold.free);
      if (checkpoint > hold.checkpoint) hold.checkpoint = checkpoint;
      hold.leaseMs = nowMs + LEASE_MS;
    }
    return lost;
  }

  expireFree(nowMs: number): void {
    const free = this.freeAvailable;
    if (free > 0n && this.#freeIsOver(nowMs)) this.#enter(0n, -free);
  }

  flush(): void {
    this.repository = copyOf(this.ledger);
  }

  /** Whether an eviction finds the wallet idle and wholly booked. */
  evict(nowMs: number): boolean {
    const goes =
      this.holds.size === 0 && this.repository.seq === this.ledger.seq && nowMs >= this.usedMs;
    if (goes) this.here = false;
    return goes;
  }

  /** Redis is put back to the ledger: holds are void, and what was swept is. */
  rebuild(): void {
    this.ledger = copyOf(this.repository);
    this.here = false;
    this.holds.clear();
    this.#tombstones.clear();
  }

  /** Redis lost the bucket: even what it answered before is forgotten. */
  lose(): void {
    this.rebuild();
    this.#answers.clear();
    for (const [index] of this.windows.entries()) this.windows[index] = new ModelWindow();
    this.accountWindow = new ModelWindow();
  }

  #resolve(hold: ModelHold, cost: bigint): Charge {
    const charged = least(cost, hold.paid + hold.free);
    const free = least(charged, hold.free);
    this.holds.delete(hold.id);
    this.#charge(hold, charged, free);
    const lapsed = hold.admittedMs < this.freeSinceMs ? hold.free - free : 0n;
    if (lapsed > 0n) this.#enter(0n, -lapsed);
    return { charged, free, left: this.left };
  }

  #late(call: ModelHold, cost: bigint, nowMs: number): Charge {
    this.touch();
    const tombstone = this.#tombstones.get(call.id);
    if (tombstone === undefined) return { charged: 0n, free: 0n, left: this.leftHere };
    const { hold } = tombstone;
    const owed = least(cost, hold.paid + hold.free) - tombstone.charged;
    const so = { charged: tombstone.charged, free: tombstone.chargedFree };
    if (owed === 0n) return { ...so, left: this.leftHere };
    if (owed < 0n) {
      const paidBack = least(-owed, so.charged - so.free);
      const freeBack = -owed - paidBack;
      this.#charge(hold, owed, -freeBack);
      return { charged: so.charged + owed, free: so.free - freeBack, left: this.left };
    }
    const { month, cap, budget, key } = hold;
    const capRoom = cap - this.spent(month, null) - this.held(month, null);
    const keyRoom =
      budget === null ? owed : budget - this.spent(month, key) - this.held(month, key);
    const room = atLeastZero(least(owed, capRoom, keyRoom));
    const usable = this.#freeIsOver(nowMs) ? 0n : this.freeAvailable;
    const free = least(room, usable, hold.free - tombstone.chargedFree);
    const paid = least(room - free, this.ledger.paid - this.heldPaid);
    this.#charge(hold, free + paid, free);
    return { charged: so.charged + free + paid, free: so.free + free, left: this.left };
  }

  #charge(hold: ModelHold, charged: bigint, free: bigint): void {
    if (charged === 0n) return;
    this.#enter(free - charged, -free);
    for (const field of [hold.month, `${hold.month}:${hold.key}`]) {
      this.ledger.spent.set(field, (this.ledger.spent.get(field) ?? 0n) + charged);
    }
  }

  #enter(paid: bigint, free: bigint): void {
    this.ledger.paid += paid;
    this.ledger.free += free;
    this.ledger.seq += 1;
  }

  #extendFree(credit: ModelCredit): void {
    if (credit.purse === "free" && credit.expiresAtMs !== null) {
      this.freeExpiresMs = Math.max(this.freeExpiresMs, credit.expiresAtMs);
    }
  }

  #freeIsOver(nowMs: number): boolean {
    return this.freeExpiresMs > 0 && nowMs >= this.freeExpiresMs;
  }

  #sum(pick: (hold: ModelHold) => bigint): bigint {
    return [...this.holds.values()].reduce((sum, hold) => sum + pick(hold), 0n);
  }
}
