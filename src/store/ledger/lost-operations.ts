// Finds operations that the journal has and Postgres does not. Every operation is committed in
// Postgres before Redis applies it, so Postgres was put back to a time before it: by a restore, or
// by a standby that was promoted without the last commits.

import { operationText } from "../../core/journal/audit-finding.ts";
import type { SqlQueries } from "../servers/transaction.ts";
import { unnestParameters, unnestText } from "../tables/unnest.ts";
import type { JournalItem } from "./prepared-entry.ts";

/** An operation as Redis applied it. A reversal may have taken less than its amount. */
export interface AppliedOperation {
  readonly account: string;
  readonly number: number;
  readonly kind: string;
  /** Nano-USD; below zero if it took. */
  readonly paid: bigint;
  readonly free: bigint;
  readonly atMs: number;
}

/** The operations of an account that Postgres has, to compare with those that Redis applied. */
export interface KnownOperations {
  /** The last number of each account. */
  readonly last: ReadonlyMap<string, number>;
  readonly lost: readonly AppliedOperation[];
}

/** A bucket waits: an operator must check the operations that Redis applied before losing them. */
export class LostOperations extends Error {
  override readonly name = "LostOperations";

  constructor(
    readonly bucket: number,
    readonly operations: readonly AppliedOperation[],
  ) {
    const shown = operations.slice(0, SHOWN_MAX).map(operationText).join(", ");
    const more = operations.length - SHOWN_MAX;
    super(`Bucket ${bucket}: Postgres lacks ${shown}${more > 0 ? ` and ${more} more` : ""}`);
  }
}

const SHOWN_MAX = 20;

const COLUMNS = {
  account: "text",
  number: "int",
  kind: "text",
  paid: "bigint",
  free: "bigint",
  place: "int",
} as const;

/**
 * Selects operations without a row of the same kind and effect, which would be as good as the lost
 * one. `prefix` stands before the names of the tables.
 */
const lostSql = (prefix: string) => `
  SELECT row.place FROM ${unnestText(COLUMNS)}
  WHERE NOT EXISTS (
    SELECT FROM ${prefix}operations o JOIN ${prefix}accounts a ON a.number = o.account
    WHERE a.id = row.account AND o.number = row.number AND o.kind = row.kind
      AND CASE
        WHEN o.set_aside_at IS NOT NULL AND row.paid = 0 AND row.free = 0 THEN true
        WHEN o.kind = 'forgiven' THEN row.paid = 0 AND row.free = 0
        WHEN o.amount < 0 THEN row.free = 0 AND row.paid BETWEEN o.amount AND 0
        WHEN o.balance = 'paid' THEN row.paid = o.amount AND row.free = 0
        ELSE row.free = o.amount AND row.paid = 0
      END)
  ORDER BY row.place`;

/** The operations among these entries that Postgres does not have, in their order. */
export async function lostOperations(
  sql: SqlQueries,
  items: readonly Pick<JournalItem, "entry">[],
): Promise<AppliedOperation[]> {
  return await lackingIn(
    sql,
    items.flatMap(({ entry }) => appliedBy(entry) ?? []),
  );
}

/** The operations among these that the tables with this prefix lack too, in their order. */
export async function lackingIn(
  sql: SqlQueries,
  applied: readonly AppliedOperation[],
  prefix = "",
): Promise<AppliedOperation[]> {
  if (applied.length === 0) return [];
  const rows = applied.map(({ account, number, kind, paid, free }, place) => {
    return { account, number, kind, paid: `${paid}`, free: `${free}`, place };
  });
  const lost = await sql.unsafe(lostSql(prefix), unnestParameters(COLUMNS, rows), {
    prepare: true,
  });
  return lost.flatMap(({ place }) => applied[Number(place)] ?? []);
}

const NUMBER_MAX = 2 ** 31 - 1;

/** Null for an entry of another type, and for one that no script would write. */
function appliedBy(entry: JournalItem["entry"]): AppliedOperation | null {
  if (entry === null || entry.operation === null || entry.kind === null) return null;
  const { account, operation: number, kind, paidDelta: paid, freeDelta: free, atMs } = entry;
  const isNumber = Number.isSafeInteger(number) && number > 0 && number <= NUMBER_MAX;
  // Postgres takes no NUL in a text.
  if (!isNumber || account.includes("\0")) return null;
  return { account, number, kind, paid, free, atMs };
}
