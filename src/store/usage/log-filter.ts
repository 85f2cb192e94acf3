// Which calls of the request log somebody asks for, as SQL.

import type { UsageStatus } from "../tables/usage-schema.ts";
import { usageStatusSql } from "./usage-changes.ts";

/** Which calls; null where nothing is asked for. */
export interface LogFilter {
  readonly from: Date | null;
  readonly to: Date | null;
  readonly service: string | null;
  /** Empty for calls without a model. */
  readonly model: string | null;
  readonly key: number | null;
  readonly status: UsageStatus | null;
  readonly code: string | null;
  readonly request: string | null;
  readonly minCost: bigint | null;
}

/** The conditions of a filter on the log `l`, as parameters $1 to $10. */
export const LOG_CONDITIONS = `
  l.account = $1 AND ($2::text IS NULL OR l.at >= $2::timestamptz)
  AND ($3::text IS NULL OR l.at < $3::timestamptz)
  AND ($4::text IS NULL OR l.service = $4) AND ($5::text IS NULL OR coalesce(l.model, '') = $5)
  AND ($6::text IS NULL OR l.key = $6::bigint)
  AND ($7::text IS NULL OR (${usageStatusSql("l")}) = $7)
  AND ($8::text IS NULL OR l.error_code = $8)
  AND ($9::text IS NULL OR l.request = $9::uuid)
  AND ($10::text IS NULL OR l.cost >= $10::bigint)`;

/** The parameters of LOG_CONDITIONS. */
export function logParameters(account: number, filter: LogFilter): (string | number | null)[] {
  return [
    account,
    filter.from?.toISOString() ?? null,
    filter.to?.toISOString() ?? null,
    filter.service,
    filter.model,
    filter.key === null ? null : String(filter.key),
    filter.status,
    filter.code,
    filter.request,
    filter.minCost === null ? null : filter.minCost.toString(),
  ];
}

/** A filter that finds every call. */
export const ALL_CALLS: LogFilter = {
  from: null,
  to: null,
  service: null,
  model: null,
  key: null,
  status: null,
  code: null,
  request: null,
  minCost: null,
};
