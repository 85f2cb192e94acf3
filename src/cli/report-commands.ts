// Reports for the operator over all accounts.

import { type MarginReport, type MarginRow, marginReport } from "../accounts/margin-report.ts";
import { dollarText, type NanoUsd, toDecimal } from "../core/money/money.ts";
import { addMonths, monthText } from "../core/money/months.ts";
import { csvLine } from "../core/text/csv.ts";
import { MARGIN_GROUPS, type MarginGroup } from "../store/usage/margins.ts";
import { type Command, UsageError } from "./command.ts";
import { tryFlush } from "./operation/log-commands.ts";
import { table } from "./print.ts";
import { monthOf, wordOf } from "./values.ts";

const HEADINGS = [
  "service",
  "model",
  "route",
  "day",
  "calls",
  "charged_usd",
  "free_usd",
  "known_calls",
  "known_charged_usd",
  "upstream_usd",
  "margin_usd",
  "margin_percent",
  "unknown_charged_usd",
  "provider_calls",
  "provider_usd",
  "local_usd",
] as const;
type Line = Readonly<Record<(typeof HEADINGS)[number], string | number | null>>;

const margin: Command = {
  name: "report margin",
  positionals: [],
  summary: "Sum what calls were charged and what they cost you upstream, for a month",
  options: {
    month: { value: "MONTH", help: "the month in UTC, such as 2026-11 (this month)" },
    by: { value: MARGIN_GROUPS.join("|"), help: "how finely the sums are split (route)" },
    csv: { value: null, help: "write CSV" },
  },
  prepare(input) {
    const month = monthOf(input, "month", monthText(input.nowMs));
    const by: MarginGroup = wordOf(input, "by", { words: MARGIN_GROUPS, fallback: "route" });
    const isCsv = input.values.has("csv");
    if (isCsv && input.json) throw new UsageError("--csv and --json cannot be used together");
    return async (stores) => {
      await tryFlush(stores);
      const range = { from: `${month}-01`, to: `${addMonths(month, 1)}-01`, by };
      const report = await marginReport(stores.database, range);
      const rows = report.rows.map(marginLine);
      const json = { month, by, rows, total: marginLine(report.total) };
      return { json, text: isCsv ? csvOf(report) : marginsText(report, by) };
    };
  },
};

/** Amounts are exact decimal texts; an unknown amount is null, never 0. */
function marginLine(row: MarginRow): Line {
  const isKnown = row.knownCalls > 0;
  return {
    service: row.service,
    model: row.model,
    route: row.lane,
    day: row.day,
    calls: row.calls,
    charged_usd: usdText(row.charged),
    free_usd: usdText(row.free),
    known_calls: row.knownCalls,
    known_charged_usd: usdText(row.knownCharged),
    upstream_usd: isKnown ? usdText(row.upstreamCost) : null,
    margin_usd: row.margin === null ? null : usdText(row.margin),
    margin_percent: percentOf(row),
    unknown_charged_usd: usdText(row.unknownCharged),
    provider_calls: row.providerCalls,
    provider_usd: isKnown ? usdText(row.providerCost) : null,
    local_usd: isKnown ? usdText(row.upstreamCost - row.providerCost) : null,
  };
}

/** Sums may be outside the range of NanoUsd. */
function usdText(amount: bigint): string {
  return toDecimal(amount as NanoUsd);
}

function percentOf({ marginBasisPoints: points }: MarginRow): string | null {
  return points === null ? null : (points / 100).toFixed(2);
}

function csvOf({ rows }: MarginReport): string {
  const lines = rows.map((row) => {
    const line = marginLine(row);
    return csvLine(HEADINGS.map((name) => cellOf(name, line[name])));
  });
  return [csvLine(HEADINGS), ...lines].join("").trimEnd().replaceAll("\r\n", "\n");
}

function cellOf(name: (typeof HEADINGS)[number], value: Line[keyof Line]) {
  const isNumber = name.endsWith("_usd") || name.endsWith("_percent");
  return isNumber && typeof value === "string" ? { decimal: value } : value;
}

function marginsText({ rows, total }: MarginReport, by: MarginGroup): string {
  if (rows.length === 0) return "No calls were served in that month.";
  const split = MARGIN_GROUPS.slice(0, MARGIN_GROUPS.indexOf(by) + 1);
  const head = [...split, "calls", "charged", "upstream", "by provider", "margin", "", "unknown"];
  const lines = rows.map((row) => [
    ...split.map((group) => marginLine(row)[group] || "-").map(String),
    ...amountsOf(row),
  ]);
  const end = ["total", ...split.slice(1).map(() => ""), ...amountsOf(total)];
  return table([head, ...lines, end]);
}

function amountsOf(row: MarginRow): string[] {
  const line = marginLine(row);
  const usdOf = (text: Line[keyof Line]) => (text === null ? "unknown" : dollarText(`${text}`));
  const percent = line.margin_percent === null ? "" : `${line.margin_percent}%`;
  return [
    `${row.calls}`,
    usdOf(line.charged_usd),
    usdOf(line.upstream_usd),
    usdOf(line.provider_usd),
    usdOf(line.margin_usd),
    percent,
    usdOf(line.unknown_charged_usd),
  ];
}

export const reportCommands: readonly Command[] = [margin];
