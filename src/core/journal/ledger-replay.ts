// Replays an account's ledger from its first entry and proves each entry from the one before it, by
// the table of docs/money.md. The ledger does not contain the amounts of open holds; if an amount
// depends on those, the replay proves its bounds.

import type { BudgetRef } from "../access/budgets.ts";
import {
  type FreeEnds,
  laterThan,
  NO_FREE_ENDS,
  replacesAll,
  withCharge,
  withGrant,
  withReturn,
} from "../money/free-lots.ts";
import { dollars, min } from "../money/money.ts";
import { monthBefore, monthOf } from "../money/months.ts";
import { operationEffect } from "../money/operation-effect.ts";
import type { AuditFinding } from "./audit-finding.ts";
import { type LedgerKind, OPERATION_KINDS, type OperationKind } from "./journal.ts";

/** An entry of the ledger; the journal's entries have the same form before the flush. */
export interface ReplayEntry {
  readonly seq: number;
  readonly kind: LedgerKind;
  readonly paidDelta: bigint;
  readonly freeDelta: bigint;
  readonly paidAfter: bigint;
  readonly freeAfter: bigint;
  readonly owedAfter: bigint;
  readonly request: string | null;
  /** The key's id; null if there is none, or if it is not a key of this account. */
  readonly key: string | null;
  readonly month: number | null;
  /** The spans of budgets that counted the call. */
  readonly budgets: readonly BudgetRef[];
  readonly operation: number | null;
  readonly atMs: number;
}

/** An operation as Postgres stores it. */
export interface ReplayOperation {
  readonly number: number;
  readonly kind: OperationKind;
  readonly balance: "paid" | "free";
  readonly amount: bigint;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
  /** The payment's id; null if there is none, or if it is not a payment of this account. */
  readonly payment: string | null;
  /** True if an operator set the operation aside and did not book it again: `amount` is then 0. */
  readonly isSetAside?: boolean;
}

export class LedgerReplay {
  seq = 0;
  paid = 0n;
  free = 0n;
  owed = 0n;
  /** The number of the last operation applied. */
  operations = 0;
  /** The totals that operations gave and took. */
  credited = 0n;
  reversed = 0n;
  repaid = 0n;
  charged = 0n;
  expired = 0n;
  /**
   * Entries that Postgres refused. The effect of such entries is known only from the balances after
   * them.
   */
  holes = 0;
  /** The number of operations that the holes may hide. */
  hidden = 0;
  /** The ends of the applied free credit, and the amount that charged calls left of each. */
  freeEnds: FreeEnds = NO_FREE_ENDS;
  /** The ends without the charges, because a rebuilt wallet does not know the charges. */
  freeEndsUncharged: FreeEnds = NO_FREE_ENDS;
  /** All ends except the last one. */
  readonly earlierEnds = new Set<number>();
  /**
   * The start of the current free credit by the rule of the wallet: the operation of that credit
   * must also have been created, by the clock of Postgres, after the earlier credit ended. 0 if no
   * free credit began like this.
   */
  walletFreeSinceMs = 0;
  /** The charges by month and key: `202611 key_…`. */
  readonly spent = new Map<string, bigint>();
  /** The charges of the summed budgets by number and start of the span: `12 1764201600000`. */
  readonly budgets = new Map<string, bigint>();
  /** True if an entry names any budget. */
  namesBudgets = false;
  /** The free credit that ended before the current one began, and that calls may still return. */
  #lapsing = 0n;
  /** The start of the current free credit; 0 if no free credit ended before it. */
  #freeSinceMs = 0;
  /** The repayment that must be the next entry; 0 if none is due. */
  #due = 0n;
  /** True if the entry before was a hole. */
  #isResuming = false;
  readonly #operations: ReadonlyMap<number, ReplayOperation>;

  readonly #summed: Pick<ReadonlySet<number>, "has">;

  /**
   * `summed` has the numbers of the budgets whose charges are summed: an account may have a budget
   * for each of its end users.
   */
  constructor(
    readonly account: string,
    operations: readonly ReplayOperation[],
    summed: Pick<ReadonlySet<number>, "has"> = new Set(),
  ) {
    this.#summed = summed;
    this.#operations = new Map(operations.map((operation) => [operation.number, operation]));
  }

