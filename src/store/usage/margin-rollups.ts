// Writes the operator's cost of calls, by day and route, in the transaction that writes their log
// rows.

import type { SqlTransaction } from "../servers/transaction.ts";
import { unnestParameters, unnestText } from "../tables/unnest.ts";
import { amountInCell, type LogRow, REPORTED } from "./log-rows.ts";
import type { LogChange } from "./usage-changes.ts";

const COLUMNS = {
  account: "bigint",
  day: "date",
  service: "text",
  model: "text",
  lane: "text",
  calls: "int",
  cost: "bigint",
  free_cost: "bigint",
  known_calls: "int",
  known_cost: "bigint",
  upstream_cost: "bigint",
  provider_calls: "int",
  provider_cost: "bigint",
} as const;
const KEYS = ["bucket", "day", "service", "model", "lane"].join(", ");
const SUMS = [
  "calls",
  "cost",
  "free_cost",
  "known_calls",
  "known_cost",
  "upstream_cost",
  "provider_calls",
  "provider_cost",
];

const ADD = `
  INSERT INTO margin_days AS m (${KEYS}, ${SUMS.join(", ")})
  SELECT a.bucket, row.day, row.service, row.model, row.lane,
    ${SUMS.map((name) => `sum(row.${name})`).join(", ")}
  FROM ${unnestText(COLUMNS)} JOIN accounts a ON a.number = row.account
  GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (${KEYS}) DO UPDATE SET
    ${SUMS.map((name) => `${name} = m.${name} + excluded.${name}`).join(", ")}`;

/** True for a log row that counts for the margin: its call was served or charged. As SQL. */
export const hasMarginSql = (row: string) => `(${row}.lane IS NOT NULL OR ${row}.cost <> 0)`;

/** True for a log row whose upstream cost the provider reported. As SQL. */
export const isReportedSql = (row: string) => `(${row}.upstream_source = '${REPORTED}')`;

/**
 * Adds log rows that were written, and takes away those that they replaced. The transaction must
 * hold the cursors of the accounts' buckets.
 */
export async function addMargins(tx: SqlTransaction, changes: Iterable<LogChange>): Promise<void> {
  const sums = new Map<string, Sum>();
  for (const { before, after } of changes) {
    if (before !== null) addRow(sums, before, -1);
    addRow(sums, after, 1);
  }
  if (sums.size === 0) return;
  const rows = [...sums.values()].map(({ key, ...sum }) => ({
    ...key,
    calls: sum.calls,
    cost: sum.cost.toString(),
    free_cost: sum.freeCost.toString(),
    known_calls: sum.knownCalls,
    known_cost: sum.knownCost.toString(),
    upstream_cost: sum.upstreamCost.toString(),
    provider_calls: sum.providerCalls,
    provider_cost: sum.providerCost.toString(),
  }));
  await tx.unsafe(ADD, unnestParameters<keyof typeof COLUMNS>(COLUMNS, rows), { prepare: true });
}

interface Sum {
  readonly key: Readonly<Record<"account" | "day" | "service" | "model" | "lane", string>>;
  calls: number;
  cost: bigint;
  freeCost: bigint;
  knownCalls: number;
  knownCost: bigint;
  upstreamCost: bigint;
  providerCalls: number;
  providerCost: bigint;
}

/** Adds a row to the sums, or takes it away, if it counts by `hasMarginSql`. */
function addRow(sums: Map<string, Sum>, row: LogRow, sign: 1 | -1): void {
  const cost = amountInCell(row.cost);
  if (row.lane === null && cost === 0n) return;
  const text = (value: LogRow[keyof LogRow]) => (value === null ? "" : String(value));
  const [account, service, model] = [text(row.account), text(row.service), text(row.model)];
  const [day, lane] = [text(row.at).slice(0, "2026-11-22".length), text(row.lane)];
  const id = `${account}\0${day}\0${service}\0${model}\0${lane}`;
  let sum = sums.get(id);
  if (sum === undefined) {
    const key = { account, day, service, model, lane };
    const noCost = { cost: 0n, freeCost: 0n, knownCost: 0n, upstreamCost: 0n, providerCost: 0n };
    sum = { key, calls: 0, knownCalls: 0, providerCalls: 0, ...noCost };
    sums.set(id, sum);
  }
  const signed = (amount: bigint) => (sign === 1 ? amount : -amount);
  sum.calls += sign;
  sum.cost += signed(cost);
  sum.freeCost += signed(amountInCell(row.free_cost));
  if (row.upstream_cost === null) return;
  sum.knownCalls += sign;
  sum.knownCost += signed(cost);
  sum.upstreamCost += signed(amountInCell(row.upstream_cost));
  if (row.upstream_source !== REPORTED) return;
  sum.providerCalls += sign;
  sum.providerCost += signed(amountInCell(row.upstream_cost));
}
