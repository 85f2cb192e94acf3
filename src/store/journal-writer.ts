// Writes prepared journal entries: their rows in the ledger and in the log, and the sums that
// follow from them. What Postgres refuses for what it is, is found by halving.

import type { TransactionSql } from "postgres";
import { arrayText } from "./database.ts";
import { JournalContradiction } from "./ledger-chain.ts";
import { correctLogRows, insertLogRows, type LogRow } from "./log-rows.ts";
import { LEDGER_COLUMNS, type LedgerRow, type PreparedEntry } from "./prepared-entry.ts";
import { codeOf } from "./sql-errors.ts";
import { unnestParameters, unnestText } from "./unnest.ts";

/** An entry that Postgres does not take, or not all of it. */
export interface Rejection {
  readonly prepared: PreparedEntry;
  readonly reason: string;
  /** Its ledger row is there, its log row is not. */
  readonly ledgerWritten: boolean;
}

/** Constraints that an honest journal cannot break, whatever its values are. */
const FORK_CONSTRAINTS: ReadonlySet<string> = new Set([
  "ledger_entries_account_seq_pk",
  "ledger_request",
  "ledger_operation",
]);
/** Classes 22 and 23 of SQLSTATE: a value that Postgres does not take. */
const BAD_VALUE = /^2[23]/;

const INSERT_LEDGER = `
  INSERT INTO ledger_entries (${Object.keys(LEDGER_COLUMNS).join(", ")})
  SELECT * FROM ${unnestText(LEDGER_COLUMNS)}`;

/** Writes entries that must all be good; an error leaves the transaction to be rolled back. */
export async function writeEntries(
  tx: TransactionSql,
  entries: readonly PreparedEntry[],
): Promise<void> {
  await writeLedger(tx, entries);
  const rows: LogRow[] = [];
  const late: LogRow[] = [];
  for (const { log, entry } of entries) {
    if (log !== null) (entry?.type === "late" ? late : rows).push(log);
  }
  await insertLogRows(tx, rows);
  await correctLogRows(tx, late);
  await writeSpending(tx, entries);
  await noteUse(tx, entries);
}

/**
 * Writes what can be written and returns the rest. A good slice costs one attempt, a bad entry in
 * it about ten more. @throws JournalContradiction
 */
export async function writeGoodEntries(
  tx: TransactionSql,
  entries: readonly PreparedEntry[],
): Promise<Rejection[]> {
  if (entries.length === 0) return [];
  const reason = await refusalOf(tx, entries);
  const [only, ...others] = entries;
  if (reason === null || only === undefined) return [];
  if (others.length === 0) return [await writeMoneyOnly(tx, only, reason)];
  const half = entries.length >> 1;
  return [
    ...(await writeGoodEntries(tx, entries.slice(0, half))),
    ...(await writeGoodEntries(tx, entries.slice(half))),
  ];
}

/** The money of an entry counts even where its log row cannot be written. */
async function writeMoneyOnly(
  tx: TransactionSql,
  prepared: PreparedEntry,
  reason: string,
): Promise<Rejection> {
  const ledgerWritten =
    prepared.ledger !== null &&
    prepared.log !== null &&
    (await refusalOf(tx, [{ ...prepared, log: null }])) === null;
  return { prepared, reason, ledgerWritten };
}

/** Why Postgres refuses these entries, none of which is written then; null when all are. */
async function refusalOf(
  tx: TransactionSql,
  entries: readonly PreparedEntry[],
): Promise<string | null> {
  try {
    await tx.savepoint((inner) => writeEntries(inner, entries));
    return null;
  } catch (error) {
    return reasonToReject(error);
  }
}

/** What is rejected of a batch: what was wrong before, and what Postgres then refused. */
export function rejectionsOf(
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

/** Throws again what is no fault of a value. @throws JournalContradiction */
export function reasonToReject(error: unknown): string {
  const code = codeOf(error);
  if (!(error instanceof Error) || !BAD_VALUE.test(code)) throw error;
  const constraint = "constraint_name" in error ? String(error.constraint_name) : "";
  if (FORK_CONSTRAINTS.has(constraint))
    throw new JournalContradiction(error.message, { cause: error });
  return `${[code, constraint].filter((part) => part !== "").join(" ")}: ${error.message}`;
}

async function writeLedger(tx: TransactionSql, entries: readonly PreparedEntry[]): Promise<void> {
  const rows: LedgerRow[] = [];
  for (const { ledger } of entries) if (ledger !== null) rows.push(ledger);
  if (rows.length === 0) return;
  await tx.unsafe(INSERT_LEDGER, unnestParameters(LEDGER_COLUMNS, rows), { prepare: true });
  const booked = rows.filter(({ operation }) => operation !== null);
  if (booked.length === 0) return;
  await tx`
    UPDATE operations SET booked = true
    FROM unnest(${arrayText(booked.map(({ account }) => account))}::text::bigint[],
      ${arrayText(booked.map(({ operation }) => operation))}::text::int[])
      AS booked(account, number)
    WHERE operations.account = booked.account AND operations.number = booked.number`;
}

/** What each key spent in each month. */
async function writeSpending(tx: TransactionSql, entries: readonly PreparedEntry[]): Promise<void> {
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

/** When each key was last used. */
async function noteUse(tx: TransactionSql, entries: readonly PreparedEntry[]): Promise<void> {
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
