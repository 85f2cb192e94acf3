// Usage in steps of a day or longer. A step that does not begin at midnight in UTC is the rows of
// whole days, with the hours and quarters at its two ends added or taken away: a year of days of
// any zone is read from days and a few hours of each, not from all its hours (D-244).

import { MEASURE_NAMES, type Measure } from "../../core/usage-query.ts";

const QUARTER_MS = 900_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Rows between a border and the nearest midnight, which are before the border or after it. */
interface Slice {
  readonly border: number;
  readonly minutes: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** 1 if the slice is after the midnight and before the border, -1 if it is the reverse. */
  readonly sign: 1 | -1;
}

export interface DaySlices {
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

/** How each border is reached from a midnight. */
export function slicesOf(borders: readonly number[]): DaySlices {
  const midnights = borders.map((ms) => Math.round(ms / DAY_MS) * DAY_MS);
  const slices = borders.flatMap((ms, border) => {
    const midnight = midnights[border] ?? 0;
    const hour = Math.round(ms / HOUR_MS) * HOUR_MS;
    return [...sliceOf(border, HOUR_MS, midnight, hour), ...sliceOf(border, QUARTER_MS, hour, ms)];
  });
  return { midnights, slices };
}

function sliceOf(border: number, lengthMs: number, fromMs: number, toMs: number): Slice[] {
  const minutes = lengthMs / 60_000;
  if (fromMs < toMs) return [{ border, minutes, fromMs, toMs, sign: 1 }];
  if (fromMs > toMs) return [{ border, minutes, fromMs: toMs, toMs: fromMs, sign: -1 }];
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

/** The condition on the sums of a question: $6 to $9 are null for what it leaves open. */
export const FILTER = `($6::text IS NULL OR service = $6) AND ($7::text IS NULL OR model = $7)
  AND ($8::bigint IS NULL OR key = $8) AND ($9::text IS NULL OR status = $9)`;

/**
 * The cells of steps of days: of $1 the account, from $2 to $3 the first and last midnight, $5 all
 * of them, $4 and $10 to $13 the slices. The end of a slice is the end of one step and the begin of
 * the next: what it adds to the one, it takes from the other.
 */
export function cellsOfDays(name: string): string {
  return `
  WITH slice AS MATERIALIZED (
    SELECT * FROM unnest($4::text::int[], $10::text::int[], $11::text::timestamptz[],
      $12::text::timestamptz[], $13::text::int[]) AS s (border, minutes, begins, ends, sign)
  ), part AS MATERIALIZED (
    SELECT border, sign, sums.* FROM slice, LATERAL (
      SELECT ${name} AS name, ${SUMS} FROM usage_rollups
      WHERE account = $1 AND minutes = slice.minutes AND at >= slice.begins AND at < slice.ends
        AND ${FILTER}
      GROUP BY 1
    ) sums
  ), cells AS MATERIALIZED (
    SELECT ${name} AS name, width_bucket(at, (SELECT $5::text::timestamptz[])) - 1 AS step,
      1 AS sign, ${SUMS}
    FROM usage_rollups
    WHERE account = $1 AND minutes = 1440
      AND at >= $2::text::timestamptz AND at < $3::text::timestamptz AND ${FILTER}
    GROUP BY 1, 2
    UNION ALL
    SELECT name, border - 1, sign, ${ADDED}, latencies FROM part WHERE border > 0
    UNION ALL
    SELECT name, border, -sign, ${TAKEN}, latencies FROM part
    WHERE border < (SELECT cardinality($5::text::timestamptz[]) - 1)
  )`;
}
