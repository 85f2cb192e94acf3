// Disputes, grants of free credit and revenue, over all accounts.

import { DAY_MS } from "../core/access/limits.ts";
import type { REVENUE_GROUPS } from "../core/usage-query.ts";
import { invalid } from "../http/body/checks.ts";
import { queryOf } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import type { Checked } from "../http/schema.ts";
import { timeText, usdText } from "../readings/reading.ts";
import { serviceOfScope, serviceTitle } from "../readings/service-names.ts";
import { readReceived } from "../store/operators/operator-money.ts";
import type { Database } from "../store/servers/database.ts";
import { type MarginSums, readMargins } from "../store/usage/margins.ts";
import { type Context, OPERATOR_PATH } from "./deps.ts";
import { REVENUE_EXAMPLE, Revenue, RevenueQuery, type RevenueReply } from "./money-schema.ts";

const DAYS_MAX = 366;
const NOT_KNOWN = "Without";

const revenue = operatorEndpoint({
  id: "getRevenue",
  method: "GET",
  path: `${OPERATOR_PATH}/revenue`,
  summary: "Show what was charged by day and service, model or route, what that cost, and payments",
  query: queryOf(RevenueQuery),
  reply: Revenue,
  examples: [
    { summary: "Two days", query: "from=2026-11-21&to=2026-11-22", reply: REVENUE_EXAMPLE },
  ],
  run: ({ deps }: Context, input) => revenueReply(deps.reading.database, input),
});

/**
 * Reads what was charged, what it cost and what was received. @throws ApiError that names the field
 * at fault
 */
async function revenueReply(
  database: Database,
  { from, to, group: asked }: Checked<typeof RevenueQuery>,
): Promise<RevenueReply> {
  const days = daysOf(from, to);
  const group = asked ?? "service";
  const [cells, payments] = await Promise.all([
    readMargins(database, from, dayText(dayMs("to", to) + DAY_MS), "day"),
    readReceived(database, { from, to }),
  ]);
  const groups = [...Map.groupBy(cells, (cell) => nameIn(cell, group))].map(([name, own]) => {
    const title = group === "service" ? serviceTitle(name) : name === "" ? NOT_KNOWN : name;
    return { name, title, own, charged: sum(own.map(({ charged }) => charged)) };
  });
  groups.sort((a, b) => (a.charged === b.charged ? 0 : a.charged < b.charged ? 1 : -1));
  const charged = sum(cells.map((cell) => cell.charged));
  const free = sum(cells.map((cell) => cell.free));
  return {
    days,
    groups: groups.map(({ name, title, own }) => ({
      name,
      title,
      ...sumsOf(own),
      by_day: byDay(days, own, (cell) => cell.charged),
    })),
    total: { ...sumsOf(cells), earned_usd: usdText(charged - free) },
    received: {
      payments: payments.reduce((all, one) => all + one.payments, 0),
      amount_usd: usdText(sum(payments.map(({ amount }) => amount))),
      fee_usd: usdText(sum(payments.map(({ fee }) => fee))),
      taken_back_usd: usdText(sum(payments.map(({ takenBack }) => takenBack))),
      by_day: byDay(days, payments, ({ amount }) => amount),
    },
  };
}

function nameIn({ service, model, lane }: MarginSums, group: (typeof REVENUE_GROUPS)[number]) {
  if (group === "service") return serviceOfScope(service);
  return (group === "model" ? model : lane) ?? "";
}

function sumsOf(cells: readonly MarginSums[]) {
  const known = sum(cells.map(({ knownCharged }) => knownCharged));
  const upstream = sum(cells.map(({ upstreamCost }) => upstreamCost));
  return {
    calls: cells.reduce((all, { calls }) => all + calls, 0),
    charged_usd: usdText(sum(cells.map(({ charged }) => charged))),
    free_usd: usdText(sum(cells.map(({ free }) => free))),
    known_calls: cells.reduce((all, { knownCalls }) => all + knownCalls, 0),
    known_usd: usdText(known),
    upstream_usd: usdText(upstream),
    margin_usd: usdText(known - upstream),
  };
}

function byDay<Row extends { readonly day: string | null }>(
  days: readonly string[],
  rows: readonly Row[],
  amountOf: (row: Row) => bigint,
): string[] {
  const found = Map.groupBy(rows, ({ day }) => day);
  return days.map((day) => usdText(sum((found.get(day) ?? []).map(amountOf))));
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, amount) => all + amount, 0n);
}

function daysOf(from: string, to: string): string[] {
  const [start, end] = [dayMs("from", from), dayMs("to", to)];
  if (end < start) throw invalid("to", "must not be before from");
  const count = (end - start) / DAY_MS + 1;
  if (count > DAYS_MAX) throw invalid("to", `must be at most ${DAYS_MAX} days after from`);
  return Array.from({ length: count }, (_, index) => dayText(start + index * DAY_MS));
}

function dayMs(field: string, day: string): number {
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms) || dayText(ms) !== day) throw invalid(field, "must be a day that exists");
  return ms;
}

function dayText(ms: number): string {
  return timeText(ms).slice(0, "2026-11-22".length);
}

export const MONEY_ENDPOINTS = [revenue] as const;
