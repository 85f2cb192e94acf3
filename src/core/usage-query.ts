// Defines the steps and groups by which usage can be read. The pages offer exactly those that the
// server accepts.

/** The time that one column of the chart covers. */
export const USAGE_STEPS = ["15m", "1h", "1d", "1mo"] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

/** The fields by which figures are split. */
export const USAGE_GROUPS = ["none", "service", "model", "key", "status"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The group of all groups that cost less than those listed. */
export const OTHERS = "others";

/** The group, and the filter, of calls without a model. */
export const NO_MODEL = "none";

/**
 * The ends of calls: an `ok` call was answered; a limit or a check refused a `refused` call, and
 * nothing was held; a `failed` call was admitted and failed.
 */
export const CALL_STATUSES = ["ok", "refused", "failed"] as const;

/** The fields by which an operator splits revenue. */
export const REVENUE_GROUPS = ["service", "model", "route"] as const;
