// Sums the charges over all accounts, by day and service, model or route, their cost, and the
// payments received.

import { serviceOfScope, serviceTitle } from "../core/access/services.ts";
import { DAY_MS } from "../core/durations.ts";
import { isDay } from "../core/money/months.ts";
import { jsonFrom, listOf, nested, text, usdField, type WireOf } from "../core/records.ts";
import { REVENUE_GROUPS } from "../core/usage-query.ts";
import { invalid } from "../http/body/checks.ts";
import { type Checked, oneOf, optional, Type, text as textSchema } from "../http/schema.ts";
import { readReceived } from "../store/operators/operator-money.ts";
import type { Database } from "../store/servers/database.ts";
import { type MarginSums, readMargins } from "../store/usage/margins.ts";
import { count, timeText, usdText } from "./reading.ts";

const DAY = "^\\d{4}-\\d\\d-\\d\\d$";
const DAYS_MAX = 366;
const NOT_KNOWN = "Without";

function daySchema(description: string) {
  return textSchema({ pattern: DAY, must: "must be a day such as 2026-11-22", description });
}

export const RevenueQuery = Type.Object(
  {
    from: daySchema("The first UTC day"),
    to: daySchema(`The last UTC day; at most ${DAYS_MAX} days`),
    group: optional(oneOf(REVENUE_GROUPS)),
  },
  { additionalProperties: false },
);

const Sums = {
  calls: count("Calls that were served or charged", 1204),
  charged_usd: usdField({ about: "Charged, of paid and free credit", sample: "18.420319" }),
  free_usd: usdField({ about: "The part that free credit paid", sample: "1.2" }),
  known_calls: count("Calls among them whose upstream cost is known", 1204),
  known_usd: usdField({ about: "What those were charged", sample: "18.420319" }),
  upstream_usd: usdField({ about: "What those cost the operator", sample: "11.2" }),
  provider_calls: count("Known calls whose cost the provider reported", 210),
  provider_usd: usdField({
    about: "What those cost; the rest of upstream_usd is by buying prices",
    sample: "2.1",
  }),
  margin_usd: usdField({ about: "What is left of them", sample: "7.220319" }),
};

const Received = {
  payments: count("Payments of these days", 1),
  amount_usd: usdField({ about: "Credited for them, without bonus", sample: "25" }),
  fee_usd: usdField({ about: "Fees that payers paid on top", sample: "0" }),
  taken_back_usd: usdField({ about: "Refunded, disputed or lost of them by now", sample: "0" }),
  by_day: listOf(usdField({ about: "Credited on each day", sample: "25" }), {
    sample: ["25", "0"],
  }),
};

export const Revenue = {
  days: listOf(
    text({
      about: "Each UTC day of the range",
      pattern: DAY,
      sample: "2026-11-21",
    }),
    { sample: ["2026-11-21", "2026-11-22"] },
  ),
  groups: listOf(
    nested({
      name: text({ about: "Empty where the log has none", sample: "chat" }),
      title: text({ sample: "Chat" }),
      ...Sums,
      by_day: listOf(usdField({ about: "Charged on each day", sample: "9.1" }), {
        sample: ["9.1", "9.320319"],
      }),
    }),
  ),
  total: nested({
    ...Sums,
    earned_usd: usdField({ about: "Charged of paid credit", sample: "17.220319" }),
  }),
  received: nested(Received),
};
export type RevenueReply = WireOf<typeof Revenue>;

const [writeSums, writeReceived] = [jsonFrom(Sums), jsonFrom(Received)];

/** Reads charges, their cost and payments. @throws ApiError that names the field at fault */
export async function revenueReply(
  database: Database,
  { from, to, group: asked }: Checked<typeof RevenueQuery>,
): Promise<RevenueReply> {
  const days = daysOf(from, to);
  const group = asked ?? "service";
  const [cells, payments] = await Promise.all([
    readMargins(database, { from, to: dayText(dayMs("to", to) + DAY_MS), by: "day" }),
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
      by_day: sumsByDay(days, own, (cell) => cell.charged).map(usdText),
    })),
    total: { ...sumsOf(cells), earned_usd: usdText(charged - free) },
    received: writeReceived({
      payments: payments.reduce((all, one) => all + one.payments, 0),
      amount: sum(payments.map(({ amount }) => amount)),
      fee: sum(payments.map(({ fee }) => fee)),
      takenBack: sum(payments.map(({ takenBack }) => takenBack)),
      byDay: sumsByDay(days, payments, ({ amount }) => amount),
    }),
  };
}

function nameIn({ service, model, lane }: MarginSums, group: (typeof REVENUE_GROUPS)[number]) {
  if (group === "service") return serviceOfScope(service);
  return (group === "model" ? model : lane) ?? "";
}

function sumsOf(cells: readonly MarginSums[]) {
  const known = sum(cells.map(({ knownCharged }) => knownCharged));
  const upstream = sum(cells.map(({ upstreamCost }) => upstreamCost));
  return writeSums({
    calls: cells.reduce((all, { calls }) => all + calls, 0),
    charged: sum(cells.map(({ charged }) => charged)),
    free: sum(cells.map(({ free }) => free)),
    knownCalls: cells.reduce((all, { knownCalls }) => all + knownCalls, 0),
    known,
    upstream,
    providerCalls: cells.reduce((all, { providerCalls }) => all + providerCalls, 0),
    provider: sum(cells.map(({ providerCost }) => providerCost)),
    margin: known - upstream,
  });
}

function sumsByDay<Row extends { readonly day: string | null }>(
  days: readonly string[],
  rows: readonly Row[],
  amountOf: (row: Row) => bigint,
): bigint[] {
  const found = Map.groupBy(rows, ({ day }) => day);
  return days.map((day) => sum((found.get(day) ?? []).map(amountOf)));
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
  if (!isDay(day)) throw invalid(field, "must be a day that exists");
  return Date.parse(`${day}T00:00:00Z`);
}

function dayText(ms: number): string {
  return timeText(ms).slice(0, "2026-11-22".length);
}
