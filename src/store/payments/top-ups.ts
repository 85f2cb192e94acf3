// Top-ups: charges that were requested from a payment provider. The row, with the amount that will
// be credited, is written before the provider is asked.

import { and, asc, desc, eq, gt, isNotNull, isNull, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Surface } from "../../core/access/services.ts";
import { newId, type RandomBytes } from "../../core/ids.ts";
import { add, type NanoUsd, nano } from "../../core/money/money.ts";
import type { PlanCharge } from "../../core/money/plan-terms.ts";
import type { Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { accounts, payments } from "../tables/account-schema.ts";
import { planCharges, savedCards, topUps } from "../tables/payment-schema.ts";

type TopUpRow = Readonly<typeof topUps.$inferSelect>;

export const TOP_UP_KINDS = topUps.kind.enumValues;
export type TopUpKind = TopUpRow["kind"];
export const TOP_UP_STATUSES = topUps.status.enumValues;
export type TopUpStatus = TopUpRow["status"];

/** A row without the numbers of its readings, joined with its account, card, payment and plan. */
export interface TopUp
  extends Omit<TopUpRow, "amount" | "fee" | "bonus" | "reads" | "appliedRead"> {
  readonly accountId: string;
  readonly bucket: number;
  readonly surface: Surface;
  readonly amount: NanoUsd;
  readonly fee: NanoUsd;
  /** Zero until the top-up is paid. */
  readonly tax: NanoUsd;
  /** Until the top-up is paid, the bonus that it gets if it is the holder's first. */
  readonly bonus: NanoUsd;
  /** Our id of the card, and the provider's; null on the provider's page. */
  readonly cardId: string | null;
  readonly cardRef: string | null;
  /** The plan that the top-up pays for; null for one that is credited. */
  readonly plan: PlanCharge | null;
  /** The provider's page with the receipt. */
  readonly receiptUrl: string | null;
}

export interface NewTopUp {
  readonly account: number;
  readonly provider: string;
  readonly kind: TopUpKind;
  readonly amount: NanoUsd;
  readonly fee?: NanoUsd;
  readonly bonus?: NanoUsd;
  /** The card's number. */
  readonly card?: number;
  readonly consentVersion?: string;
  readonly request?: string | null;
  readonly createdAt: Date;
  /** When a saved card is charged if the process that stores this does not come to it. */
  readonly nextAttemptAt?: Date;
}

/** The page of the provider where a top-up is paid. */
export interface CheckoutPage {
  readonly checkout: string;
  readonly url: string;
  readonly expiresAt: Date;
}

export interface TopUpsDeps {
  readonly database: Database;
  readonly random: RandomBytes;
}

/** The columns by which a top-up can be found. */
export type TopUpRef =
  | { readonly id: string }
  | { readonly provider: string; readonly intent: string }
  | { readonly provider: string; readonly checkout: string };

const OPEN_PER_PAGE = 200;

export class TopUps {
  constructor(readonly deps: TopUpsDeps) {}

  /** Stores a new top-up, open. */
  async create(topUp: NewTopUp): Promise<TopUp> {
    const { database, random } = this.deps;
    const id = await database.db.transaction((tx) => createTopUpIn(tx, random, topUp));
    const stored = await this.find({ id });
    if (stored === null) throw new Error(`The top-up ${id} is gone`);
    return stored;
  }

  /** Null if there is no such top-up. */
  async find(ref: TopUpRef): Promise<TopUp | null> {
    return await readTopUp(this.deps.database.db, whereOf(ref));
  }

  /** The top-up of an account that was asked for with this id, or null. */
  async findRequest(account: number, request: string): Promise<TopUp | null> {
    return await readTopUp(this.deps.database.db, isRequest(account, request));
  }

  /** The top-ups of an account, newest first. */
  async list(account: number): Promise<TopUp[]> {
    const rows = await select(this.deps.database.db)
      .where(eq(topUps.account, account))
      .orderBy(desc(topUps.number));
    return rows.map(topUpOf);
  }

  /** Stores the page where the top-up is paid, unless a page is stored already. */
  async setCheckout(number: number, page: CheckoutPage): Promise<void> {
    await this.deps.database.db
      .update(topUps)
      .set(page)
      .where(and(eq(topUps.number, number), isNull(topUps.checkout)));
  }

  /** Numbers a reading of the provider's payment, before it begins (`TopUpReading`). */
  async beginRead(number: number): Promise<number> {
    const [row] = await this.deps.database.db
      .update(topUps)
      .set({ reads: sql`${topUps.reads} + 1` })
      .where(eq(topUps.number, number))
      .returning({ read: topUps.reads });
    if (row === undefined) throw new Error(`Top-up number ${number} is gone`);
    return row.read;
  }

  /** Open top-ups that were made before this time: all of them, page by page. */
  async *open(provider: string, before: Date, perPage = OPEN_PER_PAGE): AsyncGenerator<TopUp> {
    const isOpen = and(eq(topUps.provider, provider), eq(topUps.status, "open"));
    for (let after = 0; ; ) {
      const rows = await select(this.deps.database.db)
        .where(and(isOpen, lt(topUps.createdAt, before), gt(topUps.number, after)))
        .orderBy(asc(topUps.number))
        .limit(perPage);
      const page = rows.map(topUpOf);
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.number;
      yield* page;
    }
  }

  /** Pages that can still be paid, oldest first: those of an account, or of all closed ones. */
  async unpaidPages(provider: string, of: number | "closed", max: number): Promise<TopUp[]> {
    const isOpen = and(eq(topUps.provider, provider), eq(topUps.status, "open"));
    const isOf = of === "closed" ? eq(accounts.state, of) : eq(topUps.account, of);
    const rows = await select(this.deps.database.db)
      .where(and(isOpen, isNotNull(topUps.checkout), isOf))
      .orderBy(asc(topUps.number))
      .limit(max);
    return rows.map(topUpOf);
  }

  /** Open top-ups by saved card whose next attempt is due. */
  async dueAttempts(provider: string, now: Date, max: number): Promise<TopUp[]> {
    const rows = await select(this.deps.database.db)
      .where(
        and(
          eq(topUps.provider, provider),
          eq(topUps.status, "open"),
          lt(topUps.nextAttemptAt, now),
        ),
      )
      .orderBy(asc(topUps.nextAttemptAt))
      .limit(max);
    return rows.map(topUpOf);
  }

  /**
   * Begins an attempt to charge a card, before the provider is asked; returns its number from 1 on.
   * Zero if the top-up has ended, or if another process has begun a later attempt than the caller
   * has read: the next attempt is not due yet then. `invoiceDueAt` is for the payment that comes of
   * it; null: it gets no invoice.
   */
  async beginAttempt(
    { number, attempts }: Pick<TopUp, "number" | "attempts">,
    due: { readonly nextAttemptAt: Date; readonly invoiceDueAt: Date | null },
  ): Promise<number> {
    const isSame = and(eq(topUps.number, number), eq(topUps.attempts, attempts));
    const [row] = await this.deps.database.db
      .update(topUps)
      .set({ attempts: sql`greatest(${topUps.attempts}, 1)`, ...due })
      .where(and(isSame, eq(topUps.status, "open")))
      .returning({ attempt: topUps.attempts });
    return row?.attempt ?? 0;
  }

  /** Paid top-ups whose invoices are due, the longest due first. */
  async dueInvoices(provider: string, now: Date, max: number): Promise<TopUp[]> {
    const isPaid = and(eq(topUps.provider, provider), eq(topUps.status, "succeeded"));
    const rows = await select(this.deps.database.db)
      .where(and(isPaid, lte(topUps.invoiceDueAt, now)))
      .orderBy(asc(topUps.invoiceDueAt))
      .limit(max);
    return rows.map(topUpOf);
  }

  /** Stores when the invoice of a top-up is issued; null: never. */
  async setInvoiceDue(number: number, invoiceDueAt: Date | null): Promise<void> {
    await this.deps.database.db
      .update(topUps)
      .set({ invoiceDueAt })
      .where(eq(topUps.number, number));
  }

  /** Stores that the invoice of a top-up was issued. */
  async invoiced(number: number, invoicedAt: Date): Promise<void> {
    await this.deps.database.db
      .update(topUps)
      .set({ invoicedAt, invoiceDueAt: null })
      .where(eq(topUps.number, number));
  }
}

/** Stores a new top-up, and returns its id. */
export async function createTopUpIn(
  tx: Transaction,
  random: RandomBytes,
  topUp: NewTopUp,
): Promise<string> {
  const id = newId("topUp", random);
  await tx.insert(topUps).values({ ...topUp, id });
  return id;
}

/** A top-up as this transaction sees it; null if there is no such row. */
export async function readTopUpIn(tx: Transaction, number: number): Promise<TopUp | null> {
  return await readTopUp(tx, eq(topUps.number, number));
}

/** The id of the top-up that was asked for with this id, as a transaction sees it. */
export async function requestedTopUpIn(
  tx: Transaction,
  account: number,
  request: string,
): Promise<string | null> {
  const found = await tx.select({ id: topUps.id }).from(topUps).where(isRequest(account, request));
  return found[0]?.id ?? null;
}

function isRequest(account: number, request: string) {
  return sql`${topUps.account} = ${account} AND ${topUps.request} = ${request}`;
}

async function readTopUp(queries: Queries, where: SQL): Promise<TopUp | null> {
  const [row] = await select(queries).where(where);
  return row === undefined ? null : topUpOf(row);
}

function whereOf(ref: TopUpRef) {
  if ("id" in ref) return eq(topUps.id, ref.id);
  const found = "intent" in ref ? eq(topUps.intent, ref.intent) : eq(topUps.checkout, ref.checkout);
  return sql`${topUps.provider} = ${ref.provider} AND ${found}`;
}

function select(queries: Queries) {
  return queries
    .select({
      topUp: topUps,
      accountId: accounts.id,
      bucket: accounts.bucket,
      surface: accounts.surface,
      cardId: savedCards.id,
      cardRef: savedCards.ref,
      tax: payments.tax,
      receiptUrl: payments.receiptUrl,
      plan: planCharges,
    })
    .from(topUps)
    .innerJoin(accounts, eq(accounts.number, topUps.account))
    .leftJoin(savedCards, eq(savedCards.number, topUps.card))
    .leftJoin(payments, eq(payments.number, topUps.payment))
    .leftJoin(planCharges, eq(planCharges.topUp, topUps.number));
}

type JoinedTopUp = Awaited<ReturnType<ReturnType<typeof select>["limit"]>>[number];

function topUpOf({ topUp, tax, plan, ...joined }: JoinedTopUp): TopUp {
  const { amount, fee, bonus } = topUp;
  const sums = { amount: nano(amount), fee: nano(fee), tax: nano(tax ?? 0n), bonus: nano(bonus) };
  const charge = plan === null ? null : { ...plan, price: nano(plan.price) };
  return { ...topUp, ...sums, ...joined, plan: charge };
}

/** The amount that the payer pays: credit, fee and tax. */
export function paidFor({ amount, fee, tax }: Pick<TopUp, "amount" | "fee" | "tax">): NanoUsd {
  return add(amount, fee, tax);
}
