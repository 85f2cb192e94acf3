// Reads the usage of an account from the sums of its request log: by step of time and by group, in
// one query. Totals are the sums of the returned cells, so they always agree.

import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/durations.ts";
import { LatencyCounts } from "../../core/latency-bands.ts";
import { MEASURE_NAMES, type Measure, type UsageGroup } from "../../core/usage-query.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { isInvalidParameter } from "../servers/sql-errors.ts";
import { Parameters } from "../tables/parameters.ts";
import type { UsageStatus } from "../tables/usage-schema.ts";

/** The choices of filters for a longer range are read day by day. */
const HOURLY_CHOICES_MS = 4 * DAY_MS;
/** Only this many groups, those with the most cost, are kept apart; the others are put together. */
const USAGE_GROUPS_MAX = 20;

/** The calls that are counted; a field that is null limits nothing. */
export interface UsageFilter {
  readonly service: string | null;
  /** Empty for calls without a model. */
  readonly model: string | null;
  /** The numbers of keys. */
  readonly keys: readonly number[] | null;
  readonly status: UsageStatus | null;
}

interface UsageQuestion {
  readonly account: number;
  /** The begin of each step, and the end of the last one, in milliseconds. */
  readonly borders: readonly number[];
  readonly group: UsageGroup;
  /** The tags of each key that has any, as the name of its group; by the number of the key. */
  readonly tags: ReadonlyMap<number, string>;
  readonly filter: UsageFilter;
}

/** Each measure; amounts in nano-USD, which may be outside the range of NanoUsd. */
export interface UsageSums extends Record<Measure, bigint> {
  readonly latencies: LatencyCounts;
}

export const NOTHING_USED: Readonly<Record<Measure, bigint>> = {
  calls: 0n,
  errors: 0n,
  prompt_tokens: 0n,
  completion_tokens: 0n,
  cost_usd: 0n,
  free_usd: 0n,
};

/** The sums of a group in a step. */
export interface UsageCell extends UsageSums {
  /** Null for the groups that were put together; "" where the log has no value. */
  readonly group: string | null;
  /** The number of the step, from 0 on. */
  readonly step: number;
}

const GROUP_SQL: Readonly<Record<Exclude<UsageGroup, "tag">, string>> = {
  none: "''",
  service: "service",
  model: "model",
  key: "key::text",
  status: "status",
};

/** The name of a row's group, as SQL. */
function groupSql(parameters: Parameters, { group, tags }: UsageQuestion): string {
  if (group !== "tag") return GROUP_SQL[group];
  const byKey = parameters.add(JSON.stringify(Object.fromEntries(tags)));
  return `coalesce(${byKey}::text::jsonb ->> key::text, '')`;
}

const MEASURED = {
  calls: "sum(calls)",
  errors: "coalesce(sum(calls) FILTER (WHERE status <> 'ok'), 0)",
  prompt_tokens: "sum(prompt_tokens)",
  completion_tokens: "sum(completion_tokens)",
  cost_usd: "sum(cost)",
  free_usd: "sum(free_cost)",
} satisfies Record<Measure, string>;

/** The measures of a group of sums. */
const SUMS = `
  ${MEASURE_NAMES.map((name) => `${MEASURED[name]} AS ${name}`).join(", ")},
  string_agg(latencies, '') AS latencies`;

const IS_USED = "HAVING sum(calls) <> 0 OR sum(cost_usd) <> 0";

function statement(cells: string): string {
  return `${cells}, ranked AS (
    SELECT name, row_number() OVER (ORDER BY sum(cost_usd) DESC, sum(calls) DESC, name) AS place
    FROM cells GROUP BY name ${IS_USED}
  )
  SELECT CASE WHEN place <= ${USAGE_GROUPS_MAX} THEN name END AS name,
    min(least(place, ${USAGE_GROUPS_MAX + 1})) AS place, step,
    ${MEASURE_NAMES.map((name) => `sum(${name}) AS ${name}`).join(", ")},
    string_agg(latencies, '') FILTER (WHERE sign > 0) AS latencies,
    string_agg(latencies, '') FILTER (WHERE sign < 0) AS latencies_taken
  FROM cells JOIN ranked USING (name) GROUP BY 1, step ${IS_USED} ORDER BY place, step`;
}

