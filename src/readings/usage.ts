// What an account used, by step of time and by group. The CSV has no totals (D-581).

import { BAND_ERROR_PERCENT, LatencyCounts } from "../core/latency-bands.ts";
import { type CsvCell, csvLine } from "../core/text/csv.ts";
import { NO_MODEL, OTHERS } from "../core/usage-query.ts";
import { type KeyName, keyNumber, readKeyNames } from "../store/accounts/key-names.ts";
import {
  readUsage,
  readUsageChoices,
  type UsageCell,
  type UsageSums,
} from "../store/usage/usage.ts";
import { type AccountSource, asOf, timeText, usdText } from "./reading.ts";
import { scopeOfService, serviceOfScope, serviceTitle } from "./service-names.ts";
import { rangeOf } from "./usage-range.ts";
import type { UsageInput, UsageReply } from "./usage-schema.ts";

type Figures = UsageReply["total"];

const P95 = 95;

/** Reads the usage of an account. @throws ApiError that names the field at fault */
export async function usageReply(
  { reading, account }: AccountSource,
  input: UsageInput,
): Promise<UsageReply> {
  const { database } = reading;
  const { zone, borders } = await rangeOf(database, input);
  const [fromMs = 0, toMs = 0] = [borders[0], borders.at(-1)];
  const as_of = await asOf(reading, account);
  const keys = await readKeyNames(database, account.number);
  const [cells, choices] = await Promise.all([
    readUsage(database, {
      account: account.number,
      borders,
      group: input.group,
      filter: {
        service: input.service == null ? null : scopeOfService(input.service),
        model: input.model == null ? null : input.model === NO_MODEL ? "" : input.model,
        key: input.key == null ? null : keyNumber(keys, input.key),
        status: input.status ?? null,
      },
    }),
    readUsageChoices(database, account.number, fromMs, toMs),
  ]);
  const groups = Map.groupBy(cells, ({ group }) => group);
  return {
    as_of,
    from: timeText(fromMs),
    to: timeText(toMs),
    step: input.step,
    zone,
    begins: borders.slice(0, -1).map(timeText),
    p95_error_percent: BAND_ERROR_PERCENT,
    groups: [...groups].map(([group, own]) => ({
      ...nameOf(input.group, group, keys),
      total: figures(total(own)),
      steps: own.map((cell) => ({ at: timeText(borders[cell.step] ?? 0), ...figures(cell) })),
    })),
    total: figures(total(cells)),
    choices: {
      services: choices.services.map(serviceOfScope),
      models: choices.models.filter((model) => model !== ""),
      keys: choices.keys.flatMap((number) => {
        const key = keys.get(number);
        return key === undefined ? [] : [{ id: key.id, name: key.name }];
      }),
    },
  };
}

function nameOf(
  kind: UsageInput["group"],
  group: string | null,
  keys: ReadonlyMap<number, KeyName>,
): { readonly id: string; readonly label: string } {
  if (group === null) return { id: OTHERS, label: "Others" };
  if (kind === "none") return { id: "all", label: "All calls" };
  if (kind === "service") {
    const id = serviceOfScope(group);
    return { id, label: serviceTitle(id) };
  }
  if (kind === "key") {
    const key = keys.get(Number(group));
    return key === undefined
      ? { id: "unknown", label: "Unknown" }
      : { id: key.id, label: key.name };
  }
  if (group === "") return { id: NO_MODEL, label: "No model" };
  return { id: group, label: group };
}

function total(cells: readonly UsageCell[]): UsageSums {
  const sums: UsageSums = {
    calls: 0,
    errors: 0,
    cost: 0n,
    freeCost: 0n,
    promptTokens: 0,
    completionTokens: 0,
    latencies: new LatencyCounts(),
  };
  for (const cell of cells) {
    sums.calls += cell.calls;
    sums.errors += cell.errors;
    sums.cost += cell.cost;
    sums.freeCost += cell.freeCost;
    sums.promptTokens += cell.promptTokens;
    sums.completionTokens += cell.completionTokens;
    sums.latencies.addAll(cell.latencies);
  }
  return sums;
}

function figures(sums: UsageSums): Figures {
  return {
    calls: sums.calls,
    errors: sums.errors,
    cost_usd: usdText(sums.cost),
    free_usd: usdText(sums.freeCost),
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    p95_ms: sums.latencies.percentile(P95),
  };
}

const HEADINGS = ["begin", "group_id", "group", "calls", "errors", "prompt_tokens"];
const MORE_HEADINGS = ["completion_tokens", "cost_usd", "free_usd", "p95_ms"];

/**
 * The figures of each group and step, which add up to the totals. Totals are not among them: who
 * sums a column would count each call three times.
 */
export function csvOf({ groups }: UsageReply): string {
  const line = (at: string, id: string, label: string, one: Figures) =>
    csvLine([at, id, label, ...cellsOf(one)]);
  return [
    csvLine([...HEADINGS, ...MORE_HEADINGS]),
    ...groups.flatMap(({ id, label, steps }) => steps.map((one) => line(one.at, id, label, one))),
  ].join("");
}

function cellsOf(one: Figures): CsvCell[] {
  return [
    one.calls,
    one.errors,
    one.prompt_tokens,
    one.completion_tokens,
    { decimal: one.cost_usd },
    { decimal: one.free_usd },
    one.p95_ms,
  ];
}
