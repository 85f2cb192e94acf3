// The burn-rate rules of accounts. Adding or removing a rule changes no access document: only a
// breach does (burn-alarms.ts).

import { and, asc, count, eq, isNull } from "drizzle-orm";
import { BURN_RULES_MAX, type BurnTerms } from "../../core/access/burn-rules.ts";
import { nano } from "../../core/money/money.ts";
import { lockAccount } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { keys } from "../tables/account-schema.ts";
import { burnRules } from "../tables/burn-schema.ts";
import { type AlsoInTransaction, refuseClosed } from "./accounts.ts";
import { numberOfKey } from "./budgets.ts";

/** The account has as many burn-rate rules as it may have. */
export class TooManyRules extends Error {
  override readonly name = "TooManyRules";
}

export interface BurnRuleRow extends BurnTerms {
  readonly number: number;
  /** The id of the key of the rule; null for a rule for each key of the account. */
  readonly key: string | null;
  readonly createdAt: Date;
}

/** The rules of an account, oldest first. */
export async function listBurnRules(
  { db }: Pick<Database, "db">,
  account: number,
): Promise<readonly BurnRuleRow[]> {
  const { number, amount, times, action, requestsPerMinute, minutes, createdAt } = burnRules;
  const terms = { number, amount, times, action, requestsPerMinute, minutes, createdAt };
  const rows = await db
    .select({ ...terms, key: keys.id })
    .from(burnRules)
    .leftJoin(keys, eq(keys.number, burnRules.key))
    .where(and(eq(burnRules.account, account), isNull(burnRules.removedAt)))
    .orderBy(asc(number));
  return rows.map((row) => ({ ...row, amount: nano(row.amount) }));
}

/**
 * Adds a rule of an account, or of one of its keys, and returns its number.
 * @throws AccountClosed, NoSuchKey, TooManyRules
 */
export async function addBurnRule(
  { db }: Database,
  account: number,
  { key: keyId, also, ...terms }: BurnTerms & { key: string | null; also: AlsoInTransaction },
): Promise<number> {
  return await db.transaction(async (tx) => {
    refuseClosed(await lockAccount(tx, account));
    const isLive = and(eq(burnRules.account, account), isNull(burnRules.removedAt));
    const [live] = await tx.select({ count: count() }).from(burnRules).where(isLive);
    if ((live?.count ?? 0) >= BURN_RULES_MAX) {
      throw new TooManyRules(`The account has ${BURN_RULES_MAX} burn-rate rules: remove one`);
    }
    const key = keyId === null ? null : await numberOfKey(tx, account, keyId);
    const [row] = await tx
      .insert(burnRules)
      .values({ account, key, ...terms })
      .returning({ number: burnRules.number });
    if (row === undefined) throw new Error("The rule was not stored");
    await also(tx, account);
    return row.number;
  });
}

/** Removes a rule of an account; false if the account has none of this number. */
export async function removeBurnRule(
  { db }: Database,
  account: number,
  { number, now, also }: { number: number; now: Date; also: AlsoInTransaction },
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const own = and(eq(burnRules.account, account), eq(burnRules.number, number));
    const removed = await tx
      .update(burnRules)
      .set({ removedAt: now })
      .where(and(own, isNull(burnRules.removedAt)))
      .returning({ number: burnRules.number });
    if (removed.length > 0) await also(tx, account);
    return removed.length > 0;
  });
}
