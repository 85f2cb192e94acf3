// Computes the margin of days again from the request log, where the two differ.

import type { Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { hasMarginSql, isReportedSql } from "./margin-rollups.ts";

/** The months that the log has of a bucket, as they should be summed. Months dropped stay. */
const RIGHT = `
  SELECT $1::int AS bucket, (l.at AT TIME ZONE 'UTC')::date AS day, l.service,
    coalesce(l.model, '') AS model, coalesce(l.lane, '') AS lane, count(*) AS calls,
    sum(l.cost) AS cost, sum(l.free_cost) AS free_cost, count(l.upstream_cost) AS known_calls,
    coalesce(sum(l.cost) FILTER (WHERE l.upstream_cost IS NOT NULL), 0) AS known_cost,
    coalesce(sum(l.upstream_cost), 0) AS upstream_cost,
    count(l.upstream_cost) FILTER (WHERE ${isReportedSql("l")}) AS provider_calls,
    coalesce(sum(l.upstream_cost) FILTER (WHERE ${isReportedSql("l")}), 0) AS provider_cost
  FROM accounts a JOIN request_log l ON l.account = a.number
  WHERE a.bucket = $1 AND ${hasMarginSql("l")}
  GROUP BY 2, 3, 4, 5`;

const STORED = `
  SELECT bucket, day, service, model, lane, calls, cost, free_cost, known_calls, known_cost,
    upstream_cost, provider_calls, provider_cost
  FROM margin_days WHERE bucket = $1 AND calls <> 0
    AND day >= (SELECT date_trunc('month', min(at), 'UTC')::date FROM request_log)`;

/**
 * Computes the sums of buckets that differ from the log again; the flush of a bucket waits
 * meanwhile. Returns the number of wrong buckets.
 */
export async function repairMargins({ sql }: Database): Promise<number> {
  const buckets = await sql`SELECT bucket FROM journal_cursors ORDER BY bucket`;
  let wrong = 0;
  for (const { bucket } of buckets) {
    await sql.begin(async (tx) => {
      await tx`SELECT FROM journal_cursors WHERE bucket = ${bucket} FOR UPDATE`;
      if (await isRight(tx, Number(bucket))) return;
      await tx`
        DELETE FROM margin_days WHERE bucket = ${bucket}
          AND day >= (SELECT date_trunc('month', min(at), 'UTC')::date FROM request_log)`;
      await tx.unsafe(`INSERT INTO margin_days ${RIGHT}`, [Number(bucket)]);
      wrong += 1;
    });
  }
  return wrong;
}

async function isRight(tx: SqlTransaction, bucket: number): Promise<boolean> {
  const differing = `(${RIGHT} EXCEPT ALL ${STORED}) UNION ALL (${STORED} EXCEPT ALL ${RIGHT})`;
  const [row] = await tx.unsafe(`SELECT FROM (${differing}) AS differing LIMIT 1`, [bucket]);
  return row === undefined;
}
