// Sets the budgets of end users: those that each has by default, and those of single ones. Each
// change raises the version of the access document, with which every process forgets its
// budgets of end users.

import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { Span } from "../../core/access/budgets.ts";
import type { EndUser, EndUserBudget } from "../../core/access/end-users.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import { arrayText, type Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { keys } from "../tables/account-schema.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { endUserBudgets } from "../tables/end-user-schema.ts";
import { type AlsoInTransaction, refuseClosed } from "./accounts.ts";
import { numberOfKey } from "./budgets.ts";

/** A budget of end users; null takes it away. */
export interface EndUserTerms {
  /** The end user whose own budget it is; null for the default budget of every one. */
  readonly endUser: EndUser | null;
  /** The id of the key whose calls alone a default budget counts; null for those of all keys. */
  readonly key: string | null;
  readonly span: Span;
  readonly amount: NanoUsd | null;
}

/** A default budget that is not taken away. */
export interface DefaultBudget {
  readonly account: number;
  readonly number: number;
  readonly key: number | null;
  readonly span: Span;
  readonly amount: bigint;
}

/** The default budgets of end users of accounts, in the order of their numbers. */
export async function defaultBudgets(
  tx: Queries,
  accounts: readonly number[],
): Promise<readonly DefaultBudget[]> {
  const { account, number, key, span, amount, endUser, removedAt } = endUserBudgets;
  return await tx
    .select({ account, number, key, span, amount })
    .from(endUserBudgets)
    .where(and(isAnyOf(account, accounts), isNull(endUser), isNull(removedAt)))
    .orderBy(asc(number));
}

/** The accounts with an end user that has a budget of its own. */
export async function haveNamedEndUsers(
  tx: Queries,
  accounts: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await tx.execute<{ account: string }>(sql`
    SELECT account::text FROM unnest(${arrayText(accounts)}::text::bigint[]) AS named (account)
    WHERE EXISTS (SELECT FROM end_user_budgets b WHERE b.account = named.account
      AND b.end_user IS NOT NULL AND b.removed_at IS NULL)`);
  return new Set(rows.map(({ account }) => Number(account)));
}

/** A default budget with the id of its key; null for one of all keys. */
export interface ShownDefault extends EndUserBudget {
  readonly key: string | null;
}

/** The default budgets of an account that count calls. */
export async function readShownDefaults(
  { db }: Database,
  account: number,
): Promise<readonly ShownDefault[]> {
  const { key, span, amount, number, endUser } = endUserBudgets;
  const rows = await db
    .select({ key: keys.id, number, span, amount })
    .from(endUserBudgets)
    .leftJoin(keys, eq(keys.number, key))
    .where(and(isLive(account), isNull(endUser), isNull(keys.revokedAt)))
    .orderBy(asc(number));
  return rows.map((row) => ({ ...row, of: "end_user", amount: nano(row.amount) }));
}

/** The number of end users of an account that have budgets of their own. */
export async function countNamedEndUsers({ db }: Database, account: number): Promise<number> {
  const { endUser } = endUserBudgets;
  const [named] = await db
    .select({ count: sql<number>`count(DISTINCT ${endUser})::int` })
    .from(endUserBudgets)
    .where(and(isLive(account), isNotNull(endUser)));
  return named?.count ?? 0;
}

function isLive(account: number) {
  return and(eq(endUserBudgets.account, account), isNull(endUserBudgets.removedAt));
}

/**
 * Sets a budget of end users. A budget that is there keeps its counts; a budget that was
 * removed and is set again begins at zero.
 * @throws AccountClosed, NoSuchKey
 */
export async function setEndUserBudget(
  { db }: Database,
  account: number,
  { also, ...terms }: EndUserTerms & { readonly also?: AlsoInTransaction | undefined },
): Promise<void> {
  await db.transaction(async (tx) => {
    refuseClosed(await lockAccount(tx, account));
    if (!(await setIn(tx, account, terms))) return;
    await raiseVersion(tx, account);
    await also?.(tx, account);
  });
}

/** Returns false if the budget is as it should be. */
async function setIn(
  tx: Transaction,
  account: number,
  { endUser, key: keyId, span, amount }: EndUserTerms,
): Promise<boolean> {
  const key = keyId === null ? null : await numberOfKey(tx, account, keyId);
  const { number, removedAt } = endUserBudgets;
  const isOwner = and(
    key === null ? isNull(endUserBudgets.key) : eq(endUserBudgets.key, key),
    endUser === null
      ? isNull(endUserBudgets.endUser)
      : isAnyOf(endUserBudgets.endUser, endUser.digests),
  );
  const isSpan = and(eq(endUserBudgets.account, account), eq(endUserBudgets.span, span));
  const [present] = await tx
    .select({ number, amount: endUserBudgets.amount })
    .from(endUserBudgets)
    .where(and(isSpan, isOwner, isNull(removedAt)))
    .orderBy(sql`${endUserBudgets.endUser} = ${endUser?.digests[0] ?? ""} DESC`);
  if ((present?.amount ?? null) === amount) return false;
  if (present !== undefined) {
    const change = amount === null ? { removedAt: sql`now()` } : { amount };
    await tx.update(endUserBudgets).set(change).where(eq(number, present.number));
  } else if (amount !== null) {
    const digest = endUser?.digests[0] ?? null;
    await tx.insert(endUserBudgets).values({ account, key, endUser: digest, span, amount });
  }
  return true;
}
