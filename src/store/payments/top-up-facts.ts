// The facts that decide about a top-up of an account, read under the lock of its row.

import { and, eq, sql } from "drizzle-orm";
import { type AccessDocument, parseDocument } from "../../core/access/access.ts";
import { DAY_MS } from "../../core/durations.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { monthText, startOfMonth } from "../../core/money/months.ts";
import type { AccountRow, AlsoInTransaction } from "../accounts/accounts.ts";
import { readDocument } from "../accounts/documents.ts";
import { lockAccount, nextOperation } from "../ledger/operations.ts";
import type { Transaction } from "../servers/transaction.ts";
import { payments } from "../tables/account-schema.ts";
import { topUps } from "../tables/payment-schema.ts";
import { type AutoTopUp, readAutoTopUp } from "./auto-top-ups.ts";
import { createTopUpIn, type NewTopUp, requestedTopUpIn, type TopUpsDeps } from "./top-ups.ts";

export interface TopUpFacts {
  readonly account: AccountRow;
  /** The access document, with the state and the inputs of the tier. */
  readonly document: AccessDocument;
  /** True if a payment of any provider has succeeded. */
  readonly hasPaid: boolean;
  /** The sum of top-ups by hand in the last 24 hours, paid or still open. */
  readonly manualDay: NanoUsd;
  /** The part of `manualDay` that waits to be paid on a page. */
  readonly unpaidPages: NanoUsd;
  /**
   * The sums of automatic top-ups in the last 24 hours and in this UTC month, paid or still open.
   */
  readonly autoDay: NanoUsd;
  readonly autoMonth: NanoUsd;
  /** The number of automatic top-ups within the last 24 hours, failed ones included. */
  readonly autoDayCount: number;
  readonly lastAutoAt: Date | null;
  readonly hasOpenAuto: boolean;
  /** Null if the account has no automatic top-up. */
  readonly auto: AutoTopUp | null;
  /** The number of the account's last operation: a wallet that lacks it is too old to decide by. */
  readonly lastOperation: number;
}

/**
 * Stores the top-up that `decide` makes of the facts; null if it makes none. No other top-up of the
 * account is made at the same time.
 */
export async function createChecked(
  { database, random }: TopUpsDeps,
  { account, now }: { readonly account: number; readonly now: Date },
  decide: (facts: TopUpFacts) => NewTopUp | null,
): Promise<string | null> {
  return await database.db.transaction(async (tx) => {
    const topUp = decide(await readFacts(tx, account, now));
    return topUp === null ? null : await createTopUpIn(tx, random, topUp);
  });
}

interface RequestedTopUp {
  /** The number of the account. */
  readonly account: number;
  readonly now: Date;
  readonly request: string | null;
  /** Runs in the transaction of a new one. */
  readonly also?: AlsoInTransaction | undefined;
}

/**
 * `createChecked` for a top-up that its payer requests with an id. If an earlier request with this
 * id made a top-up, nothing is decided, and the id of that top-up is returned.
 */
export async function createRequested(
  { database, random }: TopUpsDeps,
  { account, now, request, also }: RequestedTopUp,
  decide: (facts: TopUpFacts) => NewTopUp,
): Promise<{ readonly id: string; readonly isRepeat: boolean }> {
  return await database.db.transaction(async (tx) => {
    const facts = await readFacts(tx, account, now);
    // Found under the lock of the account: two at the same time make one.
    const first = request === null ? null : await requestedTopUpIn(tx, account, request);
    if (first !== null) return { id: first, isRepeat: true };
    const id = await createTopUpIn(tx, random, { ...decide(facts), request });
    await also?.(tx, account);
    return { id, isRepeat: false };
  });
}

/** Reads the facts that decide about a top-up, to show them. */
export async function topUpFacts(
  { database }: Pick<TopUpsDeps, "database">,
  account: number,
  now: Date,
): Promise<TopUpFacts> {
  return await database.db.transaction((tx) => readFacts(tx, account, now));
}

async function readFacts(tx: Transaction, number: number, now: Date): Promise<TopUpFacts> {
  const account = await lockAccount(tx, number);
  const stored = account === null ? null : await readDocument(tx, account.id);
  if (account === null || stored === null) throw new Error(`Account number ${number} is gone`);
  const [paid] = await tx
    .select({ number: payments.number })
    .from(payments)
    .where(and(eq(payments.account, number), eq(payments.status, "succeeded")))
    .limit(1);
  return {
    account,
    document: parseDocument(stored.document),
    hasPaid: paid !== undefined,
    ...(await readSums(tx, number, now)),
    auto: await readAutoTopUp(tx, number),
    lastOperation: (await nextOperation(tx, number)) - 1,
  };
}

async function readSums(tx: Transaction, account: number, now: Date) {
  const day = new Date(now.getTime() - DAY_MS).toISOString();
  const month = startOfMonth(monthText(now.getTime())).toISOString();
  const isAuto = sql`${topUps.kind} = 'auto'`;
  const isByHand = sql`${topUps.kind} IN ('checkout', 'card')`;
  const counts = sql`${topUps.status} IN ('open', 'succeeded')`;
  const sum = (where: ReturnType<typeof sql>) =>
    sql<string>`coalesce(sum(${topUps.amount}) FILTER (WHERE ${where} AND ${counts}), 0)::text`;
  const [row] = await tx
    .select({
      manualDay: sum(sql`${isByHand} AND ${topUps.createdAt} > ${day}`),
      unpaidPages: sum(sql`${topUps.kind} = 'checkout' AND ${topUps.checkout} IS NOT NULL
        AND ${topUps.status} = 'open' AND ${topUps.createdAt} > ${day}`),
      autoDay: sum(sql`${isAuto} AND ${topUps.createdAt} > ${day}`),
      autoMonth: sum(sql`${isAuto} AND ${topUps.createdAt} >= ${month}`),
      autoDayCount: sql<number>`(count(*) FILTER (
        WHERE ${isAuto} AND ${topUps.createdAt} > ${day}))::int`,
      lastAutoAt: sql<string | null>`max(${topUps.createdAt}) FILTER (WHERE ${isAuto})`,
      hasOpenAuto: sql<boolean>`coalesce(bool_or(${isAuto} AND ${topUps.status} = 'open'), false)`,
    })
    .from(topUps)
    .where(eq(topUps.account, account));
  if (row === undefined) throw new Error("An aggregate has no row");
  return {
    manualDay: nano(row.manualDay),
    unpaidPages: nano(row.unpaidPages),
    autoDay: nano(row.autoDay),
    autoMonth: nano(row.autoMonth),
    autoDayCount: row.autoDayCount,
    lastAutoAt: row.lastAutoAt === null ? null : new Date(row.lastAutoAt),
    hasOpenAuto: row.hasOpenAuto,
  };
}
