// The expected wallet, in BigInt and without Redis: a ledger, and holds on top of it.

import { deriveTier, LEASE_MS, type Tier } from "../../../src/core/access/limits.ts";
import type { JournalType, Operation } from "../../../src/core/journal/journal.ts";
import { nano } from "../../../src/core/money/money.ts";
import { monthBefore, monthOf } from "../../../src/core/money/months.ts";
import { ModelFree, type ModelGrant } from "./model-free.ts";
import { atLeastZero, least, ModelLedger } from "./model-ledger.ts";
import type {
  Charge,
  ModelAnswer,
  ModelCall,
  ModelEvent,
  ModelHold,
  ModelTerms,
  NewOperation,
  Tombstone,
} from "./model-types.ts";
import { ModelWindow } from "./model-window.ts";

const NO_MONEY = { held: 0n, writtenOff: 0n, overrun: 0n };

export class WalletModel {
  /** The ledger as Redis has written it; its balances include held amounts. */
  ledger = new ModelLedger();
  /** The part that Postgres has. */
  repository = new ModelLedger();
  /** True if the wallet is in Redis. */
  here = false;
  isSuspended = false;
  usedMs = 0;
  /** The latest month that the wallet counts; it keeps this one and the one before. */
  month = 0;
  /**
   * The latest month that each key counts. A key that is not used keeps its months when the wallet
   * goes on to later ones, and a refused call may move only its key. The inspector reads them in
   * Redis.
   */
  readonly keyMonths = [0, 0];
  /** Every operation that is committed in Postgres. */
  readonly operations: Operation[];
  /** The last month whose allowance was granted. */
  allowanceMonth = 0;
  /** A hold from before returns none of its free part that has ended since. */
  freeSinceMs = 0;
  /** The grants that were applied, by their numbers: the wallet is built from them again. */
  readonly #grants = new Map<number, ModelGrant>();
  /** The free credit that late settlements gave back. */
  #returns: { readonly seq: number; readonly admittedMs: number; readonly returned: bigint }[] = [];
  readonly holds = new Map<string, ModelHold>();
  free = new ModelFree();
  /** Holds of an older epoch that Redis still lists: they keep the lease of their process. */
  readonly #void = new Map<string, ModelHold>();
  /** The end of each process's lease. */
  readonly leases = new Map<string, number>();
  /** Every admitted call whose owner is alive, whatever became of its hold. */
  readonly calls = new Map<string, ModelHold>();
  readonly windows = [new ModelWindow(), new ModelWindow()];
  accountWindow = new ModelWindow();
  /** Journal entries that are not compared yet. */
  events: ModelEvent[] = [];
  readonly #tombstones = new Map<string, Tombstone>();
  readonly #answers = new Map<string, Charge>();

  constructor(
    readonly terms: ModelTerms,
    readonly now: () => number,
  ) {
    this.operations = [...terms.operations];
  }

  get heldPaid(): bigint {
    return this.#sum((hold) => hold.paid);
  }

  get heldFree(): bigint {
    return this.#sum((hold) => hold.free);
  }

  get paidAvailable(): bigint {
    return this.ledger.paid - this.heldPaid;
  }

  get freeAvailable(): bigint {
    return this.ledger.free - this.heldFree;
  }

  /** The credit that is neither spent nor held. */
  get left(): bigint {
    return this.paidAvailable + this.freeAvailable;
  }

  get streams(): number {
    return [...this.holds.values()].filter((hold) => hold.stream).length;
  }

  get openCalls(): number {
    return [...this.holds.values()].filter((hold) => hold.deadlineMs === null).length;
  }

