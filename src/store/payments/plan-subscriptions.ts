// Plans by the month, paid or given: each step is decided and stored under the lock of the row of
// the account.

import { and, asc, desc, eq, gt, lte, sql } from "drizzle-orm";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { PlanCharge, PlanEndReason } from "../../core/money/plan-terms.ts";
import type { AccountRef, AccountRow, AlsoInTransaction } from "../accounts/accounts.ts";
import { endSubscriptionIn } from "../accounts/plan-ends.ts";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import { addHolderMails, type HolderMail } from "../mail/outbox.ts";
import type { Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { planCharges, planSubscriptions, topUps } from "../tables/payment-schema.ts";
import { createTopUpIn, type NewTopUp, requestedTopUpIn, type TopUpsDeps } from "./top-ups.ts";

type SubscriptionRow = typeof planSubscriptions.$inferSelect;

/** A plan by the month that goes on, or was. */
export interface PlanSubscription extends Omit<SubscriptionRow, "price" | "nextPrice"> {
  readonly price: NanoUsd;
  readonly nextPrice: NanoUsd | null;
}

/** The facts that decide about the plan of an account. */
export interface PlanFacts {
  readonly account: AccountRow;
  /** Null where no plan was ever paid by the month. */
  readonly subscription: PlanSubscription | null;
  /** A charge whose result is not known yet. */
  readonly openCharge: string | null;
  /** Charges of the month that is due which failed. */
  readonly failed: { readonly count: number; readonly lastAt: Date | null };
}

/** The next step of a plan. */
export type PlanStep =
  | { readonly kind: "none" }
  | { readonly kind: "charge"; readonly topUp: NewTopUp; readonly charge: PlanCharge }
  | {
      readonly kind: "change";
      readonly to: Partial<
        Pick<
          PlanSubscription,
          "plan" | "price" | "nextPlan" | "nextPrice" | "card" | "consentVersion" | "consentAt"
        >
      >;
    }
  | {
      readonly kind: "end";
      readonly reason: PlanEndReason;
      readonly mails: readonly HolderMail[];
    };

export interface PlanDecision {
  readonly step: PlanStep;
  /** The charge that was made, or that the same request made before. */
  readonly topUpId: string | null;
}

interface PlanRequest {
  readonly now: Date;
  readonly decide: (facts: PlanFacts) => PlanStep;
  /** The holder's own id of the order: the same one charges once. */
  readonly request?: string | null;
  /** Runs in the transaction of a change. */
  readonly also?: AlsoInTransaction | undefined;
}

/**
 * Makes the step that `decide` returns for the facts, in one transaction. If the request was stored
 * before, nothing is decided and its charge is returned.
 */
export async function decidePlan(
  { database, random }: TopUpsDeps,
  number: number,
  { now, request = null, also, decide }: PlanRequest,
): Promise<PlanDecision> {
  return await database.db.transaction(async (tx) => {
    const facts = await readFacts(tx, number);
    const first = request === null ? null : await requestedTopUpIn(tx, number, request);
    if (first !== null) return { step: { kind: "none" }, topUpId: first };
    const step = decide(facts);
    if (step.kind !== "none") await also?.(tx, number);
    if (step.kind === "charge") {
      return { step, topUpId: await createCharge(tx, random, { ...step, request }) };
    }
    if (step.kind === "change") await change(tx, number, { ...step.to, changedAt: now });
    if (step.kind === "end") {
      await endSubscriptionIn(tx, number, { reason: step.reason, now });
      await addHolderMails(tx, facts.account, { mails: step.mails, now });
    }
    return { step, topUpId: null };
  });
}

async function createCharge(
  tx: Transaction,
  random: TopUpsDeps["random"],
  {
    topUp,
    charge,
    request,
  }: { readonly topUp: NewTopUp; readonly charge: PlanCharge; readonly request: string | null },
): Promise<string> {
  const id = await createTopUpIn(tx, random, { ...topUp, request });
  const [row] = await tx.select({ number: topUps.number }).from(topUps).where(eq(topUps.id, id));
  if (row === undefined) throw new Error(`The charge ${id} was not stored`);
  await tx.insert(planCharges).values({ topUp: row.number, ...charge });
  return id;
}

async function change(
  tx: Transaction,
  account: number,
  to: Extract<PlanStep, { kind: "change" }>["to"] & Pick<PlanSubscription, "changedAt">,
): Promise<void> {
  await tx.update(planSubscriptions).set(to).where(eq(planSubscriptions.account, account));
  if (to.plan === undefined) return;
  await tx.update(accounts).set({ plan: to.plan }).where(eq(accounts.number, account));
  await raiseVersion(tx, account);
}

const DUE_PER_PAGE = 200;

/**
 * Accounts with a plan whose paid month is over: all of them, page by page, so that accounts in
 * their days of grace do not hide the others.
 */
export async function* duePlans(
  { db }: Pick<Database, "db">,
  now: Date,
  perPage = DUE_PER_PAGE,
): AsyncGenerator<AccountRef & { readonly number: number }> {
  const { account, state, paidUntil } = planSubscriptions;
  for (let after = 0; ; ) {
    const rows = await db
      .select({ id: accounts.id, bucket: accounts.bucket, number: accounts.number })
      .from(planSubscriptions)
      .innerJoin(accounts, eq(accounts.number, account))
      .where(and(eq(state, "active"), lte(paidUntil, now), gt(account, after)))
      .orderBy(asc(account))
      .limit(perPage);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.number;
    yield* rows;
  }
}

/** Null where no plan was ever paid by the month. */
export async function readSubscription(
  queries: Queries,
  account: number,
): Promise<PlanSubscription | null> {
  const [row] = await queries
    .select()
    .from(planSubscriptions)
    .where(eq(planSubscriptions.account, account));
  if (row === undefined) return null;
  const nextPrice = row.nextPrice === null ? null : nano(row.nextPrice);
  return { ...row, price: nano(row.price), nextPrice };
}

/** Reads the facts that decide about a plan, to show them. */
export async function planFacts(
  { database }: Pick<TopUpsDeps, "database">,
  account: number,
): Promise<PlanFacts> {
  return await database.db.transaction((tx) => readFacts(tx, account));
}

async function readFacts(tx: Transaction, number: number): Promise<PlanFacts> {
  const account = await lockAccount(tx, number);
  if (account === null) throw new Error(`Account number ${number} is gone`);
  const subscription = await readSubscription(tx, number);
  const failed =
    subscription === null
      ? NONE_FAILED
      : await readFailed(
          tx,
          and(ofPlans(number), eq(planCharges.paidFrom, subscription.paidUntil)),
        );
  return { account, subscription, openCharge: await openCharge(tx, number), failed };
}

const ofPlans = (account: number) => and(eq(topUps.account, account), eq(topUps.kind, "plan"));

/** The id of a charge of the account's plan whose result is not known yet; null without one. */
export async function openCharge(queries: Queries, account: number): Promise<string | null> {
  const [open] = await queries
    .select({ id: topUps.id })
    .from(topUps)
    .where(and(ofPlans(account), eq(topUps.status, "open")))
    .orderBy(desc(topUps.number))
    .limit(1);
  return open?.id ?? null;
}

/** Stores a plan as the account's plan, in place of the one before. */
export async function storePlan(
  tx: Transaction,
  subscription: PlanSubscription,
  now: Date,
): Promise<void> {
  const { account } = subscription;
  const values = { ...subscription, changedAt: now };
  await tx
    .insert(planSubscriptions)
    .values(values)
    .onConflictDoUpdate({ target: planSubscriptions.account, set: values });
  await tx.update(accounts).set({ plan: subscription.plan }).where(eq(accounts.number, account));
  await raiseVersion(tx, account);
}

const NONE_FAILED = { count: 0, lastAt: null } as const;

async function readFailed(
  tx: Transaction,
  where: ReturnType<typeof and>,
): Promise<PlanFacts["failed"]> {
  const [row] = await tx
    .select({
      count: sql<number>`count(*)::int`,
      lastAt: sql<string | null>`max(${topUps.createdAt})`,
    })
    .from(topUps)
    .innerJoin(planCharges, eq(planCharges.topUp, topUps.number))
    .where(and(where, eq(topUps.status, "failed")));
  const lastAt = row?.lastAt ?? null;
  return { count: row?.count ?? 0, lastAt: lastAt === null ? null : new Date(lastAt) };
}
