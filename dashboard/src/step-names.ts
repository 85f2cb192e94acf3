// Names of the steps of time.

import type { UsageStep } from "../../src/core/usage-query.ts";
import { clockTime, isoOf, month, shortDay, zoneLabel } from "./time.ts";

const MINUTES_LENGTH = "14:00".length;

/** A short name, for an axis: "22 Nov", "14:00", "Nov 2026". Midnight has the name of its day. */
export function stepLabel(at: number, step: UsageStep, zone: string): string {
  const iso = isoOf(at);
  if (step === "1d") return shortDay(iso, zone);
  if (step === "1mo") return month(iso, zone);
  const time = clockTime(iso, zone).slice(0, MINUTES_LENGTH);
  return time === "00:00" ? shortDay(iso, zone) : time;
}

/** A whole name: "22 Nov", "22 Nov 14:00 UTC", "Nov 2026". */
export function stepName(at: number, step: UsageStep, zone: string): string {
  if (step === "1d" || step === "1mo") return stepLabel(at, step, zone);
  const iso = isoOf(at);
  const time = clockTime(iso, zone).slice(0, MINUTES_LENGTH);
  return `${shortDay(iso, zone)} ${time} ${zoneLabel(zone, new Date(at))}`;
}