/** The sums of each step and group in which there was a call; the groups with most cost first. */
export async function readUsage({ sql }: Database, question: UsageQuestion): Promise<UsageCell[]> {
  const parameters = new Parameters();
  const cells = isOfDays(question.borders) ? cellsOfDays : cellsOfSource;
  const text = statement(cells(parameters, question, groupSql(parameters, question)));
  // The statement is planned with its values each time: a plan for any values reads a year in many
  // seconds.
  const rows = await sql.unsafe(text, parameters.values, { prepare: false });
  return rows.map((row) => {
    const latencies = new LatencyCounts();
    if (row.latencies !== null) latencies.addPacked(row.latencies as Uint8Array);
    if (row.latencies_taken !== null) latencies.takePacked(row.latencies_taken as Uint8Array);
    const sums = MEASURE_NAMES.map((name) => [name, BigInt(String(row[name]))]);
    return {
      ...(Object.fromEntries(sums) as Record<Measure, bigint>),
      group: row.name === null ? null : String(row.name),
      step: Number(row.step),
      latencies,
    };
  });
}

/** The condition on the sums of a question. */
function filterSql(parameters: Parameters, filter: UsageFilter): string {
  const [service, model] = [parameters.add(filter.service), parameters.add(filter.model)];
  const keys = parameters.add(filter.keys === null ? null : arrayText(filter.keys));
  const status = parameters.add(filter.status);
  return `(${service}::text IS NULL OR service = ${service})
    AND (${model}::text IS NULL OR model = ${model})
    AND (${keys}::bigint[] IS NULL OR key = ANY(${keys}::bigint[]))
    AND (${status}::text IS NULL OR status = ${status})`;
}

/**
 * The cells of steps of any length. Whole days are read from their own rows; of days in which a
 * step begins, whole hours from theirs; of hours in which a step begins, the quarters.
 */
function cellsOfSource(
  parameters: Parameters,
  { account, borders, filter }: UsageQuestion,
  name: string,
): string {
  const of = parameters.add(account);
  const from = `${parameters.add(timeText(borders[0] ?? 0))}::text::timestamptz`;
  const to = `${parameters.add(timeText(borders.at(-1) ?? 0))}::text::timestamptz`;
  const steps = `${parameters.add(timesText(borders.slice(0, -1)))}::text::timestamptz[]`;
  const hours = `unnest(${parameters.add(split(borders, HOUR_MS))}::text::timestamptz[])`;
  const days = `unnest(${parameters.add(split(borders, DAY_MS))}::text::timestamptz[])`;
  return `
  WITH source AS (
    SELECT * FROM usage_rollups u WHERE account = ${of} AND minutes = 1440
      AND at >= ${from} AND at < ${to}
      AND NOT EXISTS (SELECT FROM ${days} day WHERE day = u.at)
    UNION ALL
    SELECT u.* FROM ${days} day JOIN usage_rollups u
      ON u.account = ${of} AND u.minutes = 60 AND u.at >= day AND u.at < day + interval '24 hours'
    WHERE u.at >= ${from} AND u.at < ${to}
      AND NOT EXISTS (SELECT FROM ${hours} hour WHERE hour = u.at)
    UNION ALL
    SELECT u.* FROM ${hours} hour JOIN usage_rollups u
      ON u.account = ${of} AND u.minutes = 15 AND u.at >= hour AND u.at < hour + interval '1 hour'
    WHERE u.at >= ${from} AND u.at < ${to}
  ), cells AS MATERIALIZED (
    SELECT ${name} AS name, width_bucket(at, (SELECT ${steps})) - 1 AS step, 1 AS sign, ${SUMS}
    FROM source WHERE ${filterSql(parameters, filter)} GROUP BY 1, 2
  )`;
}

