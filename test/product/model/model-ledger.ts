// The expected ledger of one account: every row that Redis must write, in BigInt.

import type { Operation, OperationKind } from "../../../src/core/journal/journal.ts";

export type RowKind = OperationKind | "charge" | "late_charge" | "free_expired" | "repayment";

/** One ledger row. Balances are owned amounts: they include held amounts. */
export interface ModelRow {
  readonly seq: number;
  readonly kind: RowKind;
  readonly paidDelta: bigint;
  readonly freeDelta: bigint;
  readonly paidAfter: bigint;
  readonly freeAfter: bigint;
  readonly owedAfter: bigint;
  readonly month: number | null;
  readonly operation: number | null;
  readonly request: string | null;
}

export interface RowChange {
  readonly kind: RowKind;
  readonly paid?: bigint;
  readonly free?: bigint;
  readonly owed?: bigint;
  readonly month?: number;
  readonly operation?: number;
  readonly request?: string;
}

export class ModelLedger {
  paid = 0n;
  free = 0n;
  /** The amount that reversals could not take. */
  owed = 0n;
  /** The number of the last operation applied. */
  operations = 0;
  readonly rows: ModelRow[] = [];
  /** By month, and by month and key: `203103`, `203103:1`. */
  readonly spent = new Map<string, bigint>();

  get seq(): number {
    return this.rows.length;
  }

  enter({ kind, paid = 0n, free = 0n, owed = 0n, ...of }: RowChange): void {
    this.paid += paid;
    this.free += free;
    this.owed += owed;
    this.rows.push({
      seq: this.rows.length + 1,
      kind,
      paidDelta: paid,
      freeDelta: free,
      paidAfter: this.paid,
      freeAfter: this.free,
      owedAfter: this.owed,
      month: of.month ?? null,
      operation: of.operation ?? null,
      request: of.request ?? null,
    });
  }

  /** Applies an operation on paid credit; `available` is the part that no open hold holds. */
  apply({ kind, number, amount }: Operation, available: bigint): void {
    const row = { kind, operation: number };
    this.operations = number;
    if (kind === "forgiven") {
      this.enter({ ...row, owed: -least(this.owed, amount) });
    } else if (amount >= 0n) {
      this.enter({ ...row, paid: amount });
    } else {
      const taken = least(available, -amount);
      // Only a reversal may leave a debt; an adjustment stops at zero.
      const owed = kind === "reversal" ? -amount - taken : 0n;
      this.enter({ ...row, paid: -taken, owed });
    }
  }

  /** Pays owed amounts from the available balance. */
  repay(available: bigint, request?: string): void {
    const amount = least(available, this.owed);
    if (amount <= 0n) return;
    const row = request === undefined ? {} : { request };
    this.enter({ kind: "repayment", paid: -amount, owed: -amount, ...row });
  }

  spend(month: number, key: number, amount: bigint): void {
    for (const field of [`${month}`, `${month}:${key}`]) {
      this.spent.set(field, (this.spent.get(field) ?? 0n) + amount);
    }
  }

  spentIn(month: number, key: number | null): bigint {
    return this.spent.get(key === null ? `${month}` : `${month}:${key}`) ?? 0n;
  }

  copy(): ModelLedger {
    const copy = new ModelLedger();
    const { paid, free, owed, operations } = this;
    Object.assign(copy, { paid, free, owed, operations });
    copy.rows.push(...this.rows);
    for (const [field, amount] of this.spent) copy.spent.set(field, amount);
    return copy;
  }
}

/** The fault in the rows of a ledger, or null: numbers, sums, signs, and the rule of each kind. */
export function faultOfRows(rows: readonly ModelRow[]): string | null {
  let [paid, free, owed, operation] = [0n, 0n, 0n, 0];
  for (const [index, row] of rows.entries()) {
    const owedChange = row.owedAfter - owed;
    paid += row.paidDelta;
    free += row.freeDelta;
    owed = row.owedAfter;
    const at = `row ${index + 1} (${row.kind})`;
    if (row.seq !== index + 1) return `${at} has the seq ${row.seq}`;
    if (row.paidAfter !== paid || row.freeAfter !== free) return `${at} does not add up`;
    if (paid < 0n || free < 0n || owed < 0n) return `${at} is negative`;
    const isRepaid = row.kind === "repayment" && row.paidDelta === owedChange && owedChange < 0n;
    const mayChangeOwed = row.kind === "reversal" || row.kind === "forgiven" || isRepaid;
    if (owedChange !== 0n && !mayChangeOwed) return `${at} changes what is owed`;
    if (row.operation !== null && row.operation !== operation + 1) return `${at} skips one`;
    operation = row.operation ?? operation;
  }
  return null;
}

export function least(...amounts: bigint[]): bigint {
  return amounts.reduce((a, b) => (a < b ? a : b));
}

export function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
