// Writes prepared journal entries: their rows in the ledger and in the log, and the sums computed
// from them. If Postgres refuses a batch, halving it finds the bad entries.

import { arrayText } from "../servers/database.ts";
import { codeOf } from "../servers/sql-errors.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { copyRows } from "../tables/copy.ts";
import { unnestParameters, unnestText } from "../tables/unnest.ts";
import { insertLogRows } from "../usage/log-insert.ts";
import { amountInCell, correctLogRows, type LogRow, MissingLogRow } from "../usage/log-rows.ts";
import { addMargins } from "../usage/margin-rollups.ts";
import { type LogChange, usageChanges } from "../usage/usage-changes.ts";
import { addUsage } from "../usage/usage-rollups.ts";
import { JournalContradiction } from "./ledger-chain.ts";
import { LEDGER_COLUMNS, type LedgerRow, type PreparedEntry } from "./prepared-entry.ts";

/** An entry that Postgres refuses, completely or in part. */
export interface Rejection {
  readonly prepared: PreparedEntry;
  readonly reason: string;
  /** True if the ledger row was written and only the log row was not. */
  readonly ledgerWritten: boolean;
}

/** A correct journal cannot violate these constraints: a violation shows another journal. */
const CONFLICT_CONSTRAINTS: ReadonlySet<string> = new Set([
  "ledger_entries_account_seq_pk",
  "ledger_request",
  "ledger_operation",
]);
/** Classes 22 and 23 of SQLSTATE: a value that Postgres does not accept. */
const BAD_VALUE = /^2[23]/;

const INSERT_LEDGER = `
  INSERT INTO ledger_entries (${Object.keys(LEDGER_COLUMNS).join(", ")})
  SELECT * FROM ${unnestText(LEDGER_COLUMNS)}`;

/** Writes entries that must all be good. After an error the transaction must be rolled back. */
export async function writeEntries(
  tx: SqlTransaction,
  entries: readonly PreparedEntry[],
): Promise<void> {
  await writeLedger(tx, entries);
  const rows: LogRow[] = [];
  const corrections: LogRow[] = [];
  for (const { log, entry } of entries) {
    if (log !== null) (entry?.type === "late" ? corrections : rows).push(log);
  }
  const logged = new Map<LogRow, LogChange>();
  for (const row of await insertLogRows(tx, rows)) logged.set(row, { before: null, after: row });
  for (const [row, change] of await correctLogRows(tx, corrections)) logged.set(row, change);
  await addUsage(tx, usageChanges(entries, logged));
  await addMargins(tx, logged.values());
  await writeSpending(tx, entries);
  await writeBudgets(tx, entries);
  await updateLastUsed(tx, entries);
}

/**
 * Writes all entries that Postgres takes and returns the refused ones. A slice of good entries
 * takes one attempt; each bad entry adds about ten more. @throws JournalContradiction
 */
export async function writeGoodEntries(
  tx: SqlTransaction,
  entries: readonly PreparedEntry[],
): Promise<Rejection[]> {
  if (entries.length === 0) return [];
  const reason = await tryWrite(tx, entries);
  const [only, ...others] = entries;
  if (reason === null || only === undefined) return [];
  if (others.length === 0) return [await writeMoneyOnly(tx, only, reason)];
  const half = entries.length >> 1;
  return [
    ...(await writeGoodEntries(tx, entries.slice(0, half))),
    ...(await writeGoodEntries(tx, entries.slice(half))),
  ];
}

/** Writes the ledger row of an entry even if its log row cannot be written. */
async function writeMoneyOnly(
  tx: SqlTransaction,
  prepared: PreparedEntry,
  reason: string,
): Promise<Rejection> {
  const ledgerWritten =
    prepared.ledger !== null &&
    prepared.log !== null &&
    (await tryWrite(tx, [{ ...prepared, log: null }])) === null;
  return { prepared, reason, ledgerWritten };
}

/** Writes all entries and returns null, or writes none and returns why Postgres refuses them. */
async function tryWrite(
  tx: SqlTransaction,
  entries: readonly PreparedEntry[],
): Promise<string | null> {
  try {
    await tx.savepoint((inner) => writeEntries(inner, entries));
    return null;
  } catch (error) {
    return rejectionReason(error);
  }
}

/** All rejections of a batch: entries with a fault, and entries that Postgres refused. */
export function allRejections(
  entries: readonly PreparedEntry[],
  refused: readonly Rejection[],
): Rejection[] {
  const byEntry = new Map(refused.map((rejection) => [rejection.prepared, rejection]));
  return entries.flatMap((prepared) => {
    const rejection = byEntry.get(prepared);
    if (rejection !== undefined) return [rejection];
    const { fault: reason, ledger } = prepared;
    return reason === null ? [] : [{ prepared, reason, ledgerWritten: ledger !== null }];
  });
}

/**
 * The reason if Postgres refused a value or lacks a log row; rethrows any other error.
 * @throws JournalContradiction
 */
export function rejectionReason(error: unknown): string {
  if (error instanceof MissingLogRow) return error.message;
  const code = codeOf(error);
  if (!(error instanceof Error) || !BAD_VALUE.test(code)) throw error;
  const constraint = "constraint_name" in error ? String(error.constraint_name) : "";
  if (CONFLICT_CONSTRAINTS.has(constraint))
    throw new JournalContradiction(error.message, { cause: error });
  return `${[code, constraint].filter((part) => part !== "").join(" ")}: ${error.message}`;
}

