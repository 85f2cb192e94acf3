// Reads the recent usage of an account: its days, the usual length of replies, the latest errors.

import type { Database } from "../servers/database.ts";

/** Errors are looked for this far back. */
const ERRORS_DAYS = 7;
/** The days whose calls count for the usual length of replies. */
const REPLIES_DAYS = 30;

export interface UsageDay {
  readonly calls: number;
  /** Refused and failed ones. */
  readonly errors: number;
  readonly cost: bigint;
}

/** The sums of UTC days from `fromMs` until before `toMs`, which are midnights. */
export async function readUsageDays(
  { sql }: Database,
  account: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<UsageDay> {
  const [row] = await sql`
    SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(cost), 0) AS cost,
      coalesce(sum(calls) FILTER (WHERE status <> 'ok'), 0) AS errors
    FROM usage_rollups WHERE account = ${account} AND minutes = 1440
      AND at >= to_timestamp(${fromMs / 1_000}::float8)
      AND at < to_timestamp(${toMs / 1_000}::float8)`;
  return {
    calls: Number(row?.calls),
    errors: Number(row?.errors),
    cost: BigInt(String(row?.cost)),
  };
}

/** True if a call of the account was ever answered. */
export async function hasCalled({ sql }: Database, account: number): Promise<boolean> {
  const rows = await sql`
    SELECT FROM usage_rollups
    WHERE account = ${account} AND minutes = 1440 AND status = 'ok' AND calls > 0 LIMIT 1`;
  return rows.length > 0;
}

export interface LoggedError {
  readonly request: string;
  readonly at: Date;
  readonly endpoint: string;
  readonly status: number;
  readonly code: string;
}

/**
 * The latest errors of a few days. The sums say in which quarters of an hour there were any, so
 * that a log of many good calls is not read to find them.
 */
export async function readLastErrors(
  { sql }: Database,
  account: number,
  count: number,
): Promise<LoggedError[]> {
  const rows = await sql`
    WITH quarters AS (
      SELECT DISTINCT at FROM usage_rollups
      WHERE account = ${account} AND minutes = 15 AND status <> 'ok' AND calls > 0
        AND at > now() - ${ERRORS_DAYS} * interval '1 day'
      ORDER BY at DESC LIMIT ${count}
    )
    SELECT l.request, l.at, l.endpoint, l.status, l.error_code AS code
    FROM quarters q CROSS JOIN LATERAL (
      SELECT request, at, endpoint, status, error_code FROM request_log
      WHERE account = ${account} AND at >= q.at AND at < q.at + interval '15 minutes'
        AND error_code IS NOT NULL
      ORDER BY at DESC LIMIT ${count}) l
    ORDER BY l.at DESC LIMIT ${count}`;
  return rows.map((row) => ({
    request: String(row.request),
    at: new Date(String(row.at)),
    endpoint: String(row.endpoint),
    status: Number(row.status),
    code: String(row.code),
  }));
}

/**
 * The mean of the output tokens of the account's answered calls of a model in the last days; null
 * without such calls.
 */
export async function averageReply(
  { sql }: Database,
  { account, model }: { readonly account: string; readonly model: string },
): Promise<number | null> {
  const [row] = await sql`
    SELECT ceil(sum(u.completion_tokens)::numeric / nullif(sum(u.calls), 0)) AS tokens
    FROM usage_rollups u JOIN accounts a ON a.number = u.account
    WHERE a.id = ${account} AND u.minutes = 1440 AND u.model = ${model} AND u.status = 'ok'
      AND u.at > now() - ${REPLIES_DAYS} * interval '1 day'`;
  return row?.tokens == null ? null : Number(row.tokens);
}
