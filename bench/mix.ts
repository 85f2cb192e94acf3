// The mixed profile: chats of 200 ms, streams and searches side by side, at half of the maximum,
// for Farebox and the bare proxy in turn. The profile shows how the kinds slow each other down.

import { startGenerator } from "./load/load.ts";
import type { MixedPlan, MixedResult } from "./load/mixed-load.ts";
import { middle, type Percentiles, percentilesOf, turnsOf } from "./rounds.ts";
import { searchOf, type Target } from "./targets.ts";

/** This many open requests keep each target as busy as it can be. */
const OPEN_FOR_MAXIMUM = 600;
const SHARE_OF_MAXIMUM = 0.5;
const RAMP_MS = 1_500;

const MIXED_KINDS = ["chat", "stream", "firstByte", "search"] as const;
export type MixedTime = (typeof MIXED_KINDS)[number];

/** The figures of each round, by target. */
export type MixedRounds = Readonly<
  Record<string, readonly Readonly<Record<MixedTime, Percentiles>>[]>
>;

export interface MixedFigures {
  /** Requests a second at the maximum of Farebox, and in the rounds. */
  readonly maximum: number;
  readonly rate: number;
  readonly rounds: MixedRounds;
  /** The cost that the replies reported to callers. */
  readonly costNano: bigint;
}

export interface MixOptions {
  /** The bare proxy has no searches. */
  readonly targets: Readonly<Record<"bare" | "farebox", Target>>;
  readonly rounds: number;
  readonly roundMs: number;
  /** Waits until the background work of a round is done. */
  readonly settle: () => Promise<void>;
  readonly progress: (line: string) => void;
}

/** Finds the maximum of Farebox, then measures both targets at half of it. */
export async function measureMix(options: MixOptions): Promise<MixedFigures> {
  const { targets, rounds, roundMs, settle, progress } = options;
  progress("looking for the maximum of the mixed profile");
  const most = await run(targets.farebox, { rate: null, durationMs: roundMs });
  await settle();
  const rate = most.rate * SHARE_OF_MAXIMUM;
  let costNano = BigInt(most.costNano);
  const figures: Record<string, Readonly<Record<MixedTime, Percentiles>>[]> = {};
  for (const { round, contestant: target } of turnsOf(Object.values(targets), rounds)) {
    progress(`mixed round ${round}, ${target.name}: ${Math.round(rate)} requests/s`);
    const { times, costNano: cost } = await run(target, { rate, durationMs: roundMs });
    await settle();
    if (target === targets.farebox) costNano += BigInt(cost);
    figures[target.name] = [...(figures[target.name] ?? []), figuresOf(times)];
  }
  return { maximum: most.rate, rate, rounds: figures, costNano };
}

async function run(
  target: Target,
  load: Pick<MixedPlan, "rate" | "durationMs">,
): Promise<MixedResult> {
  const searchUrl = target.name === "bare" ? null : searchOf(target).url;
  const { url: chatUrl, callers } = target;
  const open = OPEN_FOR_MAXIMUM;
  const plan: MixedPlan = { ...load, chatUrl, searchUrl, callers, open, rampMs: RAMP_MS };
  const output = await startGenerator("mixed-load.ts", plan).stdout.text();
  const result = JSON.parse(output) as MixedResult;
  if (result.failures > 0) {
    throw new Error(`${target.name}: ${result.failures} failed: ${result.firstFailure}`);
  }
  return result;
}

function figuresOf(times: MixedResult["times"]): Readonly<Record<MixedTime, Percentiles>> {
  return {
    chat: percentilesOf(times.chat),
    stream: percentilesOf(times.stream),
    firstByte: percentilesOf(times.firstByte),
    search: percentilesOf(times.search),
  };
}

type Pick99 = (figures: Percentiles) => number;

/** The median over the rounds of a target. */
function mixedMedian(
  { rounds }: MixedFigures,
  { name, time }: { readonly name: string; readonly time: MixedTime },
  pick: Pick99,
): number {
  return middle((rounds[name] ?? []).map((round) => pick(round[time])));
}

/** The median over the rounds of the difference between a time of Farebox and of the bare proxy. */
export function aboveBare({ rounds }: MixedFigures, time: MixedTime, pick: Pick99): number {
  const bare = rounds.bare ?? [];
  return middle(
    (rounds.farebox ?? []).flatMap((round, at) => {
      const other = bare[at];
      return other === undefined ? [] : [pick(round[time]) - pick(other[time])];
    }),
  );
}

const ROWS = [
  ["chat of 200 ms", "chat"],
  ["stream, first byte", "firstByte"],
  ["stream of 1 s, its end", "stream"],
  ["search", "search"],
] as const;

/** The times of each kind as a table. */
export function mixedTable(mix: MixedFigures): string {
  const row = (cells: readonly string[]) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(24) : cell.padStart(14))).join("");
  const cell = (name: string, time: MixedTime, pick: Pick99) => {
    const value = mixedMedian(mix, { name, time }, pick);
    return Number.isNaN(value) ? "" : value.toFixed(1);
  };
  const lines = ROWS.map(([label, time]) =>
    row([
      label,
      ...["bare", "farebox"].flatMap((name) => [
        cell(name, time, ({ p50Ms }) => p50Ms),
        cell(name, time, ({ p99Ms }) => p99Ms),
      ]),
    ]),
  );
  return [row(["ms", "bare p50", "bare p99", "farebox p50", "farebox p99"]), ...lines].join("\n");
}
