// Decides if a figure grew: compares its end with its value after the warm-up.

import { FIGURE_NAMES, FIGURES, type FigureName, type Sample, shown } from "./figures.ts";

const WARM_MINUTES_MAX = 10;
/** Redis keeps idle wallets, and the replies to mail requests, for five minutes. */
const WARM_MINUTES_MIN = 7;

/** The length of the warm-up of a soak in minutes: a sixth of the soak, between these limits. */
export function warmMinutesOf(minutes: number): number {
  const least = Math.min(WARM_MINUTES_MIN, minutes / 3);
  return Math.min(WARM_MINUTES_MAX, Math.max(minutes / 6, least));
}

/** The compared values are medians over this share of the judged time. */
const WINDOW_SHARE = 0.05;

export interface Judged {
  readonly name: FigureName;
  readonly warm: number;
  readonly end: number;
  /** The growth by Theil and Sen, over the samples after the warm-up. */
  readonly perHour: number;
  /** The allowed growth; null for a figure that is only shown. */
  readonly mayGrow: number | null;
  readonly hasGrown: boolean;
}

/** Judges every figure over the samples after `warmSeconds`. */
export function judge(samples: readonly Sample[], warmSeconds: number): Judged[] {
  const later = samples.filter(({ atSeconds }) => atSeconds >= warmSeconds);
  const windowLength = Math.max(1, Math.round(later.length * WINDOW_SHARE));
  return FIGURE_NAMES.map((name) => {
    const points = later.map(({ atSeconds, values }) => [atSeconds, values[name]] as const);
    const values = points.map(([, value]) => value);
    const warm = median(values.slice(0, windowLength));
    const end = median(values.slice(-windowLength));
    const { tolerance } = FIGURES[name];
    const mayGrow = tolerance && Math.max(tolerance.share * warm, tolerance.least);
    const hasGrown = mayGrow !== null && end - warm > mayGrow;
    return { name, warm, end, perHour: slope(points) * 3_600, mayGrow, hasGrown };
  });
}

/** The median of the slopes between all pairs: a few outliers change nothing. */
export function slope(points: readonly (readonly [at: number, value: number])[]): number {
  const slopes: number[] = [];
  for (const [index, [at, value]] of points.entries()) {
    for (const [earlierAt, earlier] of points.slice(0, index)) {
      if (at > earlierAt) slopes.push((value - earlier) / (at - earlierAt));
    }
  }
  return median(slopes);
}

/** Zero for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** The table at the end of a soak. */
export function verdictTable(judged: readonly Judged[], warmMinutes: number): string {
  const head = ["", `at ${warmMinutes.toFixed(1)} min`, "at the end", "an hour", "may grow by", ""];
  const rows = judged.map(({ name, warm, end, perHour, mayGrow, hasGrown }) => {
    const { title, unit } = FIGURES[name];
    const verdict = hasGrown ? "GREW" : "no growth";
    return [
      unit === "" ? title : `${title}, ${unit}`,
      shown(name, warm),
      shown(name, end),
      (perHour < 0 ? "" : "+") + shown(name, perHour),
      mayGrow === null ? "" : shown(name, mayGrow),
      mayGrow === null ? "" : verdict,
    ];
  });
  return [head, ...rows]
    .map(([title = "", ...cells]) => title.padEnd(32) + cells.map((c) => c.padStart(13)).join(""))
    .join("\n");
}
