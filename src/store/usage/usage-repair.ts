// Compares the sums of the request log with the log and the ledger, and computes them again where
// they differ.

import { BAND_STARTS } from "../../core/latency-bands.ts";
import { arrayText, type Database } from "../servers/database.ts";
import type { SqlQueries, SqlTransaction } from "../servers/transaction.ts";
import { ROLLUP_MINUTES, ROLLUP_SUM_NAMES, UNKNOWN_SERVICE } from "../tables/usage-schema.ts";
import { sumSql, usageStatusSql } from "./usage-changes.ts";
import { firstWrongSql, WRONG_SUMS } from "./usage-sums-check.ts";

/** The money of an account's calls in four records, as `cost/free part`: they must agree. */
export interface UsageTotals {
  /** Charges of the ledger. */
  readonly ledger: string;
  /** The sums, by the length of their rows. */
  readonly quarters: string;
  readonly hours: string;
  readonly days: string;
}

const TOTALS = `
  WITH sums AS (
    SELECT minutes, sum(cost) || '/' || sum(free_cost) AS money
    FROM usage_rollups WHERE account = $1 GROUP BY minutes
  )
  SELECT
    (SELECT coalesce(-sum(paid_delta + free_delta), 0) || '/' || coalesce(-sum(free_delta), 0)
      FROM ledger_entries WHERE account = $1 AND kind IN ('charge', 'late_charge')) AS ledger,
    coalesce((SELECT money FROM sums WHERE minutes = 15), '0/0') AS quarters,
    coalesce((SELECT money FROM sums WHERE minutes = 60), '0/0') AS hours,
    coalesce((SELECT money FROM sums WHERE minutes = 1440), '0/0') AS days`;

/** Reads the totals of an account, by its number, in the snapshot of the caller. */
async function readUsageTotals(sql: SqlQueries, account: number) {
  const [row] = await sql.unsafe<UsageTotals[]>(TOTALS, [account]);
  if (row === undefined) throw new Error("A query without FROM returned no row");
  return row;
}

/** The statement of `readUsageTotals`, for a driver of another kind. */
export function usageTotalsSql(account: number): string {
  return TOTALS.replaceAll("$1", String(Math.trunc(account)));
}

/** The first total of the sums that differs from the ledger's; undefined if all agree. */
export function wrongTotal({ ledger, quarters, hours, days }: UsageTotals): string | undefined {
  return [quarters, hours, days].find((money) => money !== ledger);
}

/** A count in groups of seven bits, as core/latency-bands.ts packs it. */
const packed = (count: string) => `
  CASE WHEN ${count} < 128 THEN ${byteOf(count)}
    WHEN ${count} < 16384 THEN ${byteOf(`${count} & 127 | 128`)} || ${byteOf(`${count} >> 7`)}
    WHEN ${count} < 2097152 THEN ${byteOf(`${count} & 127 | 128`)}
      || ${byteOf(`${count} >> 7 & 127 | 128`)} || ${byteOf(`${count} >> 14`)}
    ELSE ${byteOf(`${count} & 127 | 128`)} || ${byteOf(`${count} >> 7 & 127 | 128`)}
      || ${byteOf(`${count} >> 14 & 127 | 128`)} || ${byteOf(`${count} >> 21`)} END`;

function byteOf(value: string): string {
  return `set_byte('\\x00'::bytea, 0, (${value})::int)`;
}

const NAMES = ROLLUP_SUM_NAMES.join(", ");
/** The sums of money without a call. */
const MONEY_ALONE = ROLLUP_SUM_NAMES.map((name) =>
  name === "cost" || name === "free_cost" ? name : "0",
).join(", ");

