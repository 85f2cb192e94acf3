// Builds access documents from accounts, payments and keys that are not revoked.

import { and, asc, desc, eq, isNotNull, isNull, max, type SQL, sql } from "drizzle-orm";
import type { StoredDocument } from "../../core/access/access.ts";
import type { BudgetOwner, StandingOwner, StoredBudget } from "../../core/access/budgets.ts";
import type { StoredKeyLimits } from "../../core/access/key-limits.ts";
import type { Scope } from "../../core/access/limits.ts";
import type { Queries } from "../servers/transaction.ts";
import { accounts, budgets, keys, operations, payments } from "../tables/account-schema.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { burnAlarms } from "../tables/burn-schema.ts";
import { autoTopUps } from "../tables/payment-schema.ts";
import { type DefaultBudget, defaultBudgets, haveNamedEndUsers } from "./end-user-budgets.ts";

type AccountColumns = typeof accounts.$inferSelect;

export interface AccountDocument {
  /** The account's number. */
  readonly account: number;
  readonly accountId: string;
  readonly bucket: number;
  readonly version: number;
  readonly document: string;
}

/** The access document as this transaction sees it; null if there is no such account. */
export async function readDocument(
  tx: Queries,
  accountId: string,
): Promise<AccountDocument | null> {
  const [document] = await readDocuments(tx, { where: eq(accounts.id, accountId), limit: 1 });
  return document ?? null;
}

/** The documents of the first `limit` accounts, by number, that match `where`. */
export async function readDocuments(
  tx: Queries,
  { where, limit }: { readonly where: SQL | undefined; readonly limit: number },
): Promise<AccountDocument[]> {
  const rows = await tx
    .select()
    .from(accounts)
    .where(where)
    .orderBy(asc(accounts.number))
    .limit(limit);
  if (rows.length === 0) return [];
  const numbers = rows.map((row) => row.number);
  const paid = await readPaid(tx, numbers);
  const live = await tx
    .select()
    .from(keys)
    .where(and(isAnyOf(keys.account, numbers), isNull(keys.revokedAt)))
    .orderBy(asc(keys.number));
  const keysOf = Map.groupBy(live, (key) => key.account);
  const allowances = await readAllowances(tx, numbers);
  const autoTopUps = await readAutoTopUps(tx, numbers);
  const budgetsOf = await readBudgets(tx, numbers);
  const endUsersOf = Map.groupBy(await defaultBudgets(tx, numbers), (row) => row.account);
  const haveNamed = await haveNamedEndUsers(tx, numbers);
  const measuresOf = await readMeasures(tx, numbers);
  return rows.map((row) => ({
    account: row.number,
    accountId: row.id,
    bucket: row.bucket,
    version: row.version,
    document: documentOf(row, {
      paid: paid.get(row.number),
      allowanceMonth: allowances.get(row.number) ?? 0,
      autoTopUp: autoTopUps.get(row.number),
      live: keysOf.get(row.number) ?? [],
      budgets: budgetsOf.get(row.number) ?? [],
      endUsers: endUsersOf.get(row.number) ?? [],
      hasNamedEndUsers: haveNamed.has(row.number),
      measures: measuresOf.get(row.number) ?? [],
    }),
  }));
}

/** The inputs of the tier (docs/money.md). */
interface Paid {
  readonly net: string;
  readonly first: string | null;
}

/**
 * The part of a payment's amount that still stands: `amount - lostOf(payment)` of
 * core/money/payment-credit.ts.
 */
const STANDING = sql`${payments.amount} - least(${payments.amount}, ${payments.refunded}
  + CASE ${payments.dispute} WHEN 'lost' THEN ${payments.disputed} ELSE 0 END)`;

