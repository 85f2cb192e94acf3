// Receipts as they were issued, and the public keys of all receipts.

import { monthText } from "../../core/money/months.ts";
import { arrayText, type Database } from "../servers/database.ts";
import type { receiptKeys, receipts } from "../tables/receipt-schema.ts";
import { readLogMonths } from "./log-partitions.ts";

export type IssuedReceipt = Readonly<Pick<typeof receipts.$inferSelect, "number" | "jws">>;

/** The given requests that the log has. */
export async function loggedAmong(
  { sql }: Database,
  requests: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql`
    SELECT request FROM request_log WHERE request = ANY(${arrayText(requests)}::text::uuid[])`;
  return rows.map(({ request }) => String(request));
}

/** The last receipt of an account's request; null if none was issued. */
export async function lastReceipt(
  { sql }: Database,
  account: number,
  request: string,
): Promise<IssuedReceipt | null> {
  const [row] = await sql`
    SELECT number, jws FROM receipts WHERE request = ${request} AND account = ${account}
    ORDER BY number DESC LIMIT 1`;
  return row === undefined ? null : { number: Number(row.number), jws: String(row.jws) };
}

/** Keeps a receipt, unless one with its number exists. Returns the one that is kept. */
export async function keepReceipt(
  { sql }: Database,
  { account, request }: { readonly account: number; readonly request: string },
  { number, jws }: IssuedReceipt,
): Promise<IssuedReceipt> {
  await sql`
    INSERT INTO receipts (request, number, account, jws)
    VALUES (${request}, ${number}, ${account}, ${jws}) ON CONFLICT DO NOTHING`;
  const [row] = await sql`
    SELECT jws FROM receipts WHERE request = ${request} AND number = ${number}`;
  return { number, jws: String(row?.jws) };
}

/** True if the ledger has a charge of this request, although the log has no row of it any more. */
export async function wasCharged(
  { sql }: Database,
  account: number,
  request: string,
): Promise<boolean> {
  const rows = await sql`
    SELECT FROM ledger_entries WHERE account = ${account} AND request = ${request} LIMIT 1`;
  return rows.length > 0;
}

/** True if the oldest month of the log is later than the month of this time, in ms. */
export async function isBeforeLog({ sql }: Database, atMs: number): Promise<boolean> {
  const [oldest] = await readLogMonths(sql);
  return oldest !== undefined && oldest > monthText(atMs);
}

export type StoredKey = Readonly<typeof receiptKeys.$inferSelect>;

/** Keeps these public keys: the first is in use, and all others are retired from now on. */
export async function adoptReceiptKeys(
  { sql }: Database,
  [current, ...previous]: readonly [string, ...string[]],
): Promise<void> {
  await sql.begin(async (tx) => {
    for (const x of [current, ...previous]) {
      await tx`INSERT INTO receipt_keys (x) VALUES (${x}) ON CONFLICT DO NOTHING`;
    }
    await tx`
      UPDATE receipt_keys SET retired_at = CASE WHEN x = ${current} THEN NULL ELSE now() END
      WHERE (x = ${current}) = (retired_at IS NOT NULL)`;
  });
}

/** Every key that ever signed a receipt, the newest first. */
export async function readReceiptKeys({ sql }: Database): Promise<StoredKey[]> {
  const rows = await sql`
    SELECT x, since, retired_at FROM receipt_keys ORDER BY retired_at DESC NULLS FIRST, since DESC`;
  return rows.map(({ x, since, retired_at }) => ({
    x: String(x),
    since: new Date(String(since)),
    retiredAt: retired_at === null ? null : new Date(String(retired_at)),
  }));
}
