// Reads the charges of calls and their cost to the operator, by route or by day.

import type { Database } from "../servers/database.ts";

/** The columns that split the sums; each includes the ones before it. */
export const MARGIN_GROUPS = ["service", "model", "route", "day"] as const;
export type MarginGroup = (typeof MARGIN_GROUPS)[number];

/** The sums of a group in a range of days; amounts are nano-USD and may exceed NanoUsd. */
export interface MarginSums {
  readonly service: string;
  /** A model or an action; empty for other calls, null if the sums are not split by it. */
  readonly model: string | null;
  /** The provider; empty if the log has none, null if the sums are not split by it. */
  readonly lane: string | null;
  /** `2026-11-22`; null if the sums are not split by it. */
  readonly day: string | null;
  /** Calls that were served or charged. */
  readonly calls: number;
  readonly charged: bigint;
  /** The part of `charged` that free credit paid. */
  readonly free: bigint;
  /** The calls among them whose upstream cost is known, and the charges of these calls. */
  readonly knownCalls: number;
  readonly knownCharged: bigint;
  /** The operator's cost of those calls. */
  readonly upstreamCost: bigint;
  /** The calls among the known ones whose cost the provider reported, and the sum of it. */
  readonly providerCalls: number;
  readonly providerCost: bigint;
}

const COLUMNS: Readonly<Record<MarginGroup, { readonly name: string; readonly select: string }>> = {
  service: { name: "service", select: "service" },
  model: { name: "model", select: "model" },
  route: { name: "lane", select: "lane" },
  day: { name: "day", select: "day::text" },
};

/** Days such as `2026-11-01` (UTC), and the split of their sums. */
export interface MarginRange {
  /** The first day. */
  readonly from: string;
  /** The day after the last one. */
  readonly to: string;
  readonly by: MarginGroup;
}

/** Reads the sums of a range of days, those with the highest charges first. */
export async function readMargins(
  { sql }: Database,
  { from, to, by }: MarginRange,
): Promise<MarginSums[]> {
  const split = MARGIN_GROUPS.slice(0, MARGIN_GROUPS.indexOf(by) + 1);
  const columns = MARGIN_GROUPS.map((group) => {
    const { name, select } = COLUMNS[group];
    return `${split.includes(group) ? select : "NULL"} AS ${name}`;
  });
  const places = split.map((_, index) => index + 1).join(", ");
  const rows = await sql.unsafe(
    `SELECT ${columns.join(", ")}, sum(calls) AS calls, sum(cost) AS charged,
      sum(free_cost) AS free, sum(known_calls) AS known_calls, sum(known_cost) AS known_charged,
      sum(upstream_cost) AS upstream_cost, sum(provider_calls) AS provider_calls,
      sum(provider_cost) AS provider_cost
    FROM margin_days WHERE day >= $1::text::date AND day < $2::text::date
    GROUP BY ${places} HAVING sum(calls) <> 0 OR sum(cost) <> 0
    ORDER BY sum(cost) DESC, ${places}`,
    [from, to],
    { prepare: true },
  );
  return rows.map((row) => {
    const amount = (name: string) => BigInt(String(row[name]));
    const text = (name: string) => (row[name] === null ? null : String(row[name]));
    return {
      service: String(row.service),
      model: text("model"),
      lane: text("lane"),
      day: text("day"),
      calls: Number(row.calls),
      charged: amount("charged"),
      free: amount("free"),
      knownCalls: Number(row.known_calls),
      knownCharged: amount("known_charged"),
      upstreamCost: amount("upstream_cost"),
      providerCalls: Number(row.provider_calls),
      providerCost: amount("provider_cost"),
    };
  });
}