async function writeLedger(tx: SqlTransaction, entries: readonly PreparedEntry[]): Promise<void> {
  const rows: LedgerRow[] = [];
  for (const { ledger } of entries) if (ledger !== null) rows.push(ledger);
  if (rows.length === 0) return;
  if (!(await copyRows(tx, "ledger_entries", { types: LEDGER_COLUMNS, rows }))) {
    // An INSERT, unlike a COPY, reports why Postgres refuses a row.
    await tx.unsafe(INSERT_LEDGER, unnestParameters(LEDGER_COLUMNS, rows), { prepare: true });
  }
  await reopenFreeCredit(tx, rows);
  const booked = rows.filter(({ operation }) => operation !== null);
  if (booked.length === 0) return;
  // An operation that was applied while it was set aside counts after all: the ledger has its
  // amount, if only in the debt.
  await tx`
    UPDATE operations SET booked = true, applied_at = booked.at,
      set_aside_at = CASE WHEN set_aside_at IS NOT NULL AND booked.change = 0 AND booked.owed = CASE
        WHEN booked.seq = 1 THEN 0
        ELSE coalesce((SELECT owed_after FROM ledger_entries last
          WHERE last.account = booked.account AND last.seq = booked.seq - 1), booked.owed)
        END THEN set_aside_at END
    FROM unnest(${arrayText(booked.map(({ account }) => account))}::text::bigint[],
      ${arrayText(booked.map(({ operation }) => operation))}::text::int[],
      ${arrayText(booked.map(changeOf))}::text::bigint[],
      ${arrayText(booked.map(({ seq }) => seq))}::text::bigint[],
      ${arrayText(booked.map(({ owed_after }) => owed_after))}::text::bigint[],
      ${arrayText(booked.map(({ at }) => at))}::text::timestamptz[])
      AS booked(account, number, change, seq, owed, at)
    WHERE operations.account = booked.account AND operations.number = booked.number`;
}

function changeOf({ paid_delta, free_delta }: LedgerRow): bigint {
  return amountInCell(paid_delta) + amountInCell(free_delta);
}

/**
 * A late settlement may return free credit that is marked as ended because nothing was left of it:
 * without the marks, the completer looks at it again.
 */
async function reopenFreeCredit(tx: SqlTransaction, rows: readonly LedgerRow[]): Promise<void> {
  const accounts = rows.flatMap(({ account, kind, free_delta }) =>
    kind === "late_charge" && amountInCell(free_delta) > 0n ? [account] : [],
  );
  if (accounts.length === 0) return;
  await tx`
    UPDATE operations SET ended = false
    WHERE balance = 'free' AND ended AND account = ANY(${arrayText(accounts)}::text::bigint[])`;
}

/** Adds to the spending of each key in each month. */
async function writeSpending(tx: SqlTransaction, entries: readonly PreparedEntry[]): Promise<void> {
  const spent = new Map<string, bigint>();
  for (const { entry, ledger, account, key } of entries) {
    if (entry === null || ledger === null || key === null || entry.month === null) continue;
    const row = `${account} ${entry.month} ${key}`;
    spent.set(row, (spent.get(row) ?? 0n) - entry.paidDelta - entry.freeDelta);
  }
  if (spent.size === 0) return;
  const rows = [...spent].map(([row, amount]) => [...row.split(" "), amount.toString()]);
  const column = (index: number) => arrayText(rows.map((row) => row[index] ?? ""));
  await tx`
    INSERT INTO month_spend (account, month, key, spent)
    SELECT * FROM unnest(${column(0)}::text::bigint[], ${column(1)}::text::int[],
      ${column(2)}::text::bigint[], ${column(3)}::text::bigint[])
    ON CONFLICT (account, month, key) DO UPDATE SET spent = month_spend.spent + excluded.spent`;
}

/**
 * Adds to the spending of each budget in each span. A call that cost nothing adds its span, because
 * the first call of five hours begins them.
 */
async function writeBudgets(tx: SqlTransaction, entries: readonly PreparedEntry[]): Promise<void> {
  const spent = new Map<string, bigint>();
  for (const { entry, ledger, account } of entries) {
    if (entry === null || account === null) continue;
    // Only the log row of this entry is written: the ledger has its money already.
    if (ledger === null && entry.seq !== null) continue;
    for (const { number, startMs } of entry.budgets) {
      const row = `${account} ${number} ${startMs}`;
      spent.set(row, (spent.get(row) ?? 0n) - entry.paidDelta - entry.freeDelta);
    }
  }
  if (spent.size === 0) return;
  const rows = [...spent].map(([row, amount]) => [...row.split(" "), amount.toString()]);
  const column = (index: number) => arrayText(rows.map((row) => row[index] ?? ""));
  await tx`
    INSERT INTO budget_spend (account, budget, start, spent)
    SELECT * FROM unnest(${column(0)}::text::bigint[], ${column(1)}::text::bigint[],
      ${column(2)}::text::bigint[], ${column(3)}::text::bigint[])
    ON CONFLICT (account, budget, start) DO UPDATE
      SET spent = budget_spend.spent + excluded.spent`;
}

async function updateLastUsed(
  tx: SqlTransaction,
  entries: readonly PreparedEntry[],
): Promise<void> {
  const used = new Map<number, number>();
  for (const { entry, key } of entries) {
    if (entry !== null && key !== null) used.set(key, Math.max(used.get(key) ?? 0, entry.atMs));
  }
  if (used.size === 0) return;
  const times = [...used.values()].map((ms) => new Date(ms).toISOString());
  await tx`
    UPDATE keys SET last_used_at = greatest(last_used_at, used.at)
    FROM unnest(${arrayText([...used.keys()])}::text::bigint[],
      ${arrayText(times)}::text::timestamptz[]) AS used(key, at)
    WHERE keys.number = used.key`;
}
