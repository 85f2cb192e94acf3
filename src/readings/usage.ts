// The usage of an account by step of time and by group: its query, which has days of any time zone,
// its record, and the CSV file, which has no totals (D-265).

import { scopeOfService, serviceOfScope, serviceTitle } from "../core/access/services.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/durations.ts";
import type { ApiError } from "../core/errors.ts";
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
  usdField,
  type WireOf,
  type Words,
  word,
} from "../core/records.ts";
import { type CsvCell, csvLine } from "../core/text/csv.ts";
import { timeFrom } from "../core/text/field-rules.ts";
import {
  CALL_STATUSES,
  FIGURE_NAMES,
  MEASURE_NAMES,
  MEASURES,
  type Measure,
  NO_MODEL,
  NO_TAG,
  OTHERS,
  USAGE_GROUPS,
  USAGE_STEPS,
} from "../core/usage-query.ts";
import { invalid, readField } from "../http/body/checks.ts";
import { time as timeSchema } from "../http/console/fields.ts";
import { type Checked, oneOf, optional, Type, text as textSchema } from "../http/schema.ts";
import { type KeyName, keyNumbers, readKeyNames, tagsText } from "../store/accounts/key-names.ts";
import type { Database } from "../store/servers/database.ts";
import {
  NOTHING_USED,
  readUsage,
  readUsageChoices,
  UnknownZone,
  type UsageCell,
  type UsageFilter,
  type UsageSums,
  zoneBorders,
} from "../store/usage/usage.ts";
import { type AccountSource, AGE, asOf, timeText } from "./reading.ts";

/** The most steps of a reply; a longer range needs a longer step. */
const USAGE_STEPS_MAX = 750;
const QUARTER_MS = 15 * MINUTE_MS;

const STEP_MS = { "15m": QUARTER_MS, "1h": HOUR_MS, "1d": DAY_MS, "1mo": 28 * DAY_MS } as const;
const P95 = 95;
const SAMPLE_HOURS = 15;

/** The query. Days begin at midnight of `zone`, hours and quarters at `from`. */
export const UsageQuery = Type.Object(
  {
    from: timeSchema("The begin, a multiple of 15 minutes"),
    to: timeSchema("The end, which is not included"),
    step: oneOf(USAGE_STEPS),
    group: oneOf(USAGE_GROUPS),
    zone: optional(textSchema({ description: "An IANA time zone; UTC by default" })),
    service: optional(textSchema()),
    model: optional(
      textSchema({ description: "A model, or an action of maps; `none` for calls without one" }),
    ),
    key: optional(textSchema({ description: "The id of a key" })),
    tag: optional(
      textSchema({
        description:
          "A tag that keys have; of several, with commas, keys have all; `none`: keys without one",
      }),
    ),
    status: optional(oneOf(CALL_STATUSES)),
  },
  { additionalProperties: false },
);
type UsageInput = Checked<typeof UsageQuery>;

type FigureFields = {
  readonly [Name in Measure]: (typeof MEASURES)[Name]["unit"] extends "usd"
    ? Field<string>
    : Field<number>;
};

const measureFields = Object.entries(MEASURES).map(([name, { unit, ...words }]) => [
  name,
  unit === "usd"
    ? usdField(words as Words<string>)
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

/** Reads the filters that usage and the request log share. An unknown key or tag finds no call. */
export function usageFilterOf(
  keys: ReadonlyMap<number, KeyName>,
  {
    service,
    model,
    key,
    tag,
    status = null,
  }: Pick<UsageInput, "service" | "model" | "key" | "tag" | "status">,
): UsageFilter {
  return {
    service: service == null ? null : scopeOfService(service),
    model: model == null ? null : model === NO_MODEL ? "" : model,
    keys: keyNumbers(keys, { key, tag }),
    status,
  };
}

interface UsageRange {
  readonly zone: string;
  /** The begin of each step, and the end of the last one. */
  readonly borders: readonly number[];
}

/** The steps of a query. @throws ApiError that names the field at fault */
async function rangeOf(database: Database, input: UsageInput): Promise<UsageRange> {
  const fromMs = queryTime("from", input.from);
  const toMs = queryTime("to", input.to);
  if (fromMs >= toMs) throw invalid("to", "must be after from");
  if (fromMs % QUARTER_MS !== 0) throw invalid("from", "must be a multiple of 15 minutes");
  if (toMs % QUARTER_MS !== 0) throw invalid("to", "must be a multiple of 15 minutes");
  const { step } = input;
  if ((toMs - fromMs) / STEP_MS[step] > USAGE_STEPS_MAX) {
    throw invalid("step", `must be longer: a reply has at most ${USAGE_STEPS_MAX} steps`);
  }
  const zone = zoneOf(input.zone ?? "UTC");
  if (step === "1d" || step === "1mo") {
    const unit = step === "1d" ? "day" : "month";
    const inner = await zoneBorders(database, { fromMs, toMs, zone, unit }).catch(
      // JavaScript and Postgres have tables of their own, and neither has all names of the other.
      (error: unknown) => {
        throw error instanceof UnknownZone ? unknownZone(zone) : error;
      },
    );
    return { zone, borders: [fromMs, ...inner, toMs] };
  }
  const length = STEP_MS[step];
  const count = Math.ceil((toMs - fromMs) / length);
  const begins = Array.from({ length: count }, (_, index) => fromMs + index * length);
  return { zone, borders: [...begins, toMs] };
}

/** A time that a schema has matched already. @throws ApiError */
export function queryTime(field: string, text: string): number {
  return readField(field, () => timeFrom(text)).getTime();
}

/** The name of a time zone as the tz database has it. @throws ApiError */
function zoneOf(name: string): string {
  try {
    // Postgres reads the sign of `+05:30` the other way round, so only names are taken.
    if (!/^[A-Za-z]/.test(name)) throw new RangeError("no name");
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unknownZone(name);
  }
}

function unknownZone(name: string): ApiError {
  return invalid("zone", `must be a time zone such as Europe/Berlin, but is '${name}'`);
}
