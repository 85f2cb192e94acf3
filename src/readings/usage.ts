// Sums the usage of an account by step of time and by group. The CSV has no totals (D-265).

import { serviceOfScope, serviceTitle } from "../core/access/services.ts";
import { BAND_ERROR_PERCENT, LatencyCounts } from "../core/latency-bands.ts";
import {
  type Field,
  jsonOf,
  listOf,
  nested,
  nullable,
  number,
  text,
  time,
  usd,
  type WireOf,
  type Words,
  word,
} from "../core/records.ts";
import { type CsvCell, csvLine } from "../core/text/csv.ts";
import {
  FIGURE_NAMES,
  MEASURE_NAMES,
  MEASURES,
  type Measure,
  NO_MODEL,
  NO_TAG,
  OTHERS,
  USAGE_STEPS,
} from "../core/usage-query.ts";
import { type KeyName, readKeyNames, tagsText } from "../store/accounts/key-names.ts";
import {
  NOTHING_USED,
  readUsage,
  readUsageChoices,
  type UsageCell,
  type UsageSums,
} from "../store/usage/usage.ts";
import { type AccountSource, AGE, asOf, timeText } from "./reading.ts";
import { rangeOf, type UsageInput, usageFilterOf } from "./usage-range.ts";

const P95 = 95;
const SAMPLE_HOURS = 15;

type FigureFields = {
  readonly [Name in Measure]: (typeof MEASURES)[Name]["unit"] extends "usd"
    ? Field<string>
    : Field<number>;
};

const measureFields = Object.entries(MEASURES).map(([name, { unit, ...words }]) => [
  name,
  unit === "usd"
    ? usd(words as Words<string>)
    : number({ minimum: 0, ...(words as Words<number>) }),
]);

const Figures = {
  ...(Object.fromEntries(measureFields) as FigureFields),
  p95_ms: nullable(
    number({ minimum: 0, about: "95 of 100 answered calls took at most this", sample: 812 }),
  ),
};

const Step = {
  at: time({ about: "The begin of the step", sample: "2026-11-22T13:00:00.000Z" }),
  ...Figures,
};

const Group = {
  id: text({
    about:
      "What the group is called in a filter; `others` is what comes after the first 20 by cost",
    sample: "chat",
  }),
  label: text({ about: "What it is called for people", sample: "Chat" }),
  total: nested(Figures),
  steps: listOf(nested(Step, { about: "A step in which there was a call; the others are zero" })),
};

export const Usage = {
  ...AGE,
  from: time({ about: "The begin", sample: "2026-11-22T00:00:00.000Z" }),
  to: time({ about: "The end", sample: "2026-11-22T15:00:00.000Z" }),
  step: word(USAGE_STEPS, { sample: "1h" }),
  zone: text({ sample: "UTC" }),
  begins: listOf(
    time({
      about: "The begin of a step; of all of them, in order",
      sample: "2026-11-22T00:00:00.000Z",
    }),
    {
      sample: Array.from({ length: SAMPLE_HOURS }, (_, hour) =>
        timeText(Date.UTC(2026, 10, 22, hour)),
      ),
    },
  ),
  p95_error_percent: number({
    about: "By how much a p95 may be off",
    sample: BAND_ERROR_PERCENT,
  }),
  groups: listOf(nested(Group)),
  total: nested(Figures),
  choices: nested({
    services: listOf(text({ sample: "chat" })),
    models: listOf(text({ sample: "fast" })),
    keys: listOf(
      nested({
        id: text({ sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
        name: text({ sample: "production" }),
      }),
    ),
    tags: listOf(text({ about: "A tag of these keys", sample: "web" })),
  }),
};
export type UsageReply = WireOf<typeof Usage>;

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
      tags: tagsOf(keys),
      filter: usageFilterOf(keys, input),
    }),
    readUsageChoices(database, account.number, { fromMs, toMs }),
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
      tags: [...new Set(choices.keys.flatMap((number) => keys.get(number)?.tags ?? []))].toSorted(),
    },
  };
}

/** The group of each key that has tags: the keys with the same tags, so each call is in one. */
function tagsOf(keys: ReadonlyMap<number, KeyName>): ReadonlyMap<number, string> {
  const tagged = [...keys].filter(([, { tags }]) => tags.length > 0);
  return new Map(tagged.map(([number, { tags }]) => [number, tagsText(tags)]));
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
  if (kind === "tag") {
    if (group === "") return { id: NO_TAG, label: "No tag" };
    return { id: group, label: group.replaceAll(",", ", ") };
  }
  if (group === "") return { id: NO_MODEL, label: "No model" };
  return { id: group, label: group };
}

function total(cells: readonly UsageCell[]): UsageSums {
  const sums = { ...NOTHING_USED, latencies: new LatencyCounts() };
  for (const cell of cells) {
    for (const name of MEASURE_NAMES) sums[name] += cell[name];
    sums.latencies.addAll(cell.latencies);
  }
  return sums;
}

function figures({ latencies, ...sums }: UsageSums): UsageReply["total"] {
  return jsonOf(Figures, { ...sums, p95_ms: latencies.percentile(P95) });
}

/**
 * The figures of each group and step, which add up to the totals. Totals are not among them: who
 * sums a column would count each call three times.
 */
export function csvOf({ groups }: UsageReply): string {
  const lines = groups.flatMap(({ id, label, steps }) =>
    steps.map((step) =>
      csvLine([step.at, id, label, ...FIGURE_NAMES.map((name) => cellOf(step[name]))]),
    ),
  );
  return [csvLine(["begin", "group_id", "group", ...FIGURE_NAMES]), ...lines].join("");
}

function cellOf(figure: string | number | null): CsvCell {
  return typeof figure === "string" ? { decimal: figure } : figure;
}