/** The begins of the hours, or days, that a border divides. */
function split(borders: readonly number[], length: number): string {
  const begins = borders
    .filter((ms) => ms % length !== 0)
    .map((ms) => Math.floor(ms / length) * length);
  return timesText([...new Set(begins)]);
}

/** Rows between a border and the nearest midnight, which are before the border or after it. */
interface Slice {
  readonly border: number;
  readonly minutes: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** 1 if the slice is after the midnight and before the border, -1 if it is the reverse. */
  readonly sign: 1 | -1;
}

interface DaySlices {
  /** The midnight that is nearest to each border. */
  readonly midnights: readonly number[];
  readonly slices: readonly Slice[];
}

/** True if steps are so long that they are read from days. */
function isOfDays(borders: readonly number[]): boolean {
  const [fromMs = 0, toMs = 0] = [borders[0], borders.at(-1)];
  const steps = borders.length - 1;
  // The first and the last step may be parts of a day.
  return steps > 0 && toMs - fromMs >= DAY_MS && (steps - 2) * DAY_MS <= toMs - fromMs;
}

/** The slices between each border and its midnight. */
function slicesOf(borders: readonly number[]): DaySlices {
  const midnights = borders.map((ms) => Math.round(ms / DAY_MS) * DAY_MS);
  const slices = borders.flatMap((ms, border) => {
    const midnight = midnights[border] ?? 0;
    const hour = Math.round(ms / HOUR_MS) * HOUR_MS;
    return [
      ...sliceOf({ border, minutes: 60, fromMs: midnight, toMs: hour }),
      ...sliceOf({ border, minutes: 15, fromMs: hour, toMs: ms }),
    ];
  });
  return { midnights, slices };
}

/** The slice between two times in either order; none if they are the same. */
function sliceOf(between: Omit<Slice, "sign">): Slice[] {
  const { fromMs, toMs } = between;
  if (fromMs < toMs) return [{ ...between, sign: 1 }];
  if (fromMs > toMs) return [{ ...between, fromMs: toMs, toMs: fromMs, sign: -1 }];
  return [];
}

const ADDED = MEASURE_NAMES.map((name) => `sign * ${name} AS ${name}`).join(", ");
const TAKEN = MEASURE_NAMES.map((name) => `-sign * ${name} AS ${name}`).join(", ");

/**
 * The cells of steps of a day or longer. A step that does not begin at midnight in UTC is the rows
 * of whole days, with the hours and quarters at its two ends added or taken away: a year of days of
 * any zone is read from days and a few hours of each, not from all its hours (D-265). The end of a
 * slice is the end of one step and the begin of the next: its sums are added to the one step and
 * taken from the other.
 */
function cellsOfDays(
  parameters: Parameters,
  { account, borders, filter }: UsageQuestion,
  name: string,
): string {
  const { midnights, slices } = slicesOf(borders);
  const column = (value: (one: Slice) => string | number) =>
    parameters.add(arrayText(slices.map((one) => String(value(one)))));
  const of = parameters.add(account);
  const from = parameters.add(timeText(midnights[0] ?? 0));
  const to = parameters.add(timeText(midnights.at(-1) ?? 0));
  const all = parameters.add(timesText(midnights));
  const isAsked = filterSql(parameters, filter);
  return `
  WITH slice AS MATERIALIZED (
    SELECT * FROM unnest(${column(({ border }) => border)}::text::int[],
      ${column(({ minutes }) => minutes)}::text::int[],
      ${column(({ fromMs }) => timeText(fromMs))}::text::timestamptz[],
      ${column(({ toMs }) => timeText(toMs))}::text::timestamptz[],
      ${column(({ sign }) => sign)}::text::int[]) AS s (border, minutes, begins, ends, sign)
  ), part AS MATERIALIZED (
    SELECT border, sign, sums.* FROM slice, LATERAL (
      SELECT ${name} AS name, ${SUMS} FROM usage_rollups
      WHERE account = ${of} AND minutes = slice.minutes AND at >= slice.begins AND at < slice.ends
        AND ${isAsked}
      GROUP BY 1
    ) sums
  ), cells AS MATERIALIZED (
    SELECT ${name} AS name, width_bucket(at, (SELECT ${all}::text::timestamptz[])) - 1 AS step,
      1 AS sign, ${SUMS}
    FROM usage_rollups
    WHERE account = ${of} AND minutes = 1440 AND at >= ${from}::text::timestamptz
      AND at < ${to}::text::timestamptz AND ${isAsked}
    GROUP BY 1, 2
    UNION ALL
    SELECT name, border - 1, sign, ${ADDED}, latencies FROM part WHERE border > 0
    UNION ALL
    SELECT name, border, -sign, ${TAKEN}, latencies FROM part
    WHERE border < (SELECT cardinality(${all}::text::timestamptz[]) - 1)
  )`;
}

