// The expected ends of free credit, in BigInt: what ends when, and what calls may use after it.

import { DAY_MS } from "../../../src/core/durations.ts";
import { atLeastZero, least } from "./model-ledger.ts";

/** A grant, and the wallet's balance when the grant was applied. */
export interface ModelGrant {
  readonly amount: bigint;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
  readonly owned: bigint;
  readonly nowMs: number;
}

interface ModelEnd {
  readonly atMs: number;
  /** The credit that ends later, less the amount that calls which began after the end use. */
  later: bigint;
}

export class ModelFree {
  lastMs = 0;
  #ends: ModelEnd[] = [];

  /** The ends before the last one. */
  get earlier(): readonly Readonly<ModelEnd>[] {
    return this.#ends;
  }

  /** True if all free credit has ended by both clocks when a grant comes. */
  isReplacedBy({ createdAtMs, nowMs }: Pick<ModelGrant, "createdAtMs" | "nowMs">): boolean {
    return this.lastMs > 0 && Math.min(nowMs, createdAtMs) >= this.lastMs;
  }

  add(grant: ModelGrant): void {
    const { amount, expiresAtMs, owned, nowMs } = grant;
    if (this.isReplacedBy(grant)) {
      this.lastMs = Math.max(this.lastMs, expiresAtMs);
      this.#ends = [];
      return;
    }
    if (owned === 0n || this.lastMs === 0) {
      this.lastMs = expiresAtMs;
      this.#ends = [];
      return;
    }
    this.#ends = this.#ends.filter(({ atMs }) => nowMs - atMs < DAY_MS);
    for (const end of this.#ends) if (end.atMs > nowMs) end.later = least(end.later, owned);
    const [oldLastMs, atMs] = [this.lastMs, Math.max(expiresAtMs, nowMs + 1)];
    this.lastMs = Math.max(oldLastMs, expiresAtMs);
    const before = this.#ends.findLast((end) => end.atMs < atMs);
    const later = before === undefined || before.atMs <= nowMs ? owned : before.later;
    for (const end of this.#ends) if (end.atMs < atMs) end.later += amount;
    if (expiresAtMs > oldLastMs) {
      this.#ends.push({ atMs: oldLastMs, later: amount });
    } else if (atMs < this.lastMs && this.#ends.every((end) => end.atMs !== atMs)) {
      this.#ends.push({ atMs, later });
      this.#ends.sort((a, b) => a.atMs - b.atMs);
    }
  }

  /** A call takes this, or gives it back if it is below 0. */
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
