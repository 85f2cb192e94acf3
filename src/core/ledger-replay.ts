// Replays an account's ledger from nothing and proves each entry from the one before it.

import { type AuditFinding, dollars } from "./audit-finding.ts";
import { monthOf } from "./clock.ts";

export type EntryKind = "credit" | "charge" | "late_charge" | "free_expired";

/** An entry of the ledger; the journal's entries have the same form before they are flushed. */
export interface ReplayEntry {
  readonly seq: number;
  readonly kind: EntryKind;
  readonly paidDelta: bigint;
  readonly freeDelta: bigint;
  readonly paidAfter: bigint;
  readonly freeAfter: bigint;
  readonly request: string | null;
  /** The key's id; null where there is none, or none of this account. */
  readonly key: string | null;
  readonly month: number | null;
  readonly credit: number | null;
  readonly atMs: number;
}

export interface CreditFact {
  readonly number: number;
  readonly purse: "paid" | "free";
  readonly amount: bigint;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
  readonly payment: string | null;
}

export class LedgerReplay {
  seq = 0;
  paid = 0n;
  free = 0n;
  /** The number of the last credit applied. */
  credits = 0;
  charged = 0n;
  expired = 0n;
  /** When the free credit ends that was applied so far; 0 where there was none. */
  freeExpiresAtMs = 0;
  /** What was charged by `202611 key_…`. */
  readonly spent = new Map<string, bigint>();
  /** What calls may still give back of free credit that ended before the present one began. */
  #lapsing = 0n;
  readonly #credits: ReadonlyMap<number, CreditFact>;

  constructor(
    readonly account: string,
    credits: readonly CreditFact[],
  ) {
    this.#credits = new Map(credits.map((credit) => [credit.number, credit]));
  }

  /** Takes the next entry; what is wrong with it, or null. */
  take(entry: ReplayEntry): AuditFinding | null {
    const wrong = this.#checkNumber(entry) ?? this.#checkKind(entry) ?? this.#checkSums(entry);
    if (wrong !== null) return wrong;
    this.seq = entry.seq;
    this.paid = entry.paidAfter;
    this.free = entry.freeAfter;
    const taken = -(entry.paidDelta + entry.freeDelta);
    if (entry.kind === "free_expired") {
      if (entry.atMs < this.freeExpiresAtMs) this.#lapsing -= taken;
      this.expired += taken;
    }
    if (entry.credit !== null) this.#noteCredit(entry.credit, entry);
    if (entry.key !== null && entry.month !== null) {
      const row = `${entry.month} ${entry.key}`;
      this.charged += taken;
      this.spent.set(row, (this.spent.get(row) ?? 0n) + taken);
    }
    return null;
  }

  #noteCredit(number: number, { atMs, freeAfter, freeDelta }: ReplayEntry): void {
    this.credits = number;
    const expiresAtMs = this.#credits.get(number)?.expiresAtMs ?? 0;
    const isOver = this.freeExpiresAtMs > 0 && atMs >= this.freeExpiresAtMs;
    if (freeDelta > 0n && isOver) this.#lapsing = freeAfter - freeDelta;
    this.freeExpiresAtMs = Math.max(this.freeExpiresAtMs, expiresAtMs);
  }

  #checkNumber({ seq }: ReplayEntry): AuditFinding | null {
    const expected = this.seq + 1;
    if (seq === expected) return null;
    return this.#wrong(expected, "the entries are numbered without gaps", `${expected}`, `${seq}`);
  }

  #checkSums(entry: ReplayEntry): AuditFinding | null {
    const purses = [
      ["paid", this.paid, entry.paidDelta, entry.paidAfter],
      ["free", this.free, entry.freeDelta, entry.freeAfter],
    ] as const;
    for (const [purse, before, delta, after] of purses) {
      if (after !== before + delta) {
        const sum = `${dollars(before + delta)} (${dollars(before)} before and ${dollars(delta)})`;
        return this.#wrong(entry.seq, `the ${purse} balance after it`, sum, dollars(after));
      }
      if (after < 0n) {
        return this.#wrong(
          entry.seq,
          `the ${purse} balance after it`,
          "$0 or more",
          dollars(after),
        );
      }
    }
    return null;
  }

  #checkKind(entry: ReplayEntry): AuditFinding | null {
    if (entry.kind === "credit") return this.#checkCredit(entry);
    if (entry.credit !== null) {
      const found = `credit ${entry.credit}`;
      return this.#wrong(entry.seq, `a ${entry.kind} applies no credit`, "none", found);
    }
    return entry.kind === "free_expired" ? this.#checkExpiry(entry) : this.#checkCharge(entry);
  }

  #checkCredit(entry: ReplayEntry): AuditFinding | null {
    const { seq } = entry;
    const expected = this.credits + 1;
    if (entry.credit !== expected) {
      return this.#wrong(seq, "credits in order", `credit ${expected}`, `credit ${entry.credit}`);
    }
    const credit = this.#credits.get(expected);
    if (credit === undefined) {
      return this.#wrong(seq, `the credit ${expected} that it applies`, "a credits row", "none");
    }
    const paid = credit.purse === "paid" ? credit.amount : 0n;
    const free = credit.amount - paid;
    if (entry.paidDelta === paid && entry.freeDelta === free) return null;
    const text = (a: bigint, b: bigint) => `${dollars(a)} paid and ${dollars(b)} free`;
    const found = text(entry.paidDelta, entry.freeDelta);
    return this.#wrong(seq, `what credit ${expected} gives`, text(paid, free), found);
  }

  #checkCharge(entry: ReplayEntry): AuditFinding | null {
    const { seq, paidDelta, freeDelta } = entry;
    if (entry.request === null) return this.#wrong(seq, "the call charged", "a request", "none");
    if (entry.key === null) {
      return this.#wrong(seq, "the key charged", "a key of this account", "none");
    }
    const takes = paidDelta <= 0n && freeDelta <= 0n;
    // An owner that comes back after the sweep may have cost less than its last checkpoint.
    const gives = entry.kind === "late_charge" && paidDelta >= 0n && freeDelta >= 0n;
    if (!(takes || gives) || paidDelta + freeDelta === 0n) {
      const found = `${dollars(paidDelta)} paid and ${dollars(freeDelta)} free`;
      return this.#wrong(seq, "a charge takes money", "amounts below $0", found);
    }
    const month = monthOf(entry.atMs);
    if (entry.month === month) return null;
    return this.#wrong(seq, "the month charged", `${month}`, `${entry.month}`);
  }

  #checkExpiry({ seq, paidDelta, freeDelta, atMs }: ReplayEntry): AuditFinding | null {
    if (paidDelta !== 0n || freeDelta >= 0n) {
      const found = `${dollars(paidDelta)} paid and ${dollars(freeDelta)} free`;
      return this.#wrong(seq, "an expiry takes free credit alone", "free credit", found);
    }
    if (atMs >= this.freeExpiresAtMs || -freeDelta <= this.#lapsing) return null;
    const [expected, found] = [this.freeExpiresAtMs, atMs].map((ms) => new Date(ms).toISOString());
    return this.#wrong(seq, "when free credit ended", `${expected} or later`, `${found}`);
  }

  #wrong(seq: number, fact: string, expected: string, found: string): AuditFinding {
    return { account: this.account, bucket: null, seq, fact, expected, found };
  }
}
