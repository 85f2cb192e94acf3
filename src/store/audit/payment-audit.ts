// The book's side of a comparison with a payment provider.

import { and, asc, eq, gt } from "drizzle-orm";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { DisputeState } from "../../core/money/payment-credit.ts";
import type { Database } from "../servers/database.ts";
import { accounts, payments } from "../tables/account-schema.ts";
import { topUps } from "../tables/payment-schema.ts";

/** A payment that was booked for a provider. */
export interface BookedPayment {
  readonly number: number;
  readonly id: string;
  readonly accountId: string;
  /** The provider's own id of the payment. */
  readonly ref: string;
  /** The top-up that led to the payment; null if no top-up names it. */
  readonly topUpId: string | null;
  readonly amount: NanoUsd;
  readonly fee: NanoUsd;
  readonly tax: NanoUsd;
  readonly refunded: NanoUsd;
  readonly disputed: NanoUsd;
  readonly dispute: DisputeState | null;
}

const PAGE = 500;

/** Counts the payments with an open dispute, those that operators recorded included. */
export async function countOpenDisputes({ sql }: Pick<Database, "sql">): Promise<number> {
  const [row] = await openDisputes(sql);
  return Number(row?.open);
}

/** The statement of `countOpenDisputes`. */
export function openDisputes(sql: Database["sql"]) {
  return sql`SELECT count(*)::int AS open FROM payments WHERE dispute = 'open'`;
}

/** The sum of the debts of all accounts. */
export async function sumOwed({ sql }: Pick<Database, "sql">): Promise<NanoUsd> {
  const [row] = await allOwed(sql);
  return nano(String(row?.owed));
}

/** The statement of `sumOwed`. Only an account with a reversed payment can owe anything. */
export function allOwed(sql: Database["sql"]) {
  return sql`
    SELECT coalesce(sum(l.owed_after), 0)::text AS owed
    FROM (
      SELECT DISTINCT account FROM payments WHERE refunded > 0 OR dispute IS NOT NULL
    ) reversed
    CROSS JOIN LATERAL (
      SELECT owed_after FROM ledger_entries
      WHERE account = reversed.account ORDER BY seq DESC LIMIT 1) l`;
}

/** All payments of a provider, oldest first, read in pages. */
export async function* bookedPayments(
  { db }: Pick<Database, "db">,
  provider: string,
): AsyncGenerator<BookedPayment> {
  for (let after = 0; ; ) {
    const page = await db
      .select({ payment: payments, accountId: accounts.id, topUpId: topUps.id })
      .from(payments)
      .innerJoin(accounts, eq(accounts.number, payments.account))
      .leftJoin(topUps, eq(topUps.payment, payments.number))
      .where(and(eq(payments.provider, provider), gt(payments.number, after)))
      .orderBy(asc(payments.number))
      .limit(PAGE);
    for (const { payment, accountId, topUpId } of page) {
      const { number, id, providerRef, dispute } = payment;
      yield {
        number,
        id,
        accountId,
        topUpId,
        dispute,
        ref: providerRef ?? "",
        amount: nano(payment.amount),
        fee: nano(payment.fee),
        tax: nano(payment.tax),
        refunded: nano(payment.refunded),
        disputed: nano(payment.disputed),
      };
    }
    const last = page.at(-1)?.payment.number;
    if (last === undefined || page.length < PAGE) return;
    after = last;
  }
}
