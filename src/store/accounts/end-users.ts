// Finds the budgets that count an end user, and gives it the numbers under which default budgets
// count it. Knows end users only by their digests (D-947).

import { and, asc, eq, inArray, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Span } from "../../core/access/budgets.ts";
import type { EndUser, EndUserBudget } from "../../core/access/end-users.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { lockAccount } from "../ledger/operations.ts";
import { arrayText, type Database } from "../servers/database.ts";
import type { Queries } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { endUserBudgets, endUserCounts } from "../tables/end-user-schema.ts";
import { accountNumber } from "./account-number.ts";

/** An end user of an account, and the default budgets that may count it. */
export interface AskedEndUser<Default extends EndUserBudget = EndUserBudget> {
  readonly endUser: Pick<EndUser, "digests">;
  readonly defaults: readonly Default[];
}

/** A budget that counts an end user. */
export interface EndUserCount<Default extends EndUserBudget = EndUserBudget> {
  /** The number of the budget counts this end user alone, once the count has begun. */
  readonly budget: EndUserBudget;
  /** The default budget that it comes from; null for one of the end user's own. */
  readonly from: Default | null;
  /** False for a default budget that has not counted this end user yet. */
  readonly hasBegun: boolean;
}

/** Reads the budgets that count an end user of an account. */
export async function readEndUser<Default extends EndUserBudget>(
  { db }: Database,
  account: number,
  asked: AskedEndUser<Default>,
): Promise<readonly EndUserCount<Default>[]> {
  return countsOf(await lookUp(db, account, asked));
}

/**
 * The budgets that count an end user from now on. Budgets that did not count the end user yet
 * begin, so that a call can name them. Of several processes that begin one at once, the first gives
 * it its number.
 */
export async function beginEndUser(
  { db }: Database,
  accountId: string,
  asked: AskedEndUser,
): Promise<readonly EndUserBudget[]> {
  const account = await accountNumber(db, accountId);
  const found = await lookUp(db, account, asked);
  if (isUpToDate(found)) return budgetsOf(found);
  return await db.transaction(async (tx) => {
    // Without the lock, processes with secrets in another order could count under two digests.
    await lockAccount(tx, account);
    for (;;) {
      const present = await lookUp(tx, account, asked);
      if (isUpToDate(present)) return budgetsOf(present);
      // A row that is deleted at this moment is not updated: then there is another turn.
      await begin(tx, present, asked.endUser.digests[0]);
    }
  });
}

interface FoundEndUser<Default extends EndUserBudget = EndUserBudget> {
  readonly own: readonly OwnRow[];
  /** The default budgets that no budget of the end user replaces (D-948). */
  readonly defaults: readonly Default[];
  readonly counts: ReadonlyMap<number, CountRow>;
}

interface FoundRow {
  readonly number: number;
  /** True if the row has the digest of the current secret. */
  readonly isCurrent: boolean;
}

interface OwnRow extends FoundRow {
  readonly budget: EndUserBudget;
}

interface CountRow extends FoundRow {
  readonly isSeen: boolean;
}

async function lookUp<Default extends EndUserBudget>(
  tx: Queries,
  account: number,
  { endUser: { digests }, defaults: all }: AskedEndUser<Default>,
): Promise<FoundEndUser<Default>> {
  const { number, endUser, span, amount, removedAt } = endUserBudgets;
  const isOwn = and(eq(endUserBudgets.account, account), isAnyOf(endUser, digests));
  const rows = await tx
    .select({ number, endUser, span, amount })
    .from(endUserBudgets)
    .where(and(isOwn, isNull(removedAt)));
  const ownRows = rows.map(({ endUser: digest, amount, ...row }): OwnRow => {
    const budget: EndUserBudget = { ...row, of: "end_user", amount: nano(amount) };
    return { number: row.number, isCurrent: digest === digests[0], budget };
  });
  const own = [
    ...new Map(ownRows.toSorted(currentLast).map((row) => [row.budget.span, row])).values(),
  ];
  const defaults = all.filter((one) => !own.some(({ budget }) => budget.span === one.span));
  if (defaults.length === 0) return { own, defaults, counts: new Map() };
  const numbers = defaults.map((one) => one.number);
  const counts = await tx
    .select({
      number: endUserCounts.number,
      budget: endUserCounts.budget,
      endUser: endUserCounts.endUser,
      isSeen: sql<boolean>`${endUserCounts.seenAt} > now() - interval '1 day'`,
    })
    .from(endUserCounts)
    .where(and(isAnyOf(endUserCounts.budget, numbers), isAnyOf(endUserCounts.endUser, digests)));
  const rowsOf = counts.map(({ endUser: digest, ...row }) => {
    return { ...row, isCurrent: digest === digests[0] };
  });
  const byBudget = rowsOf.toSorted(currentLast).map((row) => [row.budget, row] as const);
  return { own, defaults, counts: new Map(byBudget) };
}

/**
 * Of two rows of one end user, the row of the current secret counts. Two rows exist if one process
 * knew only the earlier secret while another process knew both.
 */
function currentLast(a: FoundRow, b: FoundRow): number {
  return Number(a.isCurrent) - Number(b.isCurrent);
}

function isUpToDate({ own, defaults, counts }: FoundEndUser): boolean {
  if (!own.every(({ isCurrent }) => isCurrent)) return false;
  return defaults.every(({ number }) => {
    const count = counts.get(number);
    return count?.isCurrent === true && count.isSeen;
  });
}

