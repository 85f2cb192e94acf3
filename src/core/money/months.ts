// Months of UTC: as a number, 202611, where money is counted, and as text, `2026-11`, in names and
// for people. Both sort by time. Also checks days and times that come as text.

import { DAY_MS } from "../durations.ts";

/** The month of a time as a number. */
export function monthOf(ms: number): number {
  const time = new Date(ms);
  return time.getUTCFullYear() * 100 + time.getUTCMonth() + 1;
}

/** The month before the given one, both as numbers. */
export function monthBefore(month: number): number {
  return month % 100 === 1 ? month - 89 : month - 1;
}

/** When the month after that of `ms` begins. */
export function nextMonthMs(ms: number): number {
  const time = new Date(ms);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
}

/** The latest result: every call asks for the month, and almost always on the same day. */
let latest = { day: Number.NaN, text: "" };

/** The month of a time as text. */
export function monthText(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  if (day !== latest.day) latest = { day, text: new Date(ms).toISOString().slice(0, 7) };
  return latest.text;
}

/** The first instant of a month, given as text. */
export function startOfMonth(month: string): Date {
  return new Date(`${month}-01T00:00:00Z`);
}

/** The month that is `count` months after another one, or before it if `count` is negative. */
export function addMonths(month: string, count: number): string {
  const start = startOfMonth(month);
  start.setUTCMonth(start.getUTCMonth() + count);
  return monthText(start.getTime());
}

/** True if a text is a month of the year 2000 or later: no record is older. */
export function isMonth(text: string): boolean {
  return /^[2-9]\d{3}-(?:0[1-9]|1[0-2])$/.test(text);
}

/** True if a text is a day such as `2026-11-22` that the calendar has. */
export function isDay(text: string): boolean {
  // Some engines read February 30 as March 2, so the day must come back unchanged.
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/**
 * The Unix time in milliseconds of a time in ISO 8601 with its zone; null if the calendar has no
 * such day, or the day no such hour.
 */
export function instantMs(text: string): number | null {
  // Engines read 24 o'clock as the next day.
  const exists = isDay(text.slice(0, 10)) && text.slice(11, 13) < "24";
  const ms = exists ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
