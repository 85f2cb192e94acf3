// Computes the changes that journal entries make in the sums of the request log.

import { CHARGES } from "../../core/journal/journal.ts";
import { nano } from "../../core/money/money.ts";
import type { LedgerRow, PreparedEntry } from "../ledger/prepared-entry.ts";
import {
  NO_SUMS,
  type RollupSums,
  UNKNOWN_SERVICE,
  type UsageStatus,
} from "../tables/usage-schema.ts";
import { amountInCell, type LogRow, SUMMARY_CODE } from "./log-rows.ts";

/** A written log row, and the row that it replaced; null if it is new. */
export interface LogChange {
  readonly before: LogRow | null;
  readonly after: LogRow;
}

/** The amounts to add to the sums of one time and kind of call; negative to take away. */
export interface UsageChange {
  readonly account: number;
  readonly atMs: number;
  readonly key: number;
  readonly service: string;
  readonly model: string;
  readonly status: UsageStatus;
  /** The latency of an answered call; null if it is not counted. */
  readonly latencyMs: number | null;
  readonly sums: Readonly<RollupSums>;
}

/**
 * The status of a log row of that name, as SQL. `usageStatus` is the same in code; a test holds the
 * two together.
 */
export const usageStatusSql = (row: string) => `
  CASE WHEN ${row}.error_code IS NULL THEN 'ok'
    WHEN ${row}.held IS NULL AND ${row}.cost = 0 THEN 'refused' ELSE 'failed' END`;

/** The value of a log row of that name in a column of sums, as SQL. */
export const sumSql = (row: string, name: keyof RollupSums) =>
  name === "calls"
    ? `CASE WHEN ${row}.error_code = '${SUMMARY_CODE}' THEN ${row}.requests ELSE 1 END`
    : `${row}.${name}`;

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
        changes.push(moneyAlone(ledger, { account, key, atMs: entry.atMs }, 1n));
      }
      continue;
    }
    // The ledger's row was written earlier, when the log's was refused.
    const isOwed = entry.paidDelta !== 0n || entry.freeDelta !== 0n;
    if (ledger === null && isOwed) {
      const { paidDelta, freeDelta, atMs } = entry;
      const row = { paid_delta: paidDelta, free_delta: freeDelta };
      changes.push(moneyAlone(row, { account, key, atMs }, -1n));
    }
    if (change.before !== null) changes.push(ofRow(change.before, entry.atMs, -1n));
    changes.push(ofRow(change.after, entry.atMs, 1n));
  }
  return changes;
}

function moneyAlone(
  row: Pick<LedgerRow, "paid_delta" | "free_delta">,
  {
    account,
    key,
    atMs,
  }: { readonly account: number; readonly key: number | null; readonly atMs: number },
  sign: bigint,
): UsageChange {
  const free = -nano(String(row.free_delta));
  return {
    account,
    atMs,
    key: key ?? 0,
    service: UNKNOWN_SERVICE,
    model: "",
    status: "ok",
    latencyMs: null,
    sums: {
      ...NO_SUMS,
      cost: sign * (free - nano(String(row.paid_delta))),
      free_cost: sign * free,
    },
  };
}

/** The time is the one of the row as a number. */
function ofRow(row: LogRow, atMs: number, sign: 1n | -1n): UsageChange {
  const status = usageStatus(row);
  return {
    account: Number(row.account),
    atMs,
    key: Number(row.key),
    service: String(row.service),
    model: String(row.model ?? ""),
    status,
    latencyMs: status === "ok" ? Number(row.latency_ms) : null,
    sums: signedSums(row, sign),
  };
}

/** The values of `sumSql`, in code. */
function signedSums(row: LogRow, sign: 1n | -1n): RollupSums {
  const signed = (value: bigint) => (sign === 1n ? value : -value);
  return {
    calls: signed(callsOf(row)),
    prompt_tokens: signed(amountInCell(row.prompt_tokens)),
    cached_tokens: signed(amountInCell(row.cached_tokens)),
    completion_tokens: signed(amountInCell(row.completion_tokens)),
    cost: signed(amountInCell(row.cost)),
    free_cost: signed(amountInCell(row.free_cost)),
  };
}

function callsOf({ error_code: code, requests }: LogRow): bigint {
  return code === SUMMARY_CODE ? amountInCell(requests) : 1n;
}

/** The status of the call of a log row. */
function usageStatus(row: Pick<LogRow, "error_code" | "held" | "cost">): UsageStatus {
  if (row.error_code === null) return "ok";
  return row.held === null && amountInCell(row.cost) === 0n ? "refused" : "failed";
}
