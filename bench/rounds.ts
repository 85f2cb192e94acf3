// Runs rounds of load on several targets in turn, so that other work on the machine affects all of
// them. The report has the medians over the rounds.

import { type LoadPlan, runLoad } from "./load/load.ts";
import { cpuSeconds, treeCpuSeconds } from "./load/process-usage.ts";
import type { RequestForm } from "./load/requests.ts";
import type { Target } from "./targets.ts";

export interface Round {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the gateway process, in microseconds. */
  readonly cpuPerCallUs: number;
  readonly eventsPerSecond: number;
  readonly cpuPerEventUs: number;
  /** CPU of the other processes of the target, by name. */
  readonly othersPerCallUs: Readonly<Record<string, number>>;
  readonly costNano: bigint;
}

/** The rounds of one target. */
export interface Series {
  readonly rounds: Round[];
  /** The cost of all its calls, including the warm-up. */
  costNano: bigint;
}

export type Results = ReadonlyMap<string, Series>;

export interface Contestant {
  readonly target: Target;
  /** The model or query in place of the load's model. */
  readonly model?: string;
  /** The form of the bodies, if it is not that of chat completions. */
  readonly form?: RequestForm | undefined;
  /** A header with another value in each call. */
  readonly numbered?: string | undefined;
  /** The calls at once, if they are not as many as those of the load. */
  readonly concurrency?: number | undefined;
  /** Other processes whose CPU is counted with the target's, with all that they start. */
  readonly others: Readonly<Record<string, number>>;
  /**
   * Waits until the background work of a round with this number of calls is done, so that this work
   * does not slow down the next target.
   */
  settle(calls: number): Promise<void>;
}

export type Load = Pick<LoadPlan, "model" | "stream" | "concurrency" | "durationMs">;

export interface RoundsOptions {
  readonly rounds: number;
  readonly warmUpMs: number;
  /** A target that made fewer calls meanwhile is warmed up again, a few times. */
  readonly warmUpCalls: number;
  readonly load: Load;
  readonly progress: (line: string) => void;
}

const RAMP_MS = 500;
const WARM_UPS_MAX = 4;

/** Warms up every target, then runs their rounds in turn. */
export async function runRounds(
  contestants: readonly Contestant[],
  options: RoundsOptions,
): Promise<Results> {
  const { load, progress } = options;
  const results = new Map<string, Series>();
  for (const contestant of contestants) {
    results.set(contestant.target.name, {
      rounds: [],
      costNano: await warmUp(contestant, options),
    });
  }
  for (const { round, contestant } of turnsOf(contestants, options.rounds)) {
    const result = await runRound(contestant, load);
    const { name } = contestant.target;
    const series = results.get(name);
    if (series === undefined) continue;
    series.rounds.push(result);
    series.costNano += result.costNano;
    progress(`round ${round}, ${name}: ${Math.round(result.callsPerSecond)} calls/s`);
  }
  return results;
}

/** Has a target compile its code, which takes calls and not time. Returns the cost of the calls. */
async function warmUp(
  contestant: Contestant,
  { load, warmUpMs, warmUpCalls }: RoundsOptions,
): Promise<bigint> {
  let cost = 0n;
  let calls = 0;
  for (let run = 0; run === 0 || (calls < warmUpCalls && run < WARM_UPS_MAX); run += 1) {
    const { costNano, callsPerSecond } = await runRound(contestant, {
      ...load,
      durationMs: warmUpMs,
    });
    cost += costNano;
    calls += (callsPerSecond * warmUpMs) / 1_000;
  }
  return cost;
}

/**
 * Returns the order of the targets: each once per round. Every round starts with the next target,
 * so that no target always runs after the same neighbour.
 */
export function* turnsOf<Contestant>(
  contestants: readonly Contestant[],
  rounds: number,
): Generator<{ readonly round: number; readonly contestant: Contestant }> {
  for (let round = 1; round <= rounds; round += 1) {
    const first = (round - 1) % Math.max(1, contestants.length);
    const order = [...contestants.slice(first), ...contestants.slice(0, first)];
    for (const contestant of order) yield { round, contestant };
  }
}

async function runRound(contestant: Contestant, load: Load): Promise<Round> {
  const { target, model = load.model, form, numbered, others } = contestant;
  const { concurrency = load.concurrency } = contestant;
  const cpu = stopwatch(target.pid, cpuSeconds);
  const otherCpus = Object.entries(others).map(
    ([name, pid]) => [name, stopwatch(pid, treeCpuSeconds)] as const,
  );
  const { url, callers } = target;
  const startMs = performance.now();
  const result = await runLoad({
    ...load,
    concurrency,
    model,
    form,
    numbered,
    url,
    callers,
    rampMs: RAMP_MS,
  });
  if (result.failures > 0) {
    throw new Error(`${target.name}: ${result.failures} calls failed: ${result.firstFailure}`);
  }
  const gatewayUs = cpu();
  const seconds = (performance.now() - startMs) / 1000;
  await contestant.settle(result.calls);
  return {
    callsPerSecond: result.callsPerSecond,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuPerCallUs: gatewayUs / result.calls,
    eventsPerSecond: result.events / seconds,
    cpuPerEventUs: gatewayUs / result.events,
    othersPerCallUs: Object.fromEntries(
      otherCpus.map(([name, used]) => [name, used() / result.calls]),
    ),
    costNano: BigInt(result.costNano),
  };
}

/**
 * Returns a function that returns the CPU that a process has used since this call, in microseconds.
 */
function stopwatch(pid: number, read: (pid: number) => number): () => number {
  const before = read(pid);
  return () => (read(pid) - before) * 1e6;
}

/** The CPU of a call in all processes of a target, in microseconds. */
export function cpuOfAll({ cpuPerCallUs, othersPerCallUs }: Round): number {
  return Object.values(othersPerCallUs).reduce((sum, one) => sum + one, cpuPerCallUs);
}

/** The median of one figure over the rounds of a target. */
export function median(results: Results, name: string, pick: (round: Round) => number): number {
  return middle((results.get(name)?.rounds ?? []).map(pick));
}

/** Two targets by name. */
export interface Sides {
  readonly over: string;
  readonly under: string;
}

/** The median over the rounds of one target's figure divided by another's in the same round. */
export function ratio(results: Results, sides: Sides, pick: (round: Round) => number): number {
  return middle(pairsOf(results, sides).map(([over, under]) => pick(over) / pick(under)));
}

/** The median over the rounds of one target's figure less another's in the same round. */
export function difference(results: Results, sides: Sides, pick: (round: Round) => number): number {
  return middle(pairsOf(results, sides).map(([over, under]) => pick(over) - pick(under)));
}

/** The rounds of two targets that ran in turn. */
function pairsOf(results: Results, { over, under }: Sides): (readonly [Round, Round])[] {
  const below = results.get(under)?.rounds ?? [];
  const above = results.get(over)?.rounds ?? [];
  return above.flatMap((round, index) => {
    const other = below[index];
    return other === undefined ? [] : [[round, other] as const];
  });
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The median and the 99th percentile of some times; NaN if there are none. */
export function percentilesOf(times: readonly number[]): Percentiles {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** The median of some numbers. */
export function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] ?? Number.NaN) + (sorted[Math.ceil(half)] ?? Number.NaN)) / 2;
}
