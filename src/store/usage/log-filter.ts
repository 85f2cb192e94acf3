// Filters of the request log, as SQL.

import { arrayText } from "../servers/database.ts";
import type { Parameters } from "../tables/parameters.ts";
import type { UsageStatus } from "../tables/usage-schema.ts";
import { usageStatusSql } from "./usage-changes.ts";

/** The conditions on calls; a field that is null limits nothing. */
export interface LogFilter {
  readonly from: Date | null;
  readonly to: Date | null;
  readonly service: string | null;
  /** Empty for calls without a model. */
  readonly model: string | null;
  /** The numbers of keys. */
  readonly keys: readonly number[] | null;
  readonly status: UsageStatus | null;
  readonly code: string | null;
  readonly run: string | null;
  /** The keyed hash of an end user. */
  readonly endUser: string | null;
  readonly request: string | null;
  readonly minCost: bigint | null;
}

/** The conditions of a filter on the log `l` of an account. */
export function logConditions(parameters: Parameters, account: number, filter: LogFilter): string {
  const { keys, minCost } = filter;
  const of = {
    account: parameters.add(account),
    from: parameters.add(filter.from?.toISOString() ?? null),
    to: parameters.add(filter.to?.toISOString() ?? null),
    service: parameters.add(filter.service),
    model: parameters.add(filter.model),
    keys: parameters.add(keys === null ? null : arrayText(keys)),
    status: parameters.add(filter.status),
    code: parameters.add(filter.code),
    run: parameters.add(filter.run),
    endUser: parameters.add(filter.endUser),
    request: parameters.add(filter.request),
    minCost: parameters.add(minCost === null ? null : minCost.toString()),
  };
  return `
    l.account = ${of.account} AND (${of.from}::text IS NULL OR l.at >= ${of.from}::timestamptz)
    AND (${of.to}::text IS NULL OR l.at < ${of.to}::timestamptz)
    AND (${of.service}::text IS NULL OR l.service = ${of.service})
    AND (${of.model}::text IS NULL OR coalesce(l.model, '') = ${of.model})
    AND (${of.keys}::text IS NULL OR l.key = ANY(${of.keys}::text::bigint[]))
    AND (${of.status}::text IS NULL OR (${usageStatusSql("l")}) = ${of.status})
    AND (${of.code}::text IS NULL OR l.error_code = ${of.code})
    AND (${of.run}::text IS NULL OR l.run = ${of.run})
    AND (${of.endUser}::text IS NULL OR l.end_user = ${of.endUser})
    AND (${of.request}::text IS NULL OR l.request = ${of.request}::uuid)
    AND (${of.minCost}::text IS NULL OR l.cost >= ${of.minCost}::bigint)`;
}

/** A filter that finds every call. */
export const ALL_CALLS: LogFilter = {
  from: null,
  to: null,
  service: null,
  model: null,
  keys: null,
  status: null,
  code: null,
  run: null,
  endUser: null,
  request: null,
  minCost: null,
};
