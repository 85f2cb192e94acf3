// What journal entries change in the sums of the request log.

import { nano } from "../../core/money/money.ts";
import type { LedgerRow, PreparedEntry } from "../ledger/prepared-entry.ts";
import { UNKNOWN_SERVICE, type UsageStatus } from "../tables/usage-schema.ts";
import { amountOf, type LogRow, SUMMARY_CODE } from "./log-rows.ts";

/** A log row that was written: what it replaced, or null, and what is there now. */
export interface LogChange {
  readonly before: LogRow | null;
  readonly after: LogRow;
}

/** What is added to the sums of one time and kind of call; negative if it is taken away. */
export interface UsageChange {
  readonly account: number;
  readonly atMs: number;
  readonly key: number;
  readonly service: string;
  readonly model: string;
  readonly status: UsageStatus;
  readonly calls: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly cost: bigint;
  readonly freeCost: bigint;
  /** The latency of an answered call; null if it is not counted. */
  readonly latencyMs: number | null;
}

/**
 * The status of a log row of that name, as SQL. `usageStatus` is the same in code; a test holds the
 * two together.
 */
export const usageStatusSql = (row: string) => `
  CASE WHEN ${row}.error_code IS NULL THEN 'ok'
    WHEN ${row}.held IS NULL AND ${row}.cost = 0 THEN 'refused' ELSE 'failed' END`;

/** How many calls a log row of that name stands for, as SQL. */
export const callsSql = (row: string) => `
  CASE WHEN ${row}.error_code = '${SUMMARY_CODE}' THEN ${row}.requests ELSE 1 END`;

const CHARGES: ReadonlySet<unknown> = new Set(["charge", "late_charge"]);

/**
 * The changes of entries whose rows were written, by their log rows. Money that is in the ledger
 * but not in the log is counted apart, until its log row is written: the sums have all of it.
 */
export function usageChanges(
  entries: readonly PreparedEntry[],
  logged: ReadonlyMap<LogRow, LogChange>,
): UsageChange[] {
  const changes: UsageChange[] = [];
  for (const { ledger, log, entry, account, key } of entries) {
    if (account === null || entry === null) continue;
    const change = log === null ? undefined : logged.get(log);
    if (change === undefined) {
      if (ledger !== null && CHARGES.has(ledger.kind)) {
        changes.push(moneyAlone(ledger, account, key, 1n));
      }
      continue;
    }
    // The ledger's row was written earlier, when the log's was refused.
    const isOwed = entry.paidDelta !== 0n || entry.freeDelta !== 0n;
    if (ledger === null && isOwed) {
      const { paidDelta, freeDelta, atMs } = entry;
      const row = { paid_delta: paidDelta, free_delta: freeDelta, at: isoOf(atMs) };
      changes.push(moneyAlone(row, account, key, -1n));
    }
    if (change.before !== null) changes.push(ofRow(change.before, -1));
    changes.push(ofRow(change.after, 1));
  }
  return changes;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function moneyAlone(
  row: Pick<LedgerRow, "paid_delta" | "free_delta" | "at">,
  account: number,
  key: number | null,
  sign: bigint,
): UsageChange {
  const free = -nano(String(row.free_delta));
  return {
    account,
    atMs: Date.parse(String(row.at)),
    key: key ?? 0,
    service: UNKNOWN_SERVICE,
    model: "",
    status: "ok",
    calls: 0,
    promptTokens: 0,
    cachedTokens: 0,
    completionTokens: 0,
    latencyMs: null,
    cost: sign * (free - nano(String(row.paid_delta))),
    freeCost: sign * free,
  };
}

function ofRow(row: LogRow, sign: 1 | -1): UsageChange {
  const status = usageStatus(row);
  const signed = BigInt(sign);
  const calls = row.error_code === SUMMARY_CODE ? Number(row.requests) : 1;
  return {
    account: Number(row.account),
    atMs: Date.parse(String(row.at)),
    key: Number(row.key),
    service: String(row.service),
    model: String(row.model ?? ""),
    status,
    calls: sign * calls,
    promptTokens: sign * Number(row.prompt_tokens),
    cachedTokens: sign * Number(row.cached_tokens),
    completionTokens: sign * Number(row.completion_tokens),
    cost: signed * amountOf(row.cost),
    freeCost: signed * amountOf(row.free_cost),
    latencyMs: status === "ok" ? Number(row.latency_ms) : null,
  };
}

/** What happened to the call of a log row. */
function usageStatus(row: Pick<LogRow, "error_code" | "held" | "cost">): UsageStatus {
  if (row.error_code === null) return "ok";
  return row.held === null && amountOf(row.cost) === 0n ? "refused" : "failed";
}
