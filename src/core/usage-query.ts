// How usage can be asked for: by which steps and groups. The pages offer what the server takes.

/** A column of the chart. */
export const USAGE_STEPS = ["15m", "1h", "1d", "1mo"] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

/** By which figures are split. */
export const USAGE_GROUPS = ["none", "service", "model", "key", "status"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The group of all groups that cost less than the first ones. */
export const OTHERS = "others";

/** The group, and the filter, of calls without a model. */
export const NO_MODEL = "none";

/**
 * How calls end: an `ok` call was answered; a limit or a check refused a `refused` call, and
 * nothing was held; a `failed` call was admitted and failed.
 */
export const CALL_STATUSES = ["ok", "refused", "failed"] as const;

/** By which an operator splits revenue. */
export const REVENUE_GROUPS = ["service", "model", "route"] as const;
