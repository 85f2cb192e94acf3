// The request log of one account as CSV (SPEC 2.8), read with a cursor: however long it is, only
// one page of it is in memory.

import { type CsvCell, csvLine } from "../core/csv.ts";
import { fromUuid } from "../core/ids.ts";
import { nano, toDecimal } from "../core/money.ts";
import type { Database } from "./database.ts";
import { SUMMARY_CODE } from "./log-rows.ts";

/** The columns in their order; programs rely on both, so new ones go to the end. */
export const LOG_COLUMNS = [
  "time",
  "request_id",
  "key_id",
  "key_name",
  "endpoint",
  "service",
  "model",
  "status",
  "error_code",
  "latency_ms",
  "first_token_ms",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "requests",
  "cost_usd",
  "country",
  "ip_hash",
] as const;

export interface LogRange {
  readonly account: number;
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

export interface LogPage {
  readonly csv: string;
  readonly rows: number;
}

const ROWS_A_PAGE = 1_000;

/** The header, then the rows from `from` until before `to` in the order of their time. */
export async function* exportLog({ sql }: Database, range: LogRange): AsyncGenerator<LogPage> {
  yield { csv: csvLine(LOG_COLUMNS), rows: 0 };
  const pages = sql`
    SELECT to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time,
      l.request::text AS request, k.id AS key_id, k.name AS key_name, l.endpoint::text AS endpoint,
      l.service::text AS service, l.model, l.status, l.error_code, l.latency_ms, l.first_token_ms,
      l.prompt_tokens, l.cached_tokens, l.completion_tokens, l.requests, l.cost::text AS cost,
      l.country, encode(l.ip_hash, 'hex') AS ip_hash
    FROM request_log l LEFT JOIN keys k ON k.number = l.key
    WHERE l.account = ${range.account} AND l.at >= ${range.from.toISOString()}
      AND l.at < ${range.to.toISOString()}
    ORDER BY l.at, l.request`.cursor(ROWS_A_PAGE);
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield { csv: page.map((row) => csvLine(cellsOf(row))).join(""), rows: page.length };
  }
}

function cellsOf(row: Record<string, string | number | null>): CsvCell[] {
  // A summary row stands for many requests and has no id of its own.
  const isSummary = row.error_code === SUMMARY_CODE;
  return [
    row.time ?? null,
    isSummary ? null : fromUuid("request", String(row.request)),
    row.key_id ?? null,
    row.key_name ?? null,
    row.endpoint ?? null,
    row.service ?? null,
    row.model ?? null,
    row.status ?? null,
    row.error_code ?? null,
    row.latency_ms ?? null,
    row.first_token_ms ?? null,
    row.prompt_tokens ?? null,
    row.cached_tokens ?? null,
    row.completion_tokens ?? null,
    row.requests ?? null,
    { decimal: toDecimal(nano(String(row.cost))) },
    row.country ?? null,
    row.ip_hash ?? null,
  ];
}
