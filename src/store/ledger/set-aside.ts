// Lists operations that Redis does not take, sets them aside, and books them again.

import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { OperationKind } from "../../core/journal/journal.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { AlsoInTransaction } from "../accounts/accounts.ts";
import type { Database } from "../servers/database.ts";
import { operations } from "../tables/account-schema.ts";
import { bookOperation, lockAccount, type OperationRow } from "./operations.ts";

/** An operation that is not in the ledger, or is set aside and not booked again. */
export interface OpenOperation {
  readonly accountId: string;
  readonly number: number;
  readonly kind: OperationKind;
  readonly amount: NanoUsd;
  readonly createdAt: Date;
  readonly isSetAside: boolean;
}

const LISTED_MAX = 100;

/** The oldest operation of each account that waits since `before`, and all that are set aside. */
export async function openOperations({ sql }: Database, before: Date): Promise<OpenOperation[]> {
  const rows = await sql`
    SELECT a.id, o.number, o.kind, o.amount, o.created_at,
      o.set_aside_at IS NOT NULL AS is_set_aside
    FROM (
      SELECT * FROM operations WHERE set_aside_at IS NOT NULL AND replaced_by IS NULL
      UNION ALL
      SELECT * FROM (
        SELECT DISTINCT ON (account) * FROM operations WHERE NOT booked AND set_aside_at IS NULL
        ORDER BY account, number) AS first
      WHERE created_at < ${before.toISOString()}) AS o
    JOIN accounts a ON a.number = o.account
    ORDER BY o.created_at LIMIT ${LISTED_MAX}::int`;
  return rows.map((row) => ({
    accountId: String(row.id),
    number: Number(row.number),
    kind: row.kind,
    amount: nano(row.amount),
    createdAt: new Date(row.created_at),
    isSetAside: Boolean(row.is_set_aside),
  }));
}

/** Marks an operation: Redis must not apply it. */
interface SetAside {
  /** The number of the account. */
  readonly account: number;
  /** The number of the operation. */
  readonly number: number;
  readonly reason: string;
}

/** Sets an operation aside. False if the operation is in the ledger or set aside already. */
export async function setOperationAside(
  { db }: Database,
  { account, number, reason }: SetAside,
  also?: AlsoInTransaction,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const set = await tx
      .update(operations)
      .set({ setAsideAt: sql`now()`, setAsideReason: reason })
      .where(
        and(
          eq(operations.account, account),
          eq(operations.number, number),
          eq(operations.booked, false),
          isNull(operations.setAsideAt),
        ),
      )
      .returning({ number: operations.number });
    if (set.length > 0) await also?.(tx, account);
    return set.length > 0;
  });
}

/**
 * Books the change of an operation that is set aside again, under the next number. Returns "ended"
 * for free credit whose time is over: nothing is booked, because newer free credit would prolong it
 * (D-587), and the operation counts as replaced. Returns null if the account has no such operation,
 * if the ledger does not have it yet, or if it is replaced already.
 * @throws BalanceTooLarge
 */
export async function bookAgain(
  { db }: Database,
  { account, number }: { readonly account: number; readonly number: number },
  also?: AlsoInTransaction,
): Promise<OperationRow | "ended" | null> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const { setAsideAt } = operations;
    const place = and(eq(operations.account, account), eq(operations.number, number));
    const hasEnded = sql<boolean>`coalesce(${operations.expiresAt} <= now(), false)`;
    const [found] = await tx
      .select({ row: operations, hasEnded })
      .from(operations)
      .where(and(place, operations.booked, isNotNull(setAsideAt), isNull(operations.replacedBy)));
    if (found === undefined) return null;
    const { row } = found;
    const markReplaced = async (replacedBy: number) => {
      await tx.update(operations).set({ replacedBy }).where(place);
      await also?.(tx, account);
    };
    if (found.hasEnded) {
      await markReplaced(number);
      return "ended";
    }
    const { kind, balance, actor, payment, expiresAt } = row;
    const booked = await bookOperation(tx, account, {
      kind,
      balance,
      actor,
      amount: nano(row.amount),
      ...(payment === null ? {} : { payment }),
      ...(expiresAt === null ? {} : { expiresAt }),
      reason: `operation ${number}${row.reason === null ? "" : `: ${row.reason}`}`,
    });
    await markReplaced(booked.number);
    return booked;
  });
}