  /**
   * Skips an entry that Postgres refused. The next entry shows the balances after the refused one.
   * `mayHide` says whether the refused entry may have applied an operation.
   */
  skip(mayHide = true): void {
    this.seq += 1;
    this.holes += 1;
    if (mayHide) this.hidden += 1;
    this.#due = 0n;
    this.#isResuming = true;
  }

  /** Processes the next entry. Returns its first fault, or null. */
  take(entry: ReplayEntry): AuditFinding | null {
    if (this.#isResuming) this.#resume(entry);
    this.#passHidden(entry);
    const wrong =
      this.#checkNumber(entry) ??
      this.#checkDue(entry) ??
      this.#checkKind(entry) ??
      this.#checkSums(entry);
    if (wrong !== null) return wrong;
    this.seq = entry.seq;
    this.paid = entry.paidAfter;
    this.free = entry.freeAfter;
    this.owed = entry.owedAfter;
    this.#count(entry);
    return null;
  }

  /** Returns the entry that is missing after the last one, or null. */
  end(): AuditFinding | null {
    if (this.#due === 0n) return null;
    return this.#wrong(this.seq + 1, "the repayment that is due", {
      expected: dollars(this.#due),
      found: "none",
    });
  }

  #count(entry: ReplayEntry): void {
    const { kind, paidDelta, freeDelta, atMs } = entry;
    const taken = -(paidDelta + freeDelta);
    // While anything is owed nothing is available, so the balance is exactly the added amount.
    if (kind !== "free_expired") this.#due = paidDelta > 0n ? min(paidDelta, this.owed) : 0n;
    if (kind === "free_expired") {
      if (atMs < this.freeEnds.lastMs) this.#lapsing -= min(taken, this.#lapsing);
      this.expired += taken;
    } else if (kind === "repayment") {
      this.repaid += taken;
    } else if (isOperation(kind)) {
      this.#noteOperation(entry);
    } else {
      const row = `${entry.month} ${entry.key}`;
      // A late settlement returns the amount that the sweep took too much, also of free credit that
      // ended.
      if (freeDelta > 0n && atMs < this.#freeSinceMs) this.#lapsing += freeDelta;
      this.freeEnds = withReturn(withCharge(this.freeEnds, atMs, -freeDelta), atMs, freeDelta);
      this.freeEndsUncharged = withReturn(this.freeEndsUncharged, atMs, freeDelta);
      this.charged += taken;
      this.spent.set(row, (this.spent.get(row) ?? 0n) + taken);
      for (const { number, startMs } of entry.budgets) {
        this.namesBudgets = true;
        if (!this.#summed.has(number)) continue;
        const span = `${number} ${startMs}`;
        this.budgets.set(span, (this.budgets.get(span) ?? 0n) + taken);
      }
    }
  }

  #noteOperation(entry: ReplayEntry): void {
    const { operation, paidDelta, freeDelta, freeAfter, atMs: nowMs } = entry;
    this.operations = operation ?? this.operations;
    const change = paidDelta + freeDelta;
    if (change > 0n) this.credited += change;
    else this.reversed -= change;
    const row = this.#operations.get(this.operations);
    if (row?.balance !== "free") return;
    const owned = freeAfter - freeDelta;
    if (replacesAll(this.freeEnds, row, nowMs)) {
      this.#lapsing = owned;
      this.#freeSinceMs = nowMs;
      this.walletFreeSinceMs = nowMs;
    }
    this.freeEnds = withGrant(this.freeEnds, row, { owned, nowMs });
    this.freeEndsUncharged = withGrant(this.freeEndsUncharged, row, { owned, nowMs });
    for (const { atMs } of this.freeEnds.earlier) this.earlierEnds.add(atMs);
  }

  /** Restarts from the first entry after a hole. */
  #resume(entry: ReplayEntry): void {
    this.#isResuming = false;
    this.paid = entry.paidAfter - entry.paidDelta;
    this.free = entry.freeAfter - entry.freeDelta;
    this.owed = entry.owedAfter;
    if (entry.kind === "repayment") this.owed -= entry.paidDelta;
    const operation = this.#operations.get(entry.operation ?? 0);
    if (operation?.kind === "forgiven") this.owed += operation.amount;
    if (operation?.kind === "reversal") this.owed += operation.amount - entry.paidDelta;
  }

