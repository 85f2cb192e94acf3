// Sums the request log of a run, by service, by model and by step.

import { MINUTE_MS } from "../../core/durations.ts";
import type { Database } from "../servers/database.ts";

export interface RunSum {
  /** Null for the sum of a step. */
  readonly service: string | null;
  /** A model, or an action of maps; only in sums by model. */
  readonly model: string | null;
  /** Only in sums by step. */
  readonly step: string | null;
  /** Calls that were admitted. */
  readonly calls: number;
  readonly refused: number;
  readonly cost: bigint;
}

export interface RunSums {
  readonly services: readonly RunSum[];
  readonly models: readonly RunSum[];
  readonly steps: readonly RunSum[];
}

/** The most sums of a kind: those of the highest cost. */
export const RUN_SUMS_MAX = 100;

/** The value of `grouping(service, model, step)` in the sums of each kind. */
const KINDS = { services: 3, models: 1, steps: 6 } as const;

/**
 * The first call of a run may be logged this much earlier than the run, because two clocks give the
 * two times. A deleted run of the same id ended at least `RUN_KEPT_MS_MIN` before, so none of its
 * calls is near.
 */
const CLOCKS_MS = MINUTE_MS;

/** A run whose calls are summed. */
export interface SummedRun {
  /** The number of its account. */
  readonly account: number;
  readonly id: string;
  readonly createdAt: Date;
}

/**
 * The sums of a run's calls as far as they are logged, the highest cost first. The calls of a
 * deleted run of the same id do not count (D-901).
 */
export async function readRunSums({ sql }: Database, run: SummedRun): Promise<RunSums> {
  const rows = await sumsOfRun(sql, run);
  const sumsOf = (kind: number) =>
    rows
      .filter((row) => Number(row.kind) === kind)
      .map(({ service, model, step, calls, refused, cost }): RunSum => {
        return { service, model, step, calls, refused, cost: BigInt(cost) };
      });
  return {
    services: sumsOf(KINDS.services),
    models: sumsOf(KINDS.models),
    steps: sumsOf(KINDS.steps),
  };
}

/** The statement reads the run's own calls alone, by an index: other calls cost it nothing. */
export function sumsOfRun(sql: Database["sql"], { account, id, createdAt }: SummedRun) {
  const since = new Date(createdAt.getTime() - CLOCKS_MS).toISOString();
  return sql`
    WITH sums AS (
      SELECT service, model, step, grouping(service, model, step) AS kind,
        count(*) FILTER (WHERE held IS NOT NULL) AS calls,
        count(*) FILTER (WHERE held IS NULL) AS refused, sum(cost) AS cost
      FROM request_log
      WHERE account = ${account} AND run = ${id} AND at >= ${since}::text::timestamptz
      GROUP BY GROUPING SETS ((service), (service, model), (step))),
    ranked AS (
      SELECT *, row_number() OVER (PARTITION BY kind
        ORDER BY cost DESC, calls DESC, service, model, step) AS rank
      FROM sums WHERE kind <> ${KINDS.steps} OR step IS NOT NULL)
    SELECT service, model, step, kind, calls::int, refused::int, cost::text FROM ranked
    WHERE rank <= ${RUN_SUMS_MAX} ORDER BY rank`;
}