async function readPaid(
  tx: Queries,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Paid>> {
  const rows = await tx
    .select({
      account: payments.account,
      net: sql<string>`sum(${STANDING})::text`,
      first: sql<string | null>`min(${payments.paidAt}) FILTER (WHERE ${STANDING} > 0)`,
    })
    .from(payments)
    .where(
      and(
        isAnyOf(payments.account, numbers),
        eq(payments.status, "succeeded"),
        eq(payments.purpose, "balance"),
      ),
    )
    .groupBy(payments.account);
  return new Map(rows.map(({ account, ...paid }) => [account, paid]));
}

/** The month, as 202611, of each account's latest allowance. */
async function readAllowances(
  tx: Queries,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await tx
    .select({ account: operations.account, month: max(operations.allowanceMonth) })
    .from(operations)
    .where(and(isAnyOf(operations.account, numbers), isNotNull(operations.allowanceMonth)))
    .groupBy(operations.account);
  return new Map(rows.map(({ account, month }) => [account, month ?? 0]));
}

/** The terms of automatic top-ups, of the accounts that have them enabled. */
async function readAutoTopUps(
  tx: Queries,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, DocumentParts["autoTopUp"]>> {
  const { account, amount, threshold, state } = autoTopUps;
  const rows = await tx
    .select({ account, amount, threshold })
    .from(autoTopUps)
    .where(and(isAnyOf(account, numbers), eq(state, "enabled")));
  return new Map(rows.map((row) => [row.account, row]));
}

type LiveBudget = Pick<
  typeof budgets.$inferSelect,
  "account" | "number" | "key" | "span" | "amount"
>;

/** The budgets of accounts and their keys that are not removed, in the order of their numbers. */
async function readBudgets(
  tx: Queries,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, readonly LiveBudget[]>> {
  const { account, number, key, span, amount, removedAt } = budgets;
  const rows = await tx
    .select({ account, number, key, span, amount })
    .from(budgets)
    .where(and(isAnyOf(account, numbers), isNull(removedAt)))
    .orderBy(asc(number));
  return Map.groupBy(rows, (row) => row.account);
}

/** A measure of a burn-rate rule that has not ended. */
interface LastingMeasure {
  readonly account: number;
  readonly key: number;
  readonly requestsPerMinute: number | null;
  readonly endsAt: Date | null;
}

/**
 * The measures against keys of accounts: of each key the longest pause, and the slower rate with
 * the fewest requests. Each counts until its end, by the clock of Redis; the version that its end
 * makes has the next one.
 */
async function readMeasures(
  tx: Queries,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, readonly LastingMeasure[]>> {
  const { account, key, action, requestsPerMinute, endsAt, endedAt } = burnAlarms;
  const rows = await tx
    .selectDistinctOn([key, action], { account, key, requestsPerMinute, endsAt })
    .from(burnAlarms)
    .where(and(isAnyOf(account, numbers), isNotNull(endsAt), isNull(endedAt)))
    .orderBy(asc(key), asc(action), asc(requestsPerMinute), desc(endsAt));
  return Map.groupBy(rows, (row) => row.account);
}

/** The field of a key's measures; missing without any. */
function storedMeasures(of: readonly LastingMeasure[] = []): Pick<StoredKeyLimits, "burn"> {
  if (of.length === 0) return {};
  return { burn: of.map((one) => [one.requestsPerMinute ?? 0, one.endsAt?.getTime() ?? 0]) };
}

/** The field of an owner's budgets; missing without any. */
function storedBudgets(of: readonly LiveBudget[] = []): { budgets?: readonly StoredBudget[] } {
  return of.length === 0 ? {} : { budgets: of.map(stored<StandingOwner>) };
}

/** The field of an owner's default budgets of end users; missing without any. */
function storedEndUsers(of: readonly DefaultBudget[] = []): Pick<StoredDocument, "end_users"> {
  return of.length === 0 ? {} : { end_users: of.map(stored<"end_user">) };
}

function stored<Of extends BudgetOwner>(
  one: Pick<LiveBudget, "number" | "amount"> & { readonly span: StoredBudget<Of>[1] },
): StoredBudget<Of> {
  return [one.number, one.span, one.amount.toString()];
}

/** The limits of a key that are set. */
function storedLimits({
  disabledAt,
  endsAt,
  models,
  requestsPerMinute: rpm,
  requestsPerDay: rpd,
  tokensPerMinute: tpm,
  tokensPerDay: tpd,
}: typeof keys.$inferSelect): StoredKeyLimits {
  return {
    ...(disabledAt !== null && { disabled: true }),
    ...(endsAt !== null && { ends_ms: endsAt.getTime() }),
    ...(models !== null && { models }),
    ...(rpm !== null && { rpm }),
    ...(rpd !== null && { rpd }),
    ...(tpm !== null && { tpm }),
    ...(tpd !== null && { tpd }),
  };
}

interface DocumentParts {
  readonly paid: Paid | undefined;
  readonly allowanceMonth: number;
  readonly autoTopUp: { readonly amount: bigint; readonly threshold: bigint } | undefined;
  readonly live: readonly (typeof keys.$inferSelect)[];
  readonly budgets: readonly LiveBudget[];
  readonly endUsers: readonly DefaultBudget[];
  readonly hasNamedEndUsers: boolean;
  readonly measures: readonly LastingMeasure[];
}

function documentOf(
  account: AccountColumns,
  { paid, allowanceMonth, autoTopUp, live, budgets, measures, ...parts }: DocumentParts,
): string {
  const ofKeys = Map.groupBy(budgets, ({ key }) => key);
  const endUsersOf = Map.groupBy(parts.endUsers, ({ key }) => key);
  const against = Map.groupBy(measures, ({ key }) => key);
  const document: StoredDocument = {
    state: account.state,
    state_reason: account.stateReason,
    contract: account.contract,
    net_paid: paid?.net ?? "0",
    first_payment_ms: paid?.first ? new Date(paid.first).getTime() : null,
    own_cap: account.ownCap === null ? null : account.ownCap.toString(),
    ...(account.plan !== null && { plan: account.plan, allowance_month: allowanceMonth }),
    ...(account.plan !== null && account.signUpGrant !== null && { no_allowance: true }),
    ...(autoTopUp !== undefined && {
      auto_top_up: {
        amount: autoTopUp.amount.toString(),
        threshold: autoTopUp.threshold.toString(),
      },
    }),
    keys: live.map((key) => ({
      id: key.id,
      name: key.name,
      scopes: key.scopes as Scope[],
      ip: key.ipAllowlist,
      monthly_limit: key.monthlyLimit === null ? null : key.monthlyLimit.toString(),
      ...storedBudgets(ofKeys.get(key.number)),
      ...storedEndUsers(endUsersOf.get(key.number)),
      ...storedLimits(key),
      ...storedMeasures(against.get(key.number)),
    })),
    ...storedBudgets(ofKeys.get(null)),
    ...storedEndUsers(endUsersOf.get(null)),
    ...(parts.hasNamedEndUsers && { named_end_users: true }),
  };
  return JSON.stringify(document);
}
