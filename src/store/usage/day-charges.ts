// Reads the charges of a UTC day, by key, service and model. The sums have all money of the ledger,
// also that of calls whose log row is missing or was dropped.

import type { Database } from "../servers/database.ts";

export interface DayCharge {
  /** The number of the key; 0 if it is not known. */
  readonly key: number;
  readonly service: string;
  /** A model, or an action of maps; empty for other calls. */
  readonly model: string;
  readonly cost: bigint;
  /** The part of `cost` that free credit paid. */
  readonly freeCost: bigint;
}

/** The charges of an account on the day that begins then, in a fixed order. */
export async function readDayCharges(
  { sql }: Database,
  account: number,
  day: Date,
): Promise<DayCharge[]> {
  const rows = await sql`
    SELECT key, service, model, sum(cost)::text AS cost, sum(free_cost)::text AS free
    FROM usage_rollups WHERE account = ${account} AND minutes = 1440 AND at = ${day.toISOString()}
    GROUP BY 1, 2, 3 ORDER BY 2, 3, 1`;
  return rows.map(({ key, service, model, cost, free }) => ({
    key: Number(key),
    service: String(service),
    model: String(model),
    cost: BigInt(cost),
    freeCost: BigInt(free),
  }));
}
