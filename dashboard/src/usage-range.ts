// The range of time that the usage page shows: presets and custom ranges, as the address of the
// page has them, made into the query for the server.

import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/durations.ts";
import type { UsageStep } from "../../src/core/usage-query.ts";
import { isoOf, midnight, monthBegin } from "./time.ts";

export const PRESETS = ["24h", "7d", "30d", "month", "12mo"] as const;
export type Preset = (typeof PRESETS)[number];

export interface Range {
  readonly from: string;
  readonly to: string;
  readonly step: UsageStep;
}

const QUARTER_MS = 15 * MINUTE_MS;
/** Up to these lengths a range is shown in these steps. */
const STEPS: readonly (readonly [lengthMs: number, step: UsageStep])[] = [
  [8 * HOUR_MS, "15m"],
  [4 * DAY_MS, "1h"],
  [100 * DAY_MS, "1d"],
];

/** The range of a preset, which ends with the step that is going on now. */
export function presetRange(preset: Preset, nowMs: number, zone: string): Range {
  const tomorrow = midnight(nowMs, zone, -1);
  switch (preset) {
    case "24h": {
      const to = Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS;
      return { from: isoOf(to - DAY_MS), to: isoOf(to), step: "1h" };
    }
    case "7d":
      return { from: isoOf(midnight(nowMs, zone, 6)), to: isoOf(tomorrow), step: "1d" };
    case "30d":
      return { from: isoOf(midnight(nowMs, zone, 29)), to: isoOf(tomorrow), step: "1d" };
    case "month":
      return { from: isoOf(monthBegin(nowMs, zone)), to: isoOf(tomorrow), step: "1d" };
    case "12mo": {
      const from = isoOf(monthBegin(nowMs, zone, 11));
      return { from, to: isoOf(monthBegin(nowMs, zone, -1)), step: "1mo" };
    }
  }
}

/** A custom range, widened to whole quarters of an hour; null if the fields name no range. */
export function customRange(from: string, to: string): Range | null {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  if (!Number.isFinite(fromMs) || !Number.isFinite(toMs) || fromMs >= toMs) return null;
  const begin = Math.floor(fromMs / QUARTER_MS) * QUARTER_MS;
  const end = Math.ceil(toMs / QUARTER_MS) * QUARTER_MS;
  const step = STEPS.find(([lengthMs]) => end - begin <= lengthMs)?.[1] ?? "1mo";
  return { from: isoOf(begin), to: isoOf(end), step };
}
