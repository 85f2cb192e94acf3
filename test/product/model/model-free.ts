// The expected ends of free credit, in BigInt: the amount that ends at each time, and the amount
// that calls may use after an end.

import { DAY_MS } from "../../../src/core/durations.ts";
import { atLeastZero, least } from "./model-ledger.ts";

/** A grant, and the wallet's balance when the grant was applied. */
export interface ModelGrant {
  readonly amount: bigint;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
  readonly owned: bigint;
  readonly nowMs: number;
  /** The number of its ledger entry. */
  readonly seq: number;
}

/** The state of the wallet before a grant. */
export interface BeforeModelGrant {
  /** The amount held by calls that began at a time or later. */
  readonly heldSince: (atMs: number) => bigint;
  readonly freeSinceMs: number;
}

interface ModelEnd {
  readonly atMs: number;
  /** The credit that ends later, less the amount that calls which began after the end use. */
  later: bigint;
  /** The part of `later` that later lots took, and that a late settlement may bring back. */
  lowered: bigint;
  /** A call that began before this time brings back any amount. */
  readonly countedMs: number;
}

export interface ModelEnds {
  readonly lastMs: number;
  readonly earlier: readonly Readonly<Pick<ModelEnd, "atMs" | "later">>[];
}

const NOTHING = { lowered: 0n, countedMs: 0 };

export class ModelFree {
  lastMs = 0;
  #ends: ModelEnd[] = [];

  /** The ends before the last one. */
  get earlier(): readonly Readonly<ModelEnd>[] {
    return this.#ends;
  }

  /** Adds a lot. Returns a time: no call that began earlier gives back credit that has ended. */
  add(grant: ModelGrant, { heldSince, freeSinceMs }: BeforeModelGrant): number {
    const { amount, expiresAtMs, createdAtMs, owned, nowMs } = grant;
    const oldLastMs = this.lastMs;
    this.lastMs = oldLastMs === 0 ? expiresAtMs : Math.max(oldLastMs, expiresAtMs);
    if (oldLastMs > 0 && Math.min(nowMs, createdAtMs) >= oldLastMs) {
      const goesOn = owned > 0n && expiresAtMs > oldLastMs;
      this.#ends = goesOn ? [{ atMs: oldLastMs, later: amount, ...NOTHING }] : [];
      return nowMs;
    }
    if (oldLastMs === 0) return freeSinceMs;
    const wasKnown = this.passedMs(freeSinceMs) > 0;
    const isKept = ({ atMs }: ModelEnd) => Math.min(nowMs, createdAtMs) - atMs < DAY_MS;
    const passed = this.#ends.filter(({ atMs }) => atMs <= nowMs);
    const goOn = passed.map(({ atMs, later }) => atLeastZero(later + heldSince(atMs)));
    const most = least(owned, ...goOn);
    this.#ends = owned === 0n ? [] : this.#ends.filter(isKept);
    const isForgotten = wasKnown && this.passedMs(freeSinceMs) === 0;
    for (const end of this.#ends) if (end.atMs > nowMs) lower(end, most);
    const atMs = Math.max(expiresAtMs, nowMs + 1);
    const before = this.#ends.findLast((end) => end.atMs < atMs);
    const isFirst = before === undefined || before.atMs <= nowMs;
    const found = isFirst ? { later: most, lowered: 0n, countedMs: nowMs } : { ...before };
    for (const end of this.#ends) if (end.atMs < atMs) end.later += amount;
    if (expiresAtMs > oldLastMs) {
      this.#ends.push({ atMs: oldLastMs, later: amount, ...NOTHING });
    } else if (atMs < this.lastMs && this.#ends.every((end) => end.atMs !== atMs)) {
      this.#ends.push({ ...found, atMs });
      this.#ends.sort((a, b) => a.atMs - b.atMs);
    }
    return isForgotten ? 0 : freeSinceMs;
  }

  /** Gives back the amount of a late settlement, which lots added since the call did not find. */
  giveBack(admittedMs: number, returned: bigint): void {
    for (const end of this.#ends) {
      if (admittedMs >= end.atMs) continue;
      const lowered = least(returned, end.lowered);
      end.later += admittedMs < end.countedMs ? returned : lowered;
      end.lowered -= lowered;
    }
  }

  /** Takes the amount of a call, or gives it back if it is below 0. */
  use(admittedMs: number, taken: bigint): void {
    for (const end of this.#ends) if (admittedMs >= end.atMs) end.later -= taken;
  }

  /** The amount that the ends up to a time leave to calls; null if no earlier end has passed. */
  laterThan(timeMs: number): bigint | null {
    const over = this.#ends.filter(({ atMs }) => atMs <= timeMs).map(({ later }) => later);
    return over.length === 0 ? null : atLeastZero(least(...over));
  }

  /** The part of the available free credit that a call may use which begins now. */
  usable(available: bigint, nowMs: number): bigint {
    if (this.lastMs > 0 && nowMs >= this.lastMs) return 0n;
    return least(available, this.laterThan(nowMs) ?? available);
  }

  /** The newest of the earlier ends that is over; 0 without one. */
  passedMs(nowMs: number): number {
    return Math.max(0, ...this.#ends.map(({ atMs }) => (atMs <= nowMs ? atMs : 0)));
  }
}

function lower(end: ModelEnd, most: bigint): void {
  if (end.later <= most) return;
  end.lowered += end.later - most;
  end.later = most;
}