/** Adds missing rows, and moves the rows under an earlier secret's digest to the current one. */
async function begin(tx: Queries, present: FoundEndUser, endUser: string): Promise<void> {
  const { own, defaults, counts } = present;
  for (const { number, isCurrent } of own) {
    if (isCurrent) continue;
    await tx.update(endUserBudgets).set({ endUser }).where(eq(endUserBudgets.number, number));
  }
  for (const { number: budget } of defaults) {
    const count = counts.get(budget);
    if (count === undefined) await tx.insert(endUserCounts).values({ budget, endUser });
    else {
      const seen = { endUser, seenAt: sql`now()` };
      await tx.update(endUserCounts).set(seen).where(eq(endUserCounts.number, count.number));
    }
  }
}

function countsOf<Default extends EndUserBudget>({
  own,
  defaults,
  counts,
}: FoundEndUser<Default>): readonly EndUserCount<Default>[] {
  const ofOwn = own.map(({ budget }) => ({ budget, from: null, hasBegun: true }));
  const ofDefaults = defaults.map((from) => {
    const count = counts.get(from.number);
    const budget = { ...from, number: count?.number ?? from.number };
    return { budget, from, hasBegun: count !== undefined };
  });
  return [...ofOwn, ...ofDefaults];
}

function budgetsOf(found: FoundEndUser): readonly EndUserBudget[] {
  return countsOf(found).map(({ budget }) => budget);
}

/** An account that has, or had, budgets of end users. */
export interface EndUserAccount {
  readonly account: number;
  readonly accountId: string;
  readonly bucket: number;
}

/** The accounts that have, or had, budgets of end users. */
export async function accountsWithEndUsers({ db }: Database): Promise<readonly EndUserAccount[]> {
  const { number: account, id: accountId, bucket } = accounts;
  const owners = db.select({ account: endUserBudgets.account }).from(endUserBudgets);
  return await db
    .select({ account, accountId, bucket })
    .from(accounts)
    .where(inArray(account, owners))
    .orderBy(asc(account));
}

/** A budget as Redis has it: its number, and the begins of its last two spans. */
export interface KeptBudget {
  readonly number: number;
  readonly startMs: number;
  readonly previousStartMs: number;
}

/** A budget that counts one end user, and its charges that Postgres has, by begin of the span. */
export interface LoggedEndUser {
  readonly number: number;
  /** Null for a budget that was removed: no call names it again. */
  readonly span: Span | null;
  /** The spending in the spans that Redis has. */
  readonly spans: ReadonlyMap<number, NanoUsd>;
}

/**
 * The budgets, among these, that count an end user, and those whose number no table has any more:
 * such a number was of an end user who has been deleted.
 */
export async function readLoggedEndUsers(
  { db }: Database,
  account: number,
  kept: readonly KeptBudget[],
): Promise<readonly LoggedEndUser[]> {
  const numbers = arrayText(kept.map(({ number }) => number));
  const starts = arrayText(kept.map(({ startMs }) => startMs));
  const previous = arrayText(kept.map(({ previousStartMs }) => previousStartMs));
  const rows = await db.execute<LoggedRow>(sql`
    SELECT kept.number::text,
      CASE WHEN own.removed_at IS NULL AND each.removed_at IS NULL
        THEN coalesce(own.span, each.span) END AS span,
      coalesce((SELECT jsonb_object_agg(s.start::text, s.spent::text) FROM budget_spend s
        WHERE s.account = ${account} AND s.budget = kept.number
          AND s.start IN (kept.start, kept.previous)), '{}') AS spans
    FROM unnest(${numbers}::text::bigint[], ${starts}::text::bigint[], ${previous}::text::bigint[])
      AS kept (number, start, previous)
    LEFT JOIN end_user_budgets own ON own.number = kept.number
    LEFT JOIN end_user_counts counted ON counted.number = kept.number
    LEFT JOIN end_user_budgets each ON each.number = counted.budget
    WHERE own.end_user IS NOT NULL OR each.number IS NOT NULL
      OR (own.number IS NULL
        AND NOT EXISTS (SELECT FROM budgets b WHERE b.number = kept.number)
        AND NOT EXISTS (SELECT FROM runs r WHERE r.number = kept.number))`);
  return rows.map(({ number, span, spans }) => {
    const amounts = Object.entries(spans).map(([start, spent]) => [Number(start), nano(spent)]);
    return { number: Number(number), span, spans: new Map(amounts as [number, NanoUsd][]) };
  });
}

interface LoggedRow extends Record<string, unknown> {
  readonly number: string;
  readonly span: Span | null;
  readonly spans: Record<string, string>;
}

const DELETED_AT_ONCE = 1_000;

/**
 * Deletes the numbers of end users that no process looked up since a time: of budgets whose spans
 * were all over by then, or that were taken away by then. An end user that comes back has others.
 * Returns how many.
 */
export async function deleteEndUsers({ db }: Database, before: Date): Promise<number> {
  const { number, budget, seenAt } = endUserCounts;
  const { span, removedAt } = endUserBudgets;
  for (let deleted = 0; ; ) {
    const isOver = sql`(${span} <> 'total' OR ${and(isNotNull(removedAt), lt(removedAt, before))})`;
    const old = db
      .select({ number })
      .from(endUserCounts)
      .innerJoin(endUserBudgets, eq(endUserBudgets.number, budget))
      .where(and(lt(seenAt, before), isOver))
      .limit(DELETED_AT_ONCE);
    // The rule stands in both statements, because a process may look an end user up meanwhile.
    const rows = await db
      .delete(endUserCounts)
      .where(and(inArray(number, old), lt(seenAt, before)))
      .returning({ number });
    deleted += rows.length;
    if (rows.length < DELETED_AT_ONCE) return deleted;
  }
}
