// Sets and removes budgets. Each change raises the version of the access document, which has them.

import { and, eq, isNull, sql } from "drizzle-orm";
import { OWN_BUDGETS_MAX, type StandingSpan } from "../../core/access/budgets.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { budgets, keys } from "../tables/account-schema.ts";
import { type AlsoInTransaction, refuseClosed } from "./accounts.ts";

/** A budget of an account or, with `key`, of one of its keys; null takes it away. */
export interface BudgetTerms {
  /** The id of a key of the account that is not revoked. */
  readonly key: string | null;
  readonly span: StandingSpan;
  readonly amount: NanoUsd | null;
}

/** A call would have to count against more budgets than it may name. */
export class TooManyBudgets extends Error {
  override readonly name = "TooManyBudgets";
}

/** The account has no such key, or it is revoked. */
export class NoSuchKey extends Error {
  override readonly name = "NoSuchKey";
}

/**
 * Sets a budget. An existing budget keeps its count; one that was taken away and is set again
 * begins at zero. The same budget set again changes nothing.
 * @throws AccountClosed, NoSuchKey, TooManyBudgets
 */
export async function setBudget(
  { db }: Database,
  account: number,
  { also, ...terms }: BudgetTerms & { readonly also?: AlsoInTransaction | undefined },
): Promise<void> {
  await db.transaction(async (tx) => {
    refuseClosed(await lockAccount(tx, account));
    if (!(await setBudgetIn(tx, account, terms))) return;
    await raiseVersion(tx, account);
    await also?.(tx, account);
  });
}

/**
 * Sets a budget in a transaction that has locked the account, and raises the version of its access
 * document if this returns true: the budget was another one.
 * @throws NoSuchKey, TooManyBudgets
 */
export async function setBudgetIn(
  tx: Transaction,
  account: number,
  { key: keyId, span, amount }: BudgetTerms,
): Promise<boolean> {
  const key = keyId === null ? null : await numberOfKey(tx, account, keyId);
  const live = await liveBudgets(tx, account);
  const present = live.find((one) => one.key === key && one.span === span);
  if ((present?.amount ?? null) === amount) return false;
  if (present === undefined && amount !== null) {
    refuseTooMany([...live, { key }]);
    await tx.insert(budgets).values({ account, key, span, amount });
  } else if (present !== undefined) {
    const change = amount === null ? { removedAt: sql`now()` } : { amount };
    await tx.update(budgets).set(change).where(eq(budgets.number, present.number));
  }
  return true;
}

/** @throws NoSuchKey */
export async function numberOfKey(tx: Transaction, account: number, id: string): Promise<number> {
  const isLive = and(eq(keys.account, account), eq(keys.id, id), isNull(keys.revokedAt));
  const [row] = await tx.select({ number: keys.number }).from(keys).where(isLive);
  if (row === undefined) throw new NoSuchKey(`The account has no key ${id}, or it is revoked`);
  return row.number;
}

async function liveBudgets(tx: Transaction, account: number) {
  const { number, key, span, amount } = budgets;
  const rows = await tx
    .select({ number, key, span, amount })
    .from(budgets)
    .leftJoin(keys, eq(keys.number, key))
    .where(and(eq(budgets.account, account), isNull(budgets.removedAt), isNull(keys.revokedAt)));
  return rows.map((row) => ({ ...row, amount: nano(row.amount) }));
}

function refuseTooMany(all: readonly { readonly key: number | null }[]): void {
  const ofAccount = all.filter(({ key }) => key === null).length;
  const ofKeys = Map.groupBy(all, ({ key }) => key);
  const most = Math.max(0, ...[...ofKeys].map(([key, of]) => (key === null ? 0 : of.length)));
  if (ofAccount + most <= OWN_BUDGETS_MAX) return;
  throw new TooManyBudgets(
    `The account and any one of its keys may have ${OWN_BUDGETS_MAX} budgets together, beside ` +
      "those of the month",
  );
}