/** A time as Postgres reads it. */
function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Times as the text of an array. */
function timesText(all: readonly number[]): string {
  return arrayText(all.map(timeText));
}

/** Postgres does not know a time zone. */
export class UnknownZone extends RangeError {}

/**
 * The begins of days or months of a zone between two times, which are not among them.
 * @throws UnknownZone
 */
export async function zoneBorders(
  { sql }: Database,
  range: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly zone: string;
    readonly unit: "day" | "month";
  },
): Promise<number[]> {
  const { fromMs, toMs, zone, unit } = range;
  // If midnight occurs twice, Postgres takes the second one. The day begins with the first one,
  // which has the offset of the day before. A midnight that is skipped has the time at which the
  // clock skips it.
  const query = sql`
    WITH local AS (
      SELECT to_timestamp(${fromMs / 1_000}::float8) AT TIME ZONE ${zone} AS begins,
        to_timestamp(${toMs / 1_000}::float8) AT TIME ZONE ${zone} AS ends
    ), midnights AS (
      SELECT day, day AT TIME ZONE ${zone} AS at FROM local, generate_series(
        date_trunc(${unit}, begins), ends + interval '1 day', ('1 ' || ${unit})::interval) day
    ), firsts AS (
      SELECT day, at, day AT TIME ZONE 'UTC' - (
        ((at - interval '24 hours') AT TIME ZONE ${zone}) AT TIME ZONE 'UTC'
          - (at - interval '24 hours')) AS first
      FROM midnights
    )
    SELECT DISTINCT (extract(epoch FROM CASE WHEN first < at AND first AT TIME ZONE ${zone} = day
      THEN first ELSE at END) * 1000)::bigint::text AS ms
    FROM firsts`;
  const rows = await query.catch((error: unknown) => {
    throw isInvalidParameter(error) ? new UnknownZone(zone) : error;
  });
  return rows
    .map(({ ms }) => Number(ms))
    .filter((ms) => ms > fromMs && ms < toMs)
    .sort((a, b) => a - b);
}

/** The services, models and keys of an account's usage in a range, by which it can be filtered. */
export interface UsageChoices {
  readonly services: readonly string[];
  /** "" if there are calls without a model. */
  readonly models: readonly string[];
  /** Numbers of keys. */
  readonly keys: readonly number[];
}

/** An hour, or in a long range a day, that is only partly in the range counts. */
export async function readUsageChoices(
  { sql }: Database,
  account: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<UsageChoices> {
  const length = toMs - fromMs > HOURLY_CHOICES_MS ? DAY_MS : HOUR_MS;
  const begin = Math.floor(fromMs / length) * length;
  const rows = await sql`
    SELECT DISTINCT service, model, key FROM usage_rollups
    WHERE account = ${account} AND minutes = ${length / MINUTE_MS}
      AND (calls <> 0 OR cost <> 0)
      AND at >= ${timeText(begin)}::text::timestamptz
      AND at < ${timeText(toMs)}::text::timestamptz`;
  const distinct = (name: string) => [...new Set(rows.map((row) => String(row[name])))].sort();
  const keys = distinct("key").map(Number);
  return { services: distinct("service"), models: distinct("model"), keys };
}
