// Finds the budgets that count an end user, and gives it the numbers under which default budgets
// count it. Knows end users only by their digests (D-947).

import { and, asc, eq, inArray, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Span } from "../../core/access/budgets.ts";
import type { EndUser, EndUserBudget } from "../../core/access/end-users.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { lockAccount } from "../ledger/operations.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { deleteInParts } from "../servers/delete-in-parts.ts";
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
  /** True if nothing of it must be brought up to date: its digest, and when it was last seen. */
  readonly isFresh: boolean;
  /** True if it may soon be deleted, so that it must be brought up to date before it counts. */
  readonly isOld: boolean;
}

/** Reads the budgets that count an end user of an account. */
export async function readEndUser<Default extends EndUserBudget>(
  { db }: Database,
  account: number,
  asked: AskedEndUser<Default>,
): Promise<readonly EndUserCount<Default>[]> {
  const [found] = await lookUp(db, account, [asked]);
  return found === undefined ? [] : countsOf(found);
}

/**
 * The budgets that count these end users from now on, in their order. Those that did not count one
 * yet begin, so that a call can name them. Of several processes that begin one at once, the first
 * gives it its number.
 */
export async function beginEndUsers(
  { db }: Database,
  accountId: string,
  asked: readonly AskedEndUser[],
): Promise<readonly (readonly EndUserCount[])[]> {
  const account = await accountNumber(db, accountId);
  return await db.transaction(async (tx) => {
    // Without the lock, processes with secrets in another order could count under two digests.
    await lockAccount(tx, account);
    for (;;) {
      const present = await lookUp(tx, account, asked);
      const counts = present.map(countsOf);
      if (counts.every(isUpToDate)) return counts;
      // A row that is deleted at this moment is not updated: then there is another turn.
      await begin(tx, present);
    }
  });
}

interface FoundEndUser<Default extends EndUserBudget = EndUserBudget> {
  /** The digest of the current secret. */
  readonly digest: string;
  readonly own: readonly OwnRow[];
  /** The default budgets that its own ones do not replace (D-948). */
  readonly defaults: readonly Default[];
  readonly counts: ReadonlyMap<number, CountRow>;
}

interface OwnRow {
  readonly budget: EndUserBudget;
  /** True if it has the digest of the current secret. */
  readonly isCurrent: boolean;
}

interface CountRow {
  readonly number: number;
  readonly budget: number;
  readonly isCurrent: boolean;
  /** True if it was seen within a day. */
  readonly isSeen: boolean;
  /** True if it was last seen so long ago that it may soon be deleted. */
  readonly isOld: boolean;
}

async function lookUp<Default extends EndUserBudget>(
  tx: Queries,
  account: number,
  asked: readonly AskedEndUser<Default>[],
): Promise<readonly FoundEndUser<Default>[]> {
  const everyDigest = asked.flatMap((one) => [...one.endUser.digests]);
  const { number, endUser, span, amount, removedAt } = endUserBudgets;
  const isOwn = and(eq(endUserBudgets.account, account), isAnyOf(endUser, everyDigest));
  const owned = await tx
    .select({ number, endUser, span, amount })
    .from(endUserBudgets)
    .where(and(isOwn, isNull(removedAt)));
  const numbers = [...new Set(asked.flatMap((one) => one.defaults.map((each) => each.number)))];
  const { budget, seenAt } = endUserCounts;
  const isAsked = and(isAnyOf(budget, numbers), isAnyOf(endUserCounts.endUser, everyDigest));
  const counted =
    numbers.length === 0
      ? []
      : await tx
          .select({
            number: endUserCounts.number,
            budget,
            endUser: endUserCounts.endUser,
            isSeen: sql<boolean>`${seenAt} > now() - interval '1 day'`,
            isOld: sql<boolean>`${seenAt} < now() - interval '30 days'`,
          })
          .from(endUserCounts)
          .where(isAsked);
  const rows = {
    owned: Map.groupBy(owned, (row) => row.endUser ?? ""),
    counted: Map.groupBy(counted, (row) => row.endUser),
  };
  return asked.map(({ endUser: { digests }, defaults: all }) => {
    const [digest] = digests;
    // Of two rows of one end user the row of the current secret counts, so it comes last. There are
    // two if a process knew only the secret before, although another one knew both already.
    const inOrder = digests.toReversed();
    const ownRows = inOrder.flatMap((each) =>
      (rows.owned.get(each) ?? []).map(({ number, span, amount }): OwnRow => {
        const terms: EndUserBudget = { number, span, of: "end_user", amount: nano(amount) };
        return { budget: terms, isCurrent: each === digest };
      }),
    );
    const own = [...new Map(ownRows.map((row) => [row.budget.span, row])).values()];
    const defaults = all.filter((one) => !own.some((row) => row.budget.span === one.span));
    const counts = inOrder.flatMap((each) =>
      (rows.counted.get(each) ?? []).map((row): [number, CountRow] => {
        return [row.budget, { ...row, isCurrent: each === digest }];
      }),
    );
    return { digest, own, defaults, counts: new Map(counts) };
  });
}

