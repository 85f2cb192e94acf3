// Compares the costs of a provider's calls by the log with the provider's own export, by model and
// day, by model, and in total.

import type { Decimal } from "../../core/money/decimal.ts";
import type { MarginSums } from "../../store/usage/margins.ts";
import { modelKey } from "./model-names.ts";
import { sumOf, type UsageExport } from "./usage-exports.ts";

/** The figures of both sides for a model on a day; amounts are nano-USD. */
export interface Comparison {
  /** The provider's name for the model; null for all models. */
  readonly model: string | null;
  /** Null for all days. */
  readonly day: string | null;
  /** The cost by our log; null if the log has no call. */
  readonly local: bigint | null;
  /** The cost by the export; null if the export has no line. */
  readonly provider: bigint | null;
  /** `local` minus `provider`. */
  readonly difference: bigint;
  /** The difference in hundredths of a percent of `provider`; null where that is 0. */
  readonly basisPoints: bigint | null;
  readonly isDrift: boolean;
}

export interface Reconciliation {
  /** The figures by model and day, by model, and in total; each sum follows its days. */
  readonly comparisons: readonly Comparison[];
  /** Calls whose cost is not known: no buying price, and no word of the provider. */
  readonly unknownCalls: number;
  /** Lines of other months, which were not compared. */
  readonly otherLines: number;
}

export interface ReconcileTerms {
  /** The month, such as `2026-11`. */
  readonly month: string;
  /** The difference up to which two figures agree, in hundredths of a percent of the provider's. */
  readonly toleranceBasisPoints: bigint;
  /** The names at the provider of a model of ours; empty if the configuration has no such route. */
  readonly namesOf: (model: string) => readonly string[];
}

interface Cell {
  model: string | null;
  day: string | null;
  local: bigint | null;
  /** The calls of ours, each of which is rounded up to a whole nano-USD. */
  calls: number;
  costs: Decimal[];
}

/** Compares. `sums` are those of the provider's calls in the month, by day. */
export function reconcile(
  sums: readonly MarginSums[],
  usage: UsageExport,
  { month, toleranceBasisPoints, namesOf }: ReconcileTerms,
): Reconciliation {
  const cells = new Map<string, Cell>();
  const cellAt = (key: string, model: string, day: string): Cell => {
    const id = `${key}\0${day}`;
    const cell = cells.get(id) ?? { model, day, local: null, calls: 0, costs: [] };
    cells.set(id, cell);
    return cell;
  };
  const lines = usage.lines.filter(({ day }) => day.startsWith(`${month}-`));
  for (const { day, model, cost } of lines) cellAt(modelKey(model), model, day).costs.push(cost);
  const exported = new Set(lines.map(({ model }) => modelKey(model)));
  for (const { model, day, upstreamCost, knownCalls } of sums) {
    const [key, name] = nameIn(exported, namesOf(model ?? ""), model ?? "");
    const cell = cellAt(key, name, day ?? "");
    cell.local = (cell.local ?? 0n) + upstreamCost;
    cell.calls += knownCalls;
  }
  const byKey = Map.groupBy(cells, ([id]) => id.slice(0, id.indexOf("\0")));
  const compared = (cell: Cell) => compare(cell, usage.rounding, toleranceBasisPoints);
  const models = [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const comparisons = models.flatMap(([, entries]) => {
    const days = entries.map(([, cell]) => cell).toSorted(byDay);
    return [...days, { ...joined(days), model: days[0]?.model ?? null }].map(compared);
  });
  const total = compared(joined([...cells.values()]));
  return {
    comparisons: [...comparisons, total],
    unknownCalls: sums.reduce((all, { calls, knownCalls }) => all + calls - knownCalls, 0),
    otherLines: usage.lines.length - lines.length,
  };
}

/**
 * The name that the export has for a model of ours. A model with several routes at the provider has
 * the first of their names that the export knows.
 */
function nameIn(
  exported: ReadonlySet<string>,
  names: readonly string[],
  own: string,
): readonly [key: string, name: string] {
  const known = names.length === 0 ? [own] : names;
  const name = known.find((one) => exported.has(modelKey(one))) ?? known[0] ?? own;
  return [modelKey(name), name];
}

function byDay(a: Cell, b: Cell): number {
  return (a.day ?? "") < (b.day ?? "") ? -1 : 1;
}

function joined(cells: readonly Cell[]): Cell {
  const ours = cells.flatMap(({ local }) => (local === null ? [] : [local]));
  const local = ours.length === 0 ? null : ours.reduce((all, one) => all + one, 0n);
  const calls = cells.reduce((all, one) => all + one.calls, 0);
  return { model: null, day: null, local, calls, costs: cells.flatMap(({ costs }) => costs) };
}

const BASIS_POINTS = 10_000n;

function compare(
  { model, day, local, calls, costs }: Cell,
  rounding: Decimal,
  toleranceBasisPoints: bigint,
): Comparison {
  const provider = costs.length === 0 ? null : nanoOf(sumOf(costs));
  const theirs = provider ?? 0n;
  const difference = (local ?? 0n) - theirs;
  const size = difference < 0n ? -difference : difference;
  const rounded = nanoOf(rounding) * BigInt(costs.length) + BigInt(calls);
  const beyond = size - rounded;
  return {
    model,
    day,
    local,
    provider,
    difference,
    basisPoints: theirs === 0n ? null : (difference * BASIS_POINTS) / theirs,
    // Rounding of either side is no drift (D-659).
    isDrift: beyond > 0n && beyond * BASIS_POINTS > theirs * toleranceBasisPoints,
  };
}

const NANO_DECIMALS = 9;

/** A sum in nano-USD, rounded down; it may be above the largest balance. */
function nanoOf({ digits, scale }: Decimal): bigint {
  return (digits * 10n ** BigInt(NANO_DECIMALS)) / 10n ** BigInt(scale);
}
