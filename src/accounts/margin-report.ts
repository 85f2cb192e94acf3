// Reports the margin of charges over upstream costs, for operators: the command line and the
// console show this report.

import type { Database } from "../store/servers/database.ts";
import { type MarginRange, type MarginSums, readMargins } from "../store/usage/margins.ts";

export interface MarginRow extends MarginSums {
  /** Charged minus upstream cost, of the calls whose cost is known; null if no cost is known. */
  readonly margin: bigint | null;
  /** The margin in hundredths of a percent of those calls' charges, rounded down. */
  readonly marginBasisPoints: number | null;
  /** Charged by calls whose upstream cost is not known. No margin includes it. */
  readonly unknownCharged: bigint;
}

export interface MarginReport {
  /** Most charged first. */
  readonly rows: readonly MarginRow[];
  /** The sums of all rows. */
  readonly total: MarginRow;
}

/** Reads the report of a range of days. */
export async function marginReport(database: Database, range: MarginRange): Promise<MarginReport> {
  const sums = await readMargins(database, range);
  const sum = (pick: (row: MarginSums) => bigint) => sums.reduce((all, row) => all + pick(row), 0n);
  const count = (pick: (row: MarginSums) => number) =>
    sums.reduce((all, row) => all + pick(row), 0);
  const total = withMargin({
    service: "",
    model: null,
    lane: null,
    day: null,
    calls: count(({ calls }) => calls),
    charged: sum(({ charged }) => charged),
    free: sum(({ free }) => free),
    knownCalls: count(({ knownCalls }) => knownCalls),
    knownCharged: sum(({ knownCharged }) => knownCharged),
    upstreamCost: sum(({ upstreamCost }) => upstreamCost),
    providerCalls: count(({ providerCalls }) => providerCalls),
    providerCost: sum(({ providerCost }) => providerCost),
  });
  return { rows: sums.map(withMargin), total };
}

const BASIS_POINTS = 10_000n;

function withMargin(sums: MarginSums): MarginRow {
  const { charged, knownCalls, knownCharged, upstreamCost } = sums;
  const isKnown = knownCalls > 0;
  const margin = knownCharged - upstreamCost;
  return {
    ...sums,
    margin: isKnown ? margin : null,
    marginBasisPoints:
      isKnown && knownCharged > 0n ? Number(floored(margin * BASIS_POINTS, knownCharged)) : null,
    unknownCharged: charged - knownCharged,
  };
}

function floored(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend < 0n && dividend % divisor !== 0n ? quotient - 1n : quotient;
}
