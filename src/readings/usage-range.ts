// Reads the query of usage: its filter, and its steps in any time zone.

import { scopeOfService } from "../core/access/services.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/durations.ts";
import type { ApiError } from "../core/errors.ts";
import { isUsualYear, USUAL_YEARS } from "../core/text/field-rules.ts";
import { CALL_STATUSES, NO_MODEL, USAGE_GROUPS, USAGE_STEPS } from "../core/usage-query.ts";
import { invalid } from "../http/body/checks.ts";
import { time as timeSchema } from "../http/console/fields.ts";
import { type Checked, oneOf, optional, Type, text } from "../http/schema.ts";
import { type KeyName, keyNumbers } from "../store/accounts/key-names.ts";
import type { Database } from "../store/servers/database.ts";
import { UnknownZone, zoneBorders } from "../store/usage/usage.ts";
import type { UsageFilter } from "../store/usage/usage-days.ts";

/** The most steps of a reply; a longer range needs a longer step. */
const USAGE_STEPS_MAX = 750;

/** The query. Days begin at midnight of `zone`, hours and quarters at `from`. */
export const UsageQuery = Type.Object(
  {
    from: timeSchema("The begin, a multiple of 15 minutes"),
    to: timeSchema("The end, which is not included"),
    step: oneOf(USAGE_STEPS),
    group: oneOf(USAGE_GROUPS),
    zone: optional(text({ description: "An IANA time zone; UTC by default" })),
    service: optional(text()),
    model: optional(
      text({ description: "A model, or an action of maps; `none` for calls without one" }),
    ),
    key: optional(text({ description: "The id of a key" })),
    tag: optional(
      text({
        description:
          "A tag that keys have; of several, with commas, keys have all; `none`: keys without one",
      }),
    ),
    status: optional(oneOf(CALL_STATUSES)),
  },
  { additionalProperties: false },
);
export type UsageInput = Checked<typeof UsageQuery>;

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

const QUARTER_MS = 15 * MINUTE_MS;

const STEP_MS = { "15m": QUARTER_MS, "1h": HOUR_MS, "1d": DAY_MS, "1mo": 28 * DAY_MS } as const;

export interface UsageRange {
  readonly zone: string;
  /** The begin of each step, and the end of the last one. */
  readonly borders: readonly number[];
}

/** The steps of a query. @throws ApiError that names the field at fault */
export async function rangeOf(database: Database, input: UsageInput): Promise<UsageRange> {
  const fromMs = timeOf("from", input.from);
  const toMs = timeOf("to", input.to);
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
export function timeOf(field: string, text: string): number {
  const ms = Date.parse(text);
  // JavaScript reads February 30 as March 2, so the day must come back unchanged.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10));
  if (!isDay) throw invalid(field, `must be a time such as 2026-11-22T00:00:00Z, but is '${text}'`);
  if (isUsualYear(new Date(ms))) return ms;
  throw invalid(field, `${USUAL_YEARS}, but is '${text}'`);
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