  held(month: number, key: number | null): bigint {
    return this.#sum((hold) => {
      const counts = hold.month === month && (key === null || hold.key === key);
      return counts ? hold.paid + hold.free : 0n;
    });
  }

  spent(month: number, key: number | null): bigint {
    return this.ledger.spentIn(month, key);
  }

  /** The spent and held amounts of a month, if the wallet or the key still counts that month. */
  used(month: number, key: number | null): bigint {
    const latest = key === null ? this.month : (this.keyMonths[key] ?? this.month);
    const isCounted = month >= monthBefore(latest);
    return isCounted ? this.spent(month, key) + this.held(month, key) : 0n;
  }

  /** The time when a hold may be swept; null if its owner has no lease. */
  endOf({ owner, deadlineMs }: ModelHold): number | null {
    return deadlineMs ?? this.leases.get(owner) ?? null;
  }

  tier(nowMs: number): Tier {
    const { plan, netPaid, firstPaymentAtMs } = this.terms;
    const inputs = { plan, netPaid: nano(netPaid), firstPaymentAtMs, contract: null };
    return deriveTier(inputs, nowMs);
  }

  cap(nowMs: number): bigint {
    const { monthlyCap } = this.tier(nowMs);
    return this.terms.ownCap === null ? monthlyCap : least(monthlyCap, this.terms.ownCap);
  }

  /** The wallet is used, and hydrated first if it is missing. */
  touch(): void {
    if (this.here) return;
    this.here = true;
    // If the clock went back, the months that Postgres knows still count.
    const months = [...this.ledger.spent.keys()].map((field) => Number(field.slice(0, 6)));
    this.month = Math.max(monthOf(this.now()), ...months);
    this.keyMonths.fill(this.month);
    this.usedMs = 0;
    this.free = new ModelFree();
    this.freeSinceMs = 0;
    const before = { heldSince: () => 0n, freeSinceMs: 0 };
    const applied = this.operations.slice(0, this.ledger.operations);
    const grants = applied.flatMap(({ number }) => this.#grants.get(number) ?? []);
    for (const past of [...grants, ...this.#returns].sort((a, b) => a.seq - b.seq)) {
      if ("returned" in past) this.free.giveBack(past.admittedMs, past.returned);
      else this.free.add(past, before);
    }
    // The held amounts are available again; they first pay the debt.
    this.#repay();
    this.#applyCommitted();
  }

  /** Commits operations in Postgres, before Redis knows them. */
  commit(operations: readonly NewOperation[], createdAtMs: number): Operation[] {
    const numbered = operations.map((operation, index) => ({
      ...operation,
      createdAtMs,
      number: this.operations.length + index + 1,
    }));
    this.operations.push(...numbered);
    return numbered;
  }

  applyOperations(): void {
    this.touch();
    this.#applyCommitted();
  }

  /** Grants the allowance of the Free plan, once a month. */
  grant(nowMs: number): void {
    const month = monthOf(nowMs);
    if (this.terms.plan !== "free" || this.isSuspended || this.allowanceMonth >= month) return;
    const now = new Date(nowMs);
    this.allowanceMonth = month;
    const expiresAtMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const { allowance: amount } = this.terms;
    this.commit([{ kind: "credit", balance: "free", amount, expiresAtMs }], nowMs);
    this.applyOperations();
  }

  admit(call: ModelCall, nowMs: number): ModelAnswer {
    this.touch();
    this.grant(nowMs);
    const tier = this.tier(nowMs);
    const window = this.windows[call.key] ?? new ModelWindow();
    const all = tier.accountRequestsPerMinute ?? Number.POSITIVE_INFINITY;
    const count = () => {
      if (call.isCounted) return;
      window.count(nowMs);
      this.accountWindow.count(nowMs);
    };
    const remainingNow = () => {
      const key = tier.requestsPerMinute - window.total(nowMs);
      return Math.max(0, Math.min(key, all - this.accountWindow.total(nowMs)));
    };
    const isFull = !call.isCounted && remainingNow() === 0;
    const funds = this.#funds(call, nowMs);
    const known = call.refusal?.code ?? null;
    const before = this.#outranking(call) ?? (isFull ? "rate_limit_exceeded" : known);
    const short = before === null ? funds.refusal : null;
    if (before === null && (call.isAhead || (short !== null && call.tentative))) {
      count();
      return { verdict: "short", spendable: funds.spendable };
    }
    const hasNoSlot = call.stream && this.streams >= tier.streams;
    const code = before ?? short ?? (hasNoSlot ? "too_many_streams" : this.#tooMany(call, tier));
    if (code !== null) {
      if (!isFull) count();
      const { spendable } = funds;
      return { verdict: code, remaining: remainingNow(), ...(short === null ? {} : { spendable }) };
    }
    const hold = this.#take(call, funds.free, nowMs);
    count();
    return { verdict: "admitted", paid: hold.paid, free: hold.free, remaining: remainingNow() };
  }

  settle(call: ModelHold, cost: bigint, nowMs: number): Charge {
    this.calls.delete(call.id);
    this.#void.delete(call.id);
    const done = this.#answers.get(call.id);
    if (done !== undefined) return done;
    const answer = this.holds.has(call.id)
      ? this.#resolve(call, cost, "call")
      : this.#late(call, cost, nowMs);
    this.#answers.set(call.id, answer);
    return answer;
  }

  /** The holds whose lease or deadline has ended. */
  ended(nowMs: number): string[] {
    const over = [...this.holds.values()].filter((hold) => (this.endOf(hold) ?? 0) <= nowMs);
    return over.map(({ id }) => id);
  }

  /** Sweeps every hold whose time has ended, in the order in which Redis lists them. */
  sweep(nowMs: number, order = this.ended(nowMs)): void {
    for (const id of order) {
      const hold = this.holds.get(id);
      if (hold === undefined) continue;
      const { charged, free } = this.#resolve(hold, hold.checkpoint, "expired");
      this.#tombstones.set(hold.id, { charged, chargedFree: free, hold });
    }
    for (const [id, hold] of this.#void)
      if ((this.endOf(hold) ?? 0) <= nowMs) this.#void.delete(id);
    this.forgetOwners(nowMs);
  }

  /** Renews a lease with the checkpoints of its streams. Returns the ids that have no hold. */
  renew(owner: string, streamed: ReadonlyMap<string, bigint>, nowMs: number): string[] {
    const lost: string[] = [];
    for (const [id, cost] of streamed) {
      const hold = this.holds.get(id);
      if (hold === undefined) {
        lost.push(id);
        continue;
      }
      const checkpoint = least(cost, hold.paid + hold.free);
      if (checkpoint > hold.checkpoint) hold.checkpoint = checkpoint;
    }
    if (this.leases.has(owner)) this.leases.set(owner, nowMs + LEASE_MS);
    return lost;
  }

  /** Removes the leases of processes that are gone and have no hold left. */
  forgetOwners(nowMs: number): void {
    const listed = [...this.holds.values(), ...this.#void.values()];
    const owners = new Set(listed.map(({ owner }) => owner));
    for (const [owner, endMs] of this.leases) {
      if (endMs <= nowMs && !owners.has(owner)) this.leases.delete(owner);
    }
  }

  /** Extends the deadlines of holds that belong to no process. */
  extend(nowMs: number, forMs: number): void {
    for (const hold of this.holds.values()) {
      if (hold.deadlineMs !== null) hold.deadlineMs = nowMs + forMs;
    }
  }

  expireFree(nowMs: number): void {
    const gone = this.freeAvailable - this.free.usable(this.freeAvailable, nowMs);
    this.freeSinceMs = Math.max(this.freeSinceMs, this.free.passedMs(nowMs));
    this.#endFree(gone);
  }

  flush(): void {
    this.repository = this.ledger.copy();
  }

  /** Evicts the wallet if it is idle and Postgres has all of it; true if it did. */
  evict(nowMs: number): boolean {
    const goes =
      this.holds.size === 0 && this.repository.seq === this.ledger.seq && nowMs >= this.usedMs;
    if (goes) this.here = false;
    return goes;
  }

  /** An evicted wallet, even a void one, takes along the windows of keys that count nothing. */
  forgetWindows(nowMs: number): void {
    for (const [key, window] of this.windows.entries()) {
      window.moveTo(nowMs);
      if (window.slots.length === 0) this.windows[key] = new ModelWindow();
    }
  }

  /** Rebuilds the wallet from Postgres. Holds and results of sweeps are void; leases stay. */
  rebuild(): void {
    this.ledger = this.repository.copy();
    this.#returns = this.#returns.filter(({ seq }) => seq <= this.ledger.seq);
    this.here = false;
    this.events = [];
    for (const [id, hold] of this.holds) this.#void.set(id, hold);
    this.holds.clear();
    this.#tombstones.clear();
  }

  /** Redis has lost the bucket, including its stored replies. */
  lose(): void {
    this.rebuild();
    this.#void.clear();
    this.leases.clear();
    this.#answers.clear();
    for (const [index] of this.windows.entries()) this.windows[index] = new ModelWindow();
    this.accountWindow = new ModelWindow();
  }

  /** The code that refuses a call before its window is checked. */
  #outranking({ refusal }: ModelCall): string | null {
    if (this.isSuspended) return "account_inactive";
    if (this.ledger.owed > 0n) return "payment_required";
    return refusal?.first ? refusal.code : null;
  }

  #tooMany({ deadlineMs, stream }: ModelCall, tier: Tier): string | null {
    if (deadlineMs !== null || this.openCalls < tier.openCalls) return null;
    return stream ? "too_many_streams" : "rate_limit_exceeded";
  }

  /** The most that a call may hold, and the code that refuses it if that is too little. */
  #funds(call: ModelCall, nowMs: number) {
    const { bound, key } = call;
    const month = this.#monthAt(nowMs);
    const free = call.freeEligible ? this.free.usable(this.freeAvailable, nowMs) : 0n;
    const money = this.paidAvailable + free;
    const room = this.#room(month, null, this.cap(nowMs));
    const budget = this.terms.budgets[key] ?? null;
    const budgetRoom = budget === null ? null : this.#room(month, key, budget);
    let refusal: string | null = null;
    if (bound > money) refusal = "insufficient_credits";
    if (bound > 0n && bound > room) refusal = "monthly_limit_reached";
    if (bound > 0n && budgetRoom !== null && bound > budgetRoom) refusal = "key_budget_exceeded";
    return { free, refusal, spendable: atLeastZero(least(money, room, budgetRoom ?? money)) };
  }

  /** If the clock went back by months, the last month seen counts. */
  #monthAt(nowMs: number): number {
    const month = monthOf(nowMs);
    return month < monthBefore(this.month) ? this.month : month;
  }

  /** The rest of a limit on the month's spending; open holds count as spent. */
  #room(month: number, key: number | null, limit: bigint): bigint {
    return limit - this.used(month, key);
  }

  #take(call: ModelCall, usableFree: bigint, nowMs: number): ModelHold {
    const free = least(call.bound, usableFree);
    const month = this.#monthAt(nowMs);
    this.month = Math.max(this.month, month);
    const hold: ModelHold = {
      id: call.id,
      key: call.key,
      stream: call.stream,
      owner: call.owner,
      paid: call.bound - free,
      free,
      admittedMs: nowMs,
      checkpoint: 0n,
      deadlineMs: call.deadlineMs === null ? null : nowMs + call.deadlineMs,
      month,
      cap: this.cap(nowMs),
      budget: this.terms.budgets[call.key] ?? null,
    };
    this.free.use(nowMs, free);
    this.holds.set(call.id, hold);
    this.calls.set(call.id, hold);
    if (call.deadlineMs === null) this.#keepLease(call.owner, nowMs);
    this.usedMs = nowMs;
    return hold;
  }

  /** The first admission of a process in a bucket makes its lease; later ones extend it. */
  #keepLease(owner: string, nowMs: number): void {
    if ((this.leases.get(owner) ?? 0) >= nowMs + LEASE_MS / 2) return;
    this.leases.set(owner, nowMs + LEASE_MS);
  }

  #applyCommitted(): void {
    for (const operation of this.operations.slice(this.ledger.operations)) {
      if (operation.balance === "paid") {
        this.ledger.apply(operation, this.paidAvailable);
      } else {
        const { amount, number, createdAtMs, expiresAtMs } = operation;
        const nowMs = this.now();
        this.expireFree(Math.min(nowMs, createdAtMs));
        const [owned, seq] = [this.ledger.free, this.ledger.seq + 1];
        const grant = { amount, createdAtMs, expiresAtMs: expiresAtMs ?? 0, owned, nowMs, seq };
        this.#grants.set(number, grant);
        const heldSince = (atMs: number) =>
          this.#sum(({ admittedMs, free }) => (admittedMs >= atMs ? free : 0n));
        this.freeSinceMs = this.free.add(grant, { heldSince, freeSinceMs: this.freeSinceMs });
        this.ledger.operations = number;
        this.ledger.enter({ kind: "credit", free: amount, operation: number });
      }
      this.#emit("operation", null, NO_MONEY);
      this.#repay();
    }
  }

  #resolve(hold: ModelHold, cost: bigint, type: "call" | "expired"): Charge {
    const held = hold.paid + hold.free;
    const charged = least(cost, held);
    const free = least(charged, hold.free);
    this.holds.delete(hold.id);
    this.free.use(hold.admittedMs, free - hold.free);
    const overrun = cost - charged;
    this.#charge("charge", hold, charged, free);
    this.#emit(type, hold.id, { held, writtenOff: 0n, overrun }, charged !== 0n);
    this.#repay(hold.id);
    this.#dropLapsed(hold, hold.free - free);
    return { charged, free, left: this.left, ownedPaid: this.ledger.paid };
  }

  #late(call: ModelHold, cost: bigint, nowMs: number): Charge {
    this.touch();
    const tombstone = this.#tombstones.get(call.id);
    if (tombstone === undefined) {
      this.#emit("call", call.id, { ...NO_MONEY, writtenOff: cost }, false);
      return { charged: 0n, free: 0n, left: this.left, ownedPaid: this.ledger.paid };
    }
    const { hold, charged, chargedFree } = tombstone;
    const missing = least(cost, hold.paid + hold.free) - charged;
    const taken =
      missing < 0n
        ? this.#giveBack(tombstone, -missing)
        : this.#takeLate(tombstone, missing, nowMs);
    const total = taken.paid + taken.free;
    this.free.use(hold.admittedMs, taken.free);
    if (taken.free < 0n) {
      const [seq, returned] = [this.ledger.seq + 1, -taken.free];
      this.free.giveBack(hold.admittedMs, returned);
      this.#returns.push({ seq, admittedMs: hold.admittedMs, returned });
    }
    this.#charge("late_charge", hold, total, taken.free);
    const writtenOff = atLeastZero(cost - charged - total);
    const held = hold.paid + hold.free;
    this.#emit("late", hold.id, { held, writtenOff, overrun: 0n }, total !== 0n);
    // Only one repayment may carry the id of a call: that of the sweep.
    this.#repay();
    this.#dropLapsed(hold, -taken.free);
    return {
      charged: charged + total,
      free: chargedFree + taken.free,
      left: this.left,
      ownedPaid: this.ledger.paid,
    };
  }

  /** The most that a late settlement takes: the available balance, within cap and budget. */
  #takeLate({ hold, chargedFree }: Tombstone, missing: bigint, nowMs: number) {
    const { month, cap, budget, key } = hold;
    const keyRoom = budget === null ? missing : this.#room(month, key, budget);
    const room = atLeastZero(least(missing, this.#room(month, null, cap), keyRoom));
    const usable = this.free.usable(this.freeAvailable, nowMs);
    const free = least(room, usable, hold.free - chargedFree);
    return { free, paid: least(room - free, this.paidAvailable) };
  }

  /** Returns the amount that the sweep charged above the cost of the call, paid credit first. */
  #giveBack({ charged, chargedFree }: Tombstone, surplus: bigint) {
    const paid = least(surplus, charged - chargedFree);
    return { paid: -paid, free: paid - surplus };
  }

  #charge(kind: "charge" | "late_charge", hold: ModelHold, charged: bigint, free: bigint): void {
    if (charged === 0n) return;
    const { month, key, id } = hold;
    this.month = Math.max(this.month, month);
    this.ledger.enter({ kind, paid: free - charged, free: -free, month, request: id });
    this.ledger.spend(month, key, charged);
  }

  #repay(request?: string): void {
    const { seq } = this.ledger;
    this.ledger.repay(this.paidAvailable, request);
    if (this.ledger.seq > seq) this.#emit("repayment", request ?? null, NO_MONEY);
  }

  /** A call from before an end gives back no credit that ended. */
  #dropLapsed({ admittedMs }: ModelHold, returned: bigint): void {
    if (returned <= 0n || admittedMs >= this.freeSinceMs) return;
    const later = this.free.laterThan(this.freeSinceMs);
    this.#endFree(later === null ? returned : this.freeAvailable - later);
  }

  #endFree(free: bigint): void {
    if (free <= 0n) return;
    this.ledger.enter({ kind: "free_expired", free: -free });
    this.#emit("free_expired", null, NO_MONEY);
  }

  #emit(
    type: JournalType,
    request: string | null,
    money: Pick<ModelEvent, "held" | "writtenOff" | "overrun">,
    hasRow = true,
  ): void {
    const row = hasRow ? (this.ledger.rows.at(-1) ?? null) : null;
    this.events.push({ type, request, row, ...money });
  }

  #sum(pick: (hold: ModelHold) => bigint): bigint {
    return [...this.holds.values()].reduce((sum, hold) => sum + pick(hold), 0n);
  }
}
