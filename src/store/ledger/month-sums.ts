// Sums the ledger of an account by month, for statements: the balances before the month, and the
// changes in the month by kind. A charge belongs to the month in which its call was admitted, as in
// the request log.

import type { LedgerKind } from "../../core/journal/journal.ts";
import type { Database } from "../servers/database.ts";

export interface Change {
  readonly kind: LedgerKind;
  readonly count: number;
  readonly paid: bigint;
  readonly free: bigint;
}

/** The cost of calls of a service and model. */
interface ModelCharge {
  readonly service: string;
  /** Empty for calls without a model. */
  readonly model: string;
  readonly cost: bigint;
  readonly free: bigint;
}

export interface MonthSums {
  /** The balances before the first entry of the month. */
  readonly opening: Readonly<Record<"paid" | "free" | "owed", bigint>>;
  readonly changes: readonly Change[];
  /** The amount owed after the last entry. */
  readonly owed: bigint;
  /** The number of calls that were charged. */
  readonly charged: number;
  readonly charges: readonly ModelCharge[];
}

interface MonthRange {
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
}

/** The sums of a month, all as of one instant. */
export async function readMonthSums(
  { sql }: Database,
  account: number,
  { from, to }: MonthRange,
): Promise<MonthSums> {
  const [begin, end] = [from.toISOString(), to.toISOString()];
  return await sql.begin("isolation level repeatable read read only", async (tx) => {
    const sums = await tx`
      SELECT kind, at >= ${begin} AS inside, count(*)::int AS count,
        sum(paid_delta)::text AS paid, sum(free_delta)::text AS free
      FROM ledger_entries WHERE account = ${account} AND at < ${end}
      GROUP BY 1, 2 ORDER BY 1`;
    const [owed] = await tx`
      SELECT
        (SELECT owed_after FROM ledger_entries WHERE account = ${account} AND at < ${begin}
         ORDER BY seq DESC LIMIT 1)::text AS before,
        (SELECT owed_after FROM ledger_entries WHERE account = ${account} AND at < ${end}
         ORDER BY seq DESC LIMIT 1)::text AS after,
        (SELECT count(DISTINCT request) FROM ledger_entries WHERE account = ${account}
         AND at >= ${begin} AND at < ${end} AND kind IN ('charge', 'late_charge')
         AND paid_delta + free_delta <> 0)::int AS charged`;
    const charges = await tx`
      SELECT service, model, sum(cost)::text AS cost, sum(free_cost)::text AS free
      FROM usage_rollups WHERE account = ${account} AND minutes = 1440
        AND at >= ${begin} AND at < ${end}
      GROUP BY 1, 2 HAVING sum(cost) <> 0 OR sum(free_cost) <> 0 ORDER BY sum(cost) DESC, 1, 2`;
    const before = sums.filter(({ inside }) => inside === false);
    const total = (name: "paid" | "free") =>
      before.reduce((all, row) => all + BigInt(row[name]), 0n);
    return {
      opening: { paid: total("paid"), free: total("free"), owed: BigInt(owed?.before ?? 0) },
      changes: sums
        .filter(({ inside }) => inside === true)
        .map(({ kind, count, paid, free }) => ({
          kind: kind as LedgerKind,
          count: Number(count),
          paid: BigInt(paid),
          free: BigInt(free),
        })),
      owed: BigInt(owed?.after ?? 0),
      charged: Number(owed?.charged ?? 0),
      charges: charges.map(({ service, model, cost, free }) => ({
        service: String(service),
        model: String(model),
        cost: BigInt(cost),
        free: BigInt(free),
      })),
    };
  });
}
