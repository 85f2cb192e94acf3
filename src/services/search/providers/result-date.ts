// Reads dates of results: servers write them in many formats, callers get a single one.

import { DAY_MS } from "../../../core/durations.ts";
import { isDay } from "../../../core/money/months.ts";
import type { Freshness } from "./provider.ts";

const UNIT_DAYS: Readonly<Record<string, number>> = {
  second: 1 / 86_400,
  minute: 1 / 1_440,
  hour: 1 / 24,
  day: 1,
  week: 7,
  month: 30,
  year: 365,
};
const FRESH_DAYS: Readonly<Record<Freshness, number>> = { day: 1, week: 7, month: 31, year: 366 };
const DATE_LENGTH_MAX = 64;
const YEAR_MIN = 1900;
const YEAR = /(?<!\d)\d{4}(?!\d)/;
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ].*)?$/;
const ISO_LENGTH = 10;
/** The same with a year from 1900 on, and a day that every month has. */
const COMMON_ISO = /^(?:19|[2-9]\d)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:[T ].*)?$/;
const AGO = /^(\d{1,4})\s+(second|minute|hour|day|week|month|year)s?\s+ago$/i;

/** Documents are fresh if they are from this moment or later. */
export function freshSince(freshness: Freshness, nowMs: number): Date {
  return new Date(nowMs - FRESH_DAYS[freshness] * DAY_MS);
}

/** A day as `2026-11-21`; null if it is not a date, or in the future. */
export function dayOf(value: unknown, nowMs: number): string | null {
  if (typeof value !== "string" || value.length > DATE_LENGTH_MAX) return null;
  if (COMMON_ISO.test(value)) return untilTomorrow(value.slice(0, ISO_LENGTH), nowMs);
  const text = value.trim();
  if (ISO.test(text)) return isoDay(text.slice(0, ISO_LENGTH), nowMs);
  const [, count, unit = ""] = AGO.exec(text) ?? [];
  if (count !== undefined) {
    return dayAt(nowMs - Number(count) * (UNIT_DAYS[unit.toLowerCase()] ?? 0) * DAY_MS);
  }
  // The platform reads a text without a year, but with any number, as a day of 2001.
  if (!YEAR.test(text)) return null;
  // A text without a zone is read as UTC, which keeps its day in every zone of this machine.
  const timeMs = Date.parse(`${text} UTC`);
  const known = Number.isNaN(timeMs) ? Date.parse(text) : timeMs;
  return Number.isNaN(known) || known > nowMs + DAY_MS ? null : dayAt(known);
}

/** The day if there is one, from 1900 on and until tomorrow. */
function isoDay(day: string, nowMs: number): string | null {
  if (day < String(YEAR_MIN)) return null;
  return isDay(day) ? untilTomorrow(day, nowMs) : null;
}

/** Days compare as their texts do. */
function untilTomorrow(day: string, nowMs: number): string | null {
  return day > dayAfter(nowMs) ? null : day;
}

let tomorrow = { startMs: 0, day: "" };

/** The day after that of a time. Cached: most times are of the same day. */
function dayAfter(timeMs: number): string {
  const startMs = (Math.floor(timeMs / DAY_MS) + 1) * DAY_MS;
  if (startMs !== tomorrow.startMs) {
    tomorrow = { startMs, day: new Date(startMs).toISOString().slice(0, ISO_LENGTH) };
  }
  return tomorrow.day;
}

function dayAt(timeMs: number): string | null {
  const date = new Date(timeMs);
  const year = date.getUTCFullYear();
  return year >= YEAR_MIN && year <= 9999 ? date.toISOString().slice(0, ISO_LENGTH) : null;
}
