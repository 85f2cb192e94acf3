// Times as people read them, always with their zone. A zone is an IANA name such as Europe/Berlin.

import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/durations.ts";
import { locale } from "./locale.ts";
import { decimalText } from "./numbers.ts";
import { t } from "./texts.ts";

export const UTC = "UTC";
/** For texts that programs read, or that are the same in all languages. */
const PLAIN = "en-GB";

/** The zone of this browser. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || UTC;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(
  zone: string,
  options: Intl.DateTimeFormatOptions,
  writtenIn: string = locale,
): Intl.DateTimeFormat {
  const key = `${writtenIn} ${zone} ${JSON.stringify(options)}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat(writtenIn, { timeZone: zone, hourCycle: "h23", ...options });
  formats.set(key, made);
  return made;
}

const CLOCK = { hour: "2-digit", minute: "2-digit" } as const;
const DAY = { day: "numeric", month: "short", year: "numeric" } as const;

/** "14:03:22" */
export function clockTime(at: string, zone: string = UTC): string {
  return format(zone, { ...CLOCK, second: "2-digit" }).format(new Date(at));
}

/** "22 Nov 2026" */
export function day(at: string, zone: string = UTC): string {
  return format(zone, DAY).format(new Date(at));
}

/** "22 Nov" */
export function shortDay(at: string, zone: string = UTC): string {
  return format(zone, { day: "numeric", month: "short" }).format(new Date(at));
}

/** "Nov 2026" */
export function month(at: string, zone: string = UTC): string {
  return format(zone, { month: "short", year: "numeric" }).format(new Date(at));
}

/** "22 Nov 2026, 14:03" */
export function dayTime(at: string, zone: string = UTC): string {
  return format(zone, { ...DAY, ...CLOCK }).format(new Date(at));
}

/** "22 Nov 2026, 14:03:22" */
export function exactTime(at: string, zone: string = UTC): string {
  return format(zone, { ...DAY, ...CLOCK, second: "2-digit" }).format(new Date(at));
}

/** The zone as it is shown: "UTC" or "Europe/Berlin (UTC+1)". */
export function zoneLabel(zone: string, at: Date): string {
  if (zone === UTC) return UTC;
  const parts = format(zone, { timeZoneName: "shortOffset" }, PLAIN).formatToParts(at);
  const offset = parts.find(({ type }) => type === "timeZoneName")?.value.replace("GMT", "UTC");
  return offset === undefined ? zone : `${zone} (${offset})`;
}

/** "3 min ago"; the exact time belongs into a title beside it. */
export function ago(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at);
  if (ms < MINUTE_MS) return t.times.now;
  if (ms < HOUR_MS) return t.times.minutesAgo(Math.floor(ms / MINUTE_MS));
  if (ms < DAY_MS) return t.times.hoursAgo(Math.floor(ms / HOUR_MS));
  return t.times.daysAgo(Math.floor(ms / DAY_MS));
}

/** "1.84 s" or "214 ms" */
export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${decimalText(ms / 1_000, 2)} s`;
}

const WALL = {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;

/** The milliseconds by which the wall clock of a zone is ahead of UTC at a time. */
export function zoneOffsetMs(atMs: number, zone: string): number {
  if (zone === UTC) return 0;
  const parts = format(zone, WALL, PLAIN).formatToParts(new Date(atMs));
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const wall = Date.UTC(
    of("year"),
    of("month") - 1,
    of("day"),
    of("hour"),
    of("minute"),
    of("second"),
  );
  return wall - Math.floor(atMs / 1_000) * 1_000;
}

/**
 * The time at which a zone's clock shows this wall time, given as if it were UTC; the earlier one
 * of two, with which a day begins. A wall time that the clock skips counts by the clock before the
 * change. The days of a usage query begin at the same times (D-265).
 */
export function fromWall(wallMs: number, zone: string): number {
  const before = wallMs - zoneOffsetMs(wallMs - DAY_MS, zone);
  const after = wallMs - zoneOffsetMs(wallMs + DAY_MS, zone);
  const isShown = (ms: number) => ms + zoneOffsetMs(ms, zone) === wallMs;
  return isShown(after) && !isShown(before) ? after : before;
}

/** Midnight of a zone, `daysBack` days before the day of `nowMs`. */
export function midnight(nowMs: number, zone: string, daysBack = 0): number {
  const wall = nowMs + zoneOffsetMs(nowMs, zone);
  return fromWall(Math.floor(wall / DAY_MS) * DAY_MS - daysBack * DAY_MS, zone);
}

/** The first of the month of `nowMs`, `monthsBack` months before. */
export function monthBegin(nowMs: number, zone: string, monthsBack = 0): number {
  const wall = new Date(nowMs + zoneOffsetMs(nowMs, zone));
  return fromWall(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() - monthsBack, 1), zone);
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
