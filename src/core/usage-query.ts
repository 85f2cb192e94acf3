// Defines the steps and groups by which usage can be read. The pages offer exactly those that the
// server accepts.

/** The time that one column of the chart covers. */
export const USAGE_STEPS = ["15m", "1h", "1d", "1mo"] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

/** The fields by which figures are split. */
export const USAGE_GROUPS = ["none", "service", "model", "key", "tag", "status"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/**
 * The sums that usage is shown in, in the order of a CSV file. The record, the SQL, the totals and
 * the files that pages write follow from this table.
 */
export const MEASURES = {
  calls: { unit: "count", sample: 1204 },
  errors: { unit: "count", about: "Refused and failed ones", sample: 7 },
  prompt_tokens: { unit: "count", sample: 812_400 },
  completion_tokens: { unit: "count", sample: 94_120 },
  cost_usd: { unit: "usd", about: "Charged", sample: "0.94123" },
  free_usd: { unit: "usd", about: "The part of it that free credit paid", sample: "0.1" },
} as const;
export type Measure = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as readonly Measure[];
/** The measures, and the one figure that does not add up. */
export const FIGURE_NAMES = [...MEASURE_NAMES, "p95_ms"] as const;

/** The group of all groups that cost less than those listed. */
export const OTHERS = "others";

/** The group, and the filter, of calls without a model. */
export const NO_MODEL = "none";

/** The group, and the filter, of the calls of keys without a tag. */
export const NO_TAG = "none";

/**
 * The ends of calls: an `ok` call was answered; a limit or a check refused a `refused` call, and
 * nothing was held; a `failed` call was admitted and failed.
 */
export const CALL_STATUSES = ["ok", "refused", "failed"] as const;

/** The fields by which an operator splits revenue. */
export const REVENUE_GROUPS = ["service", "model", "route"] as const;