/** The log since $2 and, apart, the ledger's money that is not in it. */
const SOURCE = `
  logged AS (
    SELECT l.at, l.request, l.key, l.service, coalesce(l.model, '') AS model,
      ${usageStatusSql("l")} AS status,
      ${ROLLUP_SUM_NAMES.map((name) => `${sumSql("l", name)} AS ${name}`).join(", ")},
      CASE WHEN l.error_code IS NULL
        THEN greatest(width_bucket(l.latency_ms, $3::text::int[]) - 1, 0) END AS band
    FROM request_log l WHERE l.account = $1 AND l.at >= $2
  ), charged AS (
    SELECT request, min(at) AS at, min(key) AS key, -sum(paid_delta + free_delta) AS cost,
      -sum(free_delta) AS free_cost
    FROM ledger_entries WHERE account = $1 AND kind IN ('charge', 'late_charge')
      AND (at >= $2 OR NOT EXISTS (
        SELECT FROM usage_rollups WHERE account = $1 AND at < $2))
    GROUP BY request
  ), alone AS (
    SELECT c.at, coalesce(c.key, 0) AS key, c.cost - coalesce(sum(l.cost), 0) AS cost,
      c.free_cost - coalesce(sum(l.free_cost), 0) AS free_cost
    FROM charged c LEFT JOIN logged l ON l.request = c.request
    GROUP BY c.request, c.at, c.key, c.cost, c.free_cost
  ), source AS (
    SELECT at, key, service, model, status, ${NAMES}, band FROM logged
    UNION ALL
    SELECT at, key, '${UNKNOWN_SERVICE}', '', 'ok', ${MONEY_ALONE}, NULL FROM alone
    WHERE cost <> 0 OR free_cost <> 0
  )`;

const REBUILD = `
  WITH ${SOURCE}, banded AS (
    SELECT minutes, date_bin(minutes * interval '1 minute', at, '2000-01-01Z') AS at, key,
      service, model, status, band,
      ${ROLLUP_SUM_NAMES.map((name) => `sum(${name}) AS ${name}`).join(", ")}
    FROM source, unnest(ARRAY[${ROLLUP_MINUTES.join(", ")}]) AS minutes
    GROUP BY 1, 2, 3, 4, 5, 6, 7
  )
  INSERT INTO usage_rollups
    (account, minutes, at, key, service, model, status, ${NAMES}, latencies)
  SELECT $1, minutes, at, key, service, model, status,
    ${ROLLUP_SUM_NAMES.map((name) => `sum(${name})`).join(", ")},
    string_agg(${byteOf("band")} || ${packed("calls::int")}, '' ORDER BY band)
      FILTER (WHERE band IS NOT NULL)
  FROM banded GROUP BY minutes, at, key, service, model, status`;

const WRONG = firstWrongSql(WRONG_SUMS);

/**
 * The totals of an account if they differ from the ledger, or else the first sum that differs from
 * the log or from shorter sums; null if all are right.
 */
export async function findWrongUsage(
  sql: SqlQueries,
  { id, number }: { readonly id: string; readonly number: number },
): Promise<object | null> {
  const totals = await readUsageTotals(sql, number);
  if (wrongTotal(totals) !== undefined) return totals;
  const [wrong] = await sql.unsafe(WRONG, [arrayText([id])]);
  return wrong ?? null;
}

/** Computes the sums of one account again, from the oldest month that the log has of it. */
async function rebuild(tx: SqlTransaction, account: number): Promise<void> {
  const [kept] = await tx`
    SELECT coalesce(date_trunc('month', min(at), 'UTC'), 'infinity')::text AS since
    FROM request_log WHERE account = ${account}`;
  const since = String(kept?.since);
  await tx`DELETE FROM usage_rollups
    WHERE account = ${account} AND at >= ${since}::text::timestamptz`;
  const statement = REBUILD.replaceAll("$2", "$2::text::timestamptz");
  await tx.unsafe(statement, [account, since, arrayText(BAND_STARTS)]);
}

/**
 * Computes the sums of accounts again where they are wrong; of all accounts, or of one by its id.
 * The flush of an account's bucket waits meanwhile. Returns how many were wrong.
 */
export async function repairUsage({ sql }: Database, only: string | null): Promise<number> {
  const accounts = await sql`
    SELECT id, number, bucket FROM accounts WHERE ${only}::text IS NULL OR id = ${only}
    ORDER BY number`;
  let wrong = 0;
  for (const row of accounts) {
    const account = { id: String(row.id), number: Number(row.number) };
    await sql.begin(async (tx) => {
      await tx`SELECT FROM journal_cursors WHERE bucket = ${row.bucket} FOR UPDATE`;
      if ((await findWrongUsage(tx, account)) === null) return;
      await rebuild(tx, account.number);
      wrong += 1;
    });
  }
  return wrong;
}