function isUpToDate(counts: readonly EndUserCount[]): boolean {
  return counts.every(({ hasBegun, isFresh }) => hasBegun && isFresh);
}

/** Adds what is missing, and brings up to date what has begun. */
async function begin(tx: Queries, present: readonly FoundEndUser[]): Promise<void> {
  const missing = present.flatMap(({ digest: endUser, defaults, counts }) =>
    defaults.flatMap(({ number: budget }) => (counts.has(budget) ? [] : [{ budget, endUser }])),
  );
  if (missing.length > 0) await tx.insert(endUserCounts).values(missing).onConflictDoNothing();
  for (const one of present) await bringUpToDate(tx, one.digest, countsOf(one));
}

/**
 * Gives the rows of an end user that have begun its current digest, and the time at which it was
 * seen.
 */
export async function bringUpToDate(
  tx: Queries,
  endUser: string,
  counts: readonly EndUserCount[],
): Promise<void> {
  for (const { budget, from, hasBegun, isFresh } of counts) {
    if (!hasBegun || isFresh) continue;
    const { number } = budget;
    if (from === null) {
      await tx.update(endUserBudgets).set({ endUser }).where(eq(endUserBudgets.number, number));
    } else {
      const seen = { endUser, seenAt: sql`now()` };
      await tx.update(endUserCounts).set(seen).where(eq(endUserCounts.number, number));
    }
  }
}

function countsOf<Default extends EndUserBudget>({
  own,
  defaults,
  counts,
}: FoundEndUser<Default>): readonly EndUserCount<Default>[] {
  const ofOwn = own.map(({ budget, isCurrent }) => {
    return { budget, from: null, hasBegun: true, isFresh: isCurrent, isOld: false };
  });
  const ofDefaults = defaults.map((from) => {
    const count = counts.get(from.number);
    const budget = { ...from, number: count?.number ?? from.number };
    const isFresh = count?.isCurrent === true && count.isSeen;
    return { budget, from, hasBegun: count !== undefined, isFresh, isOld: count?.isOld === true };
  });
  return [...ofOwn, ...ofDefaults];
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

/**
 * Deletes the numbers of end users that no process looked up since a time: of budgets whose spans
 * were all over by then, or that were taken away by then. An end user that comes back has others.
 * Returns how many.
 */
export async function deleteEndUsers({ db }: Database, before: Date): Promise<number> {
  const { number, budget, seenAt } = endUserCounts;
  const { span, removedAt } = endUserBudgets;
  const isOver = sql`(${span} <> 'total' OR ${and(isNotNull(removedAt), lt(removedAt, before))})`;
  return await deleteInParts(async (most) => {
    const old = db
      .select({ number })
      .from(endUserCounts)
      .innerJoin(endUserBudgets, eq(endUserBudgets.number, budget))
      .where(and(lt(seenAt, before), isOver))
      .limit(most);
    // The rule stands in both statements, because a process may look an end user up meanwhile.
    const rows = await db
      .delete(endUserCounts)
      .where(and(inArray(number, old), lt(seenAt, before)))
      .returning({ number });
    return rows.length;
  });
}
