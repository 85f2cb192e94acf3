// Reads the request log of one account for people: pages by time, newest first, and one call with
// its place in the ledger.

import { parseParts, type UsageParts } from "../../core/money/usage.ts";
import type { Database } from "../servers/database.ts";
import { Parameters } from "../tables/parameters.ts";
import { type LogFilter, logConditions } from "./log-filter.ts";

export interface LoggedCall {
  /** The id of the request as Postgres has it. */
  readonly request: string;
  readonly at: Date;
  readonly endpoint: string;
  readonly service: string;
  /** The model that served the call. */
  readonly model: string | null;
  /** The name by which the caller asked for the model; null: the id of the model. */
  readonly askedModel: string | null;
  /** The number of the key. */
  readonly key: number;
  readonly status: number;
  readonly errorCode: string | null;
  readonly requests: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly cost: bigint;
  readonly freeCost: bigint;
  readonly latencyMs: number;
  readonly firstTokenMs: number | null;
  readonly held: bigint | null;
  readonly country: string | null;
  readonly lane: string | null;
  readonly priceVersion: string | null;
  readonly refusedBy: string | null;
  /** Only for operators: the upstream cost of the call; null if it is not known. */
  readonly upstreamCost: bigint | null;
  /** The tier that served the call; null: the standard one. */
  readonly tier: string | null;
  /** The run that the call named, and the step of the run. */
  readonly run: string | null;
  readonly step: string | null;
  /** The keyed hash of the end user that the call named; null if no budget counts end users. */
  readonly endUser: string | null;
  /** Further parts of the tokens, and calls of tools. */
  readonly usageParts: UsageParts;
  /** The reason why our own count decides; null if the provider's decides. */
  readonly usageSource: string | null;
  /** The reason for which the reply ended early; null if it did not. */
  readonly stopReason: string | null;
}

/** A place in the log: the calls before it are older. */
export interface LogPlace {
  readonly at: Date;
  readonly request: string;
}

interface LogQuestion {
  readonly filter: LogFilter;
  /** Null for the newest calls. */
  readonly before: LogPlace | null;
  readonly count: number;
}

/** Reads at most `count` calls before a place, newest first. */
export async function readLogPage(
  { sql }: Database,
  account: number,
  { filter, before, count }: LogQuestion,
): Promise<LoggedCall[]> {
  const parameters = new Parameters();
  const conditions = logConditions(parameters, account, filter);
  const at = parameters.add(before?.at.toISOString() ?? null);
  const request = parameters.add(before?.request ?? null);
  const text = `
    SELECT l.* FROM request_log l WHERE ${conditions}
      AND (${at}::text IS NULL OR (l.at, l.request) < (${at}::timestamptz, ${request}::text::uuid))
    ORDER BY l.at DESC, l.request DESC LIMIT ${parameters.add(count)}::int`;
  const rows = await sql.unsafe(text, parameters.values, { prepare: true });
  return rows.map(callOf);
}

/** The charges of a call in the ledger. */
export interface CallBooking {
  readonly paid: bigint;
  readonly free: bigint;
  /** Both balances after the last charge, held amounts included. */
  readonly after: bigint;
}

/**
 * A call of this account by its id; null if it has none. One statement reads the log and the
 * ledger, because a correction that is booked in between would give a mixture of both states.
 */
export async function findCall(
  { sql }: Database,
  account: number,
  request: string,
): Promise<{ readonly call: LoggedCall; readonly booking: CallBooking | null } | null> {
  const [row] = await sql`
    SELECT l.*, b.* FROM request_log l CROSS JOIN LATERAL (
      SELECT (-sum(paid_delta))::text AS booked_paid, (-sum(free_delta))::text AS booked_free,
        (array_agg(paid_after + free_after ORDER BY seq DESC))[1]::text AS booked_after
      FROM ledger_entries
      WHERE request = ${request} AND account = ${account}
        AND kind IN ('charge', 'late_charge')) b
    WHERE l.account = ${account} AND l.request = ${request}`;
  if (row === undefined) return null;
  const { booked_paid: paid, booked_free: free, booked_after: after } = row;
  const booking =
    after === null ? null : { paid: BigInt(paid), free: BigInt(free), after: BigInt(after) };
  return { call: callOf(row), booking };
}

function callOf(row: Readonly<Record<string, unknown>>): LoggedCall {
  const number = (name: string) => Number(row[name]);
  const text = (name: string) => (row[name] === null ? null : String(row[name]));
  const amount = (name: string) => BigInt(String(row[name]));
  return {
    request: String(row.request),
    at: new Date(String(row.at)),
    endpoint: String(row.endpoint),
    service: String(row.service),
    model: text("model"),
    askedModel: text("asked_model"),
    key: number("key"),
    status: number("status"),
    errorCode: text("error_code"),
    requests: number("requests"),
    promptTokens: number("prompt_tokens"),
    cachedTokens: number("cached_tokens"),
    completionTokens: number("completion_tokens"),
    latencyMs: number("latency_ms"),
    cost: amount("cost"),
    freeCost: amount("free_cost"),
    firstTokenMs: row.first_token_ms === null ? null : number("first_token_ms"),
    held: row.held === null ? null : amount("held"),
    country: text("country"),
    lane: text("lane"),
    priceVersion: text("price_version"),
    refusedBy: text("refused_by"),
    upstreamCost: row.upstream_cost === null ? null : amount("upstream_cost"),
    tier: text("tier"),
    run: text("run"),
    step: text("step"),
    endUser: text("end_user"),
    usageParts: parseParts(text("usage_parts") ?? ""),
    usageSource: text("usage_source"),
    stopReason: text("stop_reason"),
  };
}
