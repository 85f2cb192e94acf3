// Reads rows of payments.

import { asc, eq } from "drizzle-orm";
import { nano } from "../../core/money/money.ts";
import type { Transaction } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { payments } from "../tables/account-schema.ts";
import type { Payment } from "./payments.ts";

/** The payments of an account, ordered by the time of payment. */
export async function readPayments(
  queries: Pick<Database["db"], "select">,
  account: number,
): Promise<Payment[]> {
  const rows = await queries
    .select()
    .from(payments)
    .where(eq(payments.account, account))
    .orderBy(asc(payments.paidAt), asc(payments.number));
  return rows.map(paymentOf);
}

/** Null when there is no such payment. */
export async function readPayment(tx: Transaction, id: string): Promise<Payment | null> {
  const [row] = await tx.select().from(payments).where(eq(payments.id, id));
  return row === undefined ? null : paymentOf(row);
}

/** The payment of a row. */
export function paymentOf(row: typeof payments.$inferSelect): Payment {
  return {
    ...row,
    amount: nano(row.amount),
    bonus: nano(row.bonus),
    fee: nano(row.fee),
    tax: nano(row.tax),
    refunded: nano(row.refunded),
    disputed: nano(row.disputed),
  };
}
