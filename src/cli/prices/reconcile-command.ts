// `farebox reconcile`: the costs of a provider's calls by the log, against the provider's own usage
// export.

import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Comparison, type Reconciliation, reconcile } from "../../annexes/prices/reconcile.ts";
import { readUsageExport } from "../../annexes/prices/usage-exports.ts";
import { decimal } from "../../core/money/decimal.ts";
import { dollars, type NanoUsd, toDecimal } from "../../core/money/money.ts";
import { addMonths } from "../../core/money/months.ts";
import { textOfBytes } from "../../core/text/text-bytes.ts";
import { Configurations } from "../../store/operators/configurations.ts";
import { readMargins } from "../../store/usage/margins.ts";
import { platformFetch } from "../../upstream/open-fetch.ts";
import { type Answer, type Command, type Input, UsageError } from "../command.ts";
import { foreign } from "../foreign.ts";
import { tryFlush } from "../operation/log-commands.ts";
import { table } from "../print.ts";
import { openCatalogue, serverSettings } from "../server-settings.ts";
import type { Stores } from "../stores.ts";
import { monthOf } from "../values.ts";

const TOLERANCE = "1";

const command: Command = {
  name: "reconcile",
  positionals: ["PROVIDER"],
  summary: "Compare what a provider's calls cost by the log with the provider's usage export",
  options: {
    month: { value: "MONTH", help: "the month in UTC, such as 2026-11", required: true },
    file: {
      value: "FILE",
      help: "the export: CSV of OpenAI, Anthropic or OpenRouter",
      required: true,
    },
    tolerance: { value: "PERCENT", help: `up to which figures agree (${TOLERANCE})` },
    all: { value: null, help: "print what agrees, too" },
  },
  prepare(input) {
    const [provider = ""] = input.positionals;
    const month = monthOf(input, "month");
    const toleranceBasisPoints = toleranceOf(input);
    const path = input.values.get("file") ?? "";
    const all = input.values.has("all");
    return async (stores) => {
      const text = textOfBytes(await readFile(path));
      const usage = foreign(() => readUsageExport(text, basename(path)));
      await tryFlush(stores);
      const namesOf = await namesAt(stores, provider);
      const range = { from: `${month}-01`, to: `${addMonths(month, 1)}-01`, by: "day" } as const;
      const sums = await readMargins(stores.database, range);
      const own = sums.filter(({ service, lane }) => service === "models" && lane === provider);
      const found = reconcile(own, usage, { month, toleranceBasisPoints, namesOf });
      return answerOf(found, { provider, month, form: usage.form, all });
    };
  },
};

function toleranceOf({ values }: Input): bigint {
  const text = values.get("tolerance") ?? TOLERANCE;
  const percent = /^\d{1,2}(\.\d{1,2})?$/.test(text) ? decimal(text) : null;
  if (percent !== null) return (percent.digits * 100n) / 10n ** BigInt(percent.scale);
  throw new UsageError(`--tolerance must be a percentage such as 0.5, but is '${text}'`);
}

/** The names of our models at a provider. */
async function namesAt({ database, environment, warn }: Stores, provider: string) {
  const applied = new Configurations(database);
  using source = await openCatalogue(serverSettings({ environment }), {
    applied,
    probe: platformFetch,
    warn,
  });
  const { models, providers } = source.current();
  if (!providers.has(provider)) {
    const known = [...providers.keys()].join(", ");
    throw new UsageError(`The configuration has no provider '${provider}'; it has ${known}`);
  }
  return (id: string): readonly string[] =>
    (models.get(id)?.routes ?? [])
      .filter((route) => route.provider === provider)
      .map(({ model }) => model);
}

interface Shown {
  readonly provider: string;
  readonly month: string;
  readonly form: string;
  readonly all: boolean;
}

function answerOf(
  { comparisons, unknownCalls, otherLines }: Reconciliation,
  { provider, month, form, all }: Shown,
): Answer {
  const drifts = comparisons.filter(({ isDrift }) => isDrift);
  const rows = all ? comparisons : drifts;
  const total = comparisons.at(-1);
  const notes = [
    unknownCalls === 0
      ? []
      : `${unknownCalls} calls have no known cost: they count as nothing here.`,
    otherLines === 0 ? [] : `${otherLines} lines of other months were left out.`,
  ].flat();
  const verdict =
    drifts.length === 0
      ? `${provider} and the log agree for ${month}: ${amount(total?.provider ?? null)}.`
      : `${provider} and the log differ for ${month}:`;
  const lines = [
    ["model", "day", "by the log", "by the provider", "difference", ""],
    ...rows.map((row) => [
      row.model ?? "all models",
      row.day ?? "the month",
      amount(row.local),
      amount(row.provider),
      dollars(row.difference),
      row.basisPoints === null ? "" : percent(row.basisPoints),
    ]),
  ];
  return {
    json: {
      provider,
      month,
      form,
      drifts: drifts.length,
      rows: rows.map(jsonOf),
      total: total === undefined ? null : jsonOf(total),
      unknown_calls: unknownCalls,
      lines_of_other_months: otherLines,
    },
    text: [verdict, ...(rows.length === 0 ? [] : [table(lines)]), ...notes].join("\n"),
    failed: drifts.length > 0,
  };
}

/** An amount in words. A side without any cost must not look like a side with $0. */
function amount(nanoUsd: bigint | null): string {
  return nanoUsd === null ? "nothing" : dollars(nanoUsd);
}

function percent(basisPoints: bigint): string {
  const sign = basisPoints < 0n ? "-" : "+";
  return `${sign}${Math.abs(Number(basisPoints) / 100).toFixed(2)}%`;
}

function jsonOf({ model, day, local, provider, difference, basisPoints, isDrift }: Comparison) {
  const usdOf = (value: bigint | null) => (value === null ? null : toDecimal(value as NanoUsd));
  return {
    model,
    day,
    log_usd: usdOf(local),
    provider_usd: usdOf(provider),
    difference_usd: usdOf(difference),
    difference_percent: basisPoints === null ? null : percent(basisPoints).slice(0, -1),
    is_drift: isDrift,
  };
}

export const reconcileCommands: readonly Command[] = [command];