  /** Accounts for operations that the holes may have applied: at most one for each hole. */
  #passHidden({ operation }: ReplayEntry): void {
    const hidden = (operation ?? 0) - this.operations - 1;
    if (hidden <= 0 || hidden > this.hidden) return;
    this.hidden -= hidden;
    this.operations += hidden;
  }

  #checkNumber({ seq }: ReplayEntry): AuditFinding | null {
    const expected = this.seq + 1;
    if (seq === expected) return null;
    return this.#wrong(expected, "the entries are numbered without gaps", {
      expected: `${expected}`,
      found: `${seq}`,
    });
  }

  #checkDue({ seq, kind, paidDelta }: ReplayEntry): AuditFinding | null {
    if (this.#due === 0n || (kind === "repayment" && -paidDelta === this.#due)) return null;
    // When a call returns free credit that has ended, this credit expires before anything else.
    if (kind === "free_expired") return null;
    const found = kind === "repayment" ? dollars(-paidDelta) : `a ${kind}`;
    return this.#wrong(seq, "the repayment that is due", { expected: dollars(this.#due), found });
  }

  #checkSums(entry: ReplayEntry): AuditFinding | null {
    const balances = [
      ["paid", this.paid, entry.paidDelta, entry.paidAfter],
      ["free", this.free, entry.freeDelta, entry.freeAfter],
    ] as const;
    for (const [balance, before, delta, after] of balances) {
      const fact = `the ${balance} balance after it`;
      if (after !== before + delta) {
        const sum = `${dollars(before + delta)} (${dollars(before)} before and ${dollars(delta)})`;
        return this.#wrong(entry.seq, fact, { expected: sum, found: dollars(after) });
      }
      if (after < 0n) return this.#belowZero(entry.seq, fact, after);
    }
    if (entry.owedAfter < 0n) return this.#belowZero(entry.seq, "what is owed", entry.owedAfter);
    return null;
  }

  #checkKind(entry: ReplayEntry): AuditFinding | null {
    if (isOperation(entry.kind)) return this.#checkOperation(entry);
    if (entry.operation !== null) {
      const found = `operation ${entry.operation}`;
      return this.#wrong(entry.seq, `a ${entry.kind} applies no operation`, {
        expected: "none",
        found,
      });
    }
    if (entry.kind === "repayment") return this.#checkRepayment(entry);
    const wrong =
      entry.kind === "free_expired" ? this.#checkExpiry(entry) : this.#checkCharge(entry);
    return wrong ?? this.#checkOwed(entry, this.owed);
  }

  #checkOperation(entry: ReplayEntry): AuditFinding | null {
    const { seq } = entry;
    const expected = this.operations + 1;
    if (entry.operation !== expected) {
      const found = entry.operation === null ? "none" : `operation ${entry.operation}`;
      return this.#wrong(seq, "operations in order", { expected: `operation ${expected}`, found });
    }
    const operation = this.#operations.get(expected);
    if (operation === undefined) {
      return this.#wrong(seq, `the operation ${expected} that it applies`, {
        expected: "a row",
        found: "none",
      });
    }
    if (operation.kind !== entry.kind) {
      return this.#wrong(seq, `the kind of operation ${expected}`, {
        expected: operation.kind,
        found: entry.kind,
      });
    }
    const effect = operationEffect(operation, { paid: this.paid, owed: this.owed }, entry);
    if (effect === null) return null;
    return this.#wrong(seq, `${effect.fact} operation ${expected}`, {
      expected: effect.expected,
      found: effect.found,
    });
  }

  #checkRepayment(entry: ReplayEntry): AuditFinding | null {
    const { seq, paidDelta, freeDelta } = entry;
    const most = min(this.paid, this.owed);
    if (freeDelta !== 0n || paidDelta >= 0n || -paidDelta > most) {
      const found = `${dollars(paidDelta)} paid and ${dollars(freeDelta)} free`;
      const expected = `a part of $0 to ${dollars(most)} of the paid balance`;
      return this.#wrong(seq, "a repayment pays what is owed", { expected, found });
    }
    return this.#checkOwed(entry, this.owed + paidDelta);
  }

  #checkOwed({ seq, owedAfter }: ReplayEntry, expected: bigint): AuditFinding | null {
    if (owedAfter === expected) return null;
    return this.#wrong(seq, "what is owed after it", {
      expected: dollars(expected),
      found: dollars(owedAfter),
    });
  }

  #checkCharge(entry: ReplayEntry): AuditFinding | null {
    const { seq, paidDelta, freeDelta } = entry;
    if (entry.request === null)
      return this.#wrong(seq, "the call charged", { expected: "a request", found: "none" });
    if (entry.key === null) {
      return this.#wrong(seq, "the key charged", {
        expected: "a key of this account",
        found: "none",
      });
    }
    const takes = paidDelta <= 0n && freeDelta <= 0n;
    // A call may have cost less than its last checkpoint, which the sweep charged before its
    // process came back.
    const gives = entry.kind === "late_charge" && paidDelta >= 0n && freeDelta >= 0n;
    if (!(takes || gives) || paidDelta + freeDelta === 0n) {
      const found = `${dollars(paidDelta)} paid and ${dollars(freeDelta)} free`;
      return this.#wrong(seq, "a charge takes money", { expected: "amounts below $0", found });
    }
    const month = monthOf(entry.atMs);
    if (entry.month === month || isLastSeen(entry.month, month)) return null;
    return this.#wrong(seq, "the month charged", { expected: `${month}`, found: `${entry.month}` });
  }

  #checkExpiry({ seq, paidDelta, freeDelta, atMs }: ReplayEntry): AuditFinding | null {
    if (paidDelta !== 0n || freeDelta >= 0n) {
      const found = `${dollars(paidDelta)} paid and ${dollars(freeDelta)} free`;
      return this.#wrong(seq, "an expiry takes free credit alone", {
        expected: "free credit",
        found,
      });
    }
    const { lastMs } = this.freeEnds;
    if (atMs >= lastMs || -freeDelta <= this.#lapsing) return null;
    // A hole may have brought the lot that ended.
    if (this.holes > 0) return null;
    const later = laterThan(this.freeEnds, atMs);
    if (later !== null) return this.#checkPart(seq, { gone: -freeDelta, later });
    const [expected, found] = [lastMs, atMs].map((ms) => new Date(ms).toISOString());
    return this.#wrong(seq, "when free credit ended", {
      expected: `${expected} or later`,
      found: `${found}`,
    });
  }

  /** The end of a lot takes nothing from the lots that end later. */
  #checkPart(
    seq: number,
    { gone, later }: { readonly gone: bigint; readonly later: bigint },
  ): AuditFinding | null {
    if (this.free - gone >= min(later, this.free)) return null;
    return this.#wrong(seq, "the free credit that ends later", {
      expected: `${dollars(min(later, this.free))} or more`,
      found: dollars(this.free - gone),
    });
  }

  #belowZero(seq: number, fact: string, amount: bigint): AuditFinding {
    return {
      ...this.#wrong(seq, fact, { expected: "$0 or more", found: dollars(amount) }),
      isBelowZero: true,
    };
  }

  #wrong(
    seq: number,
    fact: string,
    { expected, found }: Pick<AuditFinding, "expected" | "found">,
  ): AuditFinding {
    return { account: this.account, bucket: null, seq, fact, expected, found };
  }
}

/**
 * True if the entry counts in the last month seen, as admit.lua counts while the clock is months
 * behind a time that it has shown. The ledger alone does not show which month was seen last: calls
 * that cost nothing count too.
 */
function isLastSeen(counted: number | null, month: number): boolean {
  return counted !== null && counted > month && monthBefore(counted) !== month;
}

function isOperation(kind: LedgerKind): kind is OperationKind {
  return OPERATION_KINDS.some((name) => name === kind);
}
