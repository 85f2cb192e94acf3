// Usage in steps of a day or longer. A step that does not begin at midnight in UTC is the rows of
// whole days, with the hours and quarters at its two ends added or taken away: a year of days of
// any zone is read from days and a few hours of each, not from all its hours (D-265).

import { DAY_MS, HOUR_MS } from "../../core/durations.ts";
import { MEASURE_NAMES, type Measure, type UsageGroup } from "../../core/usage-query.ts";
import { arrayText } from "../servers/database.ts";
import type { Parameters } from "../tables/parameters.ts";
import type { UsageStatus } from "../tables/usage-schema.ts";

/** The calls that are counted; a field that is null limits nothing. */
export interface UsageFilter {
  readonly service: string | null;
  /** Empty for calls without a model. */
  readonly model: string | null;
  /** The numbers of keys. */
  readonly keys: readonly number[] | null;
  readonly status: UsageStatus | null;
}

export interface UsageQuestion {
  readonly account: number;
  /** The begin of each step, and the end of the last one, in milliseconds. */
  readonly borders: readonly number[];
  readonly group: UsageGroup;
  /** The tags of each key that has any, as the name of its group; by the number of the key. */
  readonly tags: ReadonlyMap<number, string>;
  readonly filter: UsageFilter;
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
export function isOfDays(borders: readonly number[]): boolean {
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

const MEASURED = {
  calls: "sum(calls)",
  errors: "coalesce(sum(calls) FILTER (WHERE status <> 'ok'), 0)",
  prompt_tokens: "sum(prompt_tokens)",
  completion_tokens: "sum(completion_tokens)",
  cost_usd: "sum(cost)",
  free_usd: "sum(free_cost)",
} satisfies Record<Measure, string>;

/** The measures of a group of sums. */
export const SUMS = `
  ${MEASURE_NAMES.map((name) => `${MEASURED[name]} AS ${name}`).join(", ")},
  string_agg(latencies, '') AS latencies`;

const ADDED = MEASURE_NAMES.map((name) => `sign * ${name} AS ${name}`).join(", ");
const TAKEN = MEASURE_NAMES.map((name) => `-sign * ${name} AS ${name}`).join(", ");

/** The condition on the sums of a question. */
export function filterSql(parameters: Parameters, filter: UsageFilter): string {
  const [service, model] = [parameters.add(filter.service), parameters.add(filter.model)];
  const keys = parameters.add(filter.keys === null ? null : arrayText(filter.keys));
  const status = parameters.add(filter.status);
  return `(${service}::text IS NULL OR service = ${service})
    AND (${model}::text IS NULL OR model = ${model})
    AND (${keys}::bigint[] IS NULL OR key = ANY(${keys}::bigint[]))
    AND (${status}::text IS NULL OR status = ${status})`;
}

/**
 * The cells of steps of days. The end of a slice is the end of one step and the begin of the next:
 * its sums are added to the one step and taken from the other.
 */
export function cellsOfDays(
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
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Times as the text of an array. */
export function timesText(all: readonly number[]): string {
  return arrayText(all.map(timeText));
}
