// Finds the country and the time zone of a position without any data file.

import tzLookup from "@photostructure/tz-lookup";
import { callingCodes, driveSide, iso1A2Code } from "@rapideditor/country-coder";
import { LRUCache } from "lru-cache";
import type { Position } from "../../../annexes/atlas/geography.ts";

export interface Territory {
  readonly countryCode: string;
  readonly drivesOn: "left" | "right" | null;
  readonly callingCode: string | null;
}

/** There are some 600 names of time zones, and a server may write each of them in many ways. */
export const TIME_ZONES_MAX = 512;
const offsets = new LRUCache<string, Intl.DateTimeFormat>({ max: TIME_ZONES_MAX });

const ANTIMERIDIAN = 180;
/** The distance from the antimeridian in degrees: less than a metre. */
const BESIDE = 1e-6;

/**
 * The position, moved off the antimeridian to the side with land. Outlines of countries end at the
 * antimeridian, so no country contains a position there.
 */
function besideAntimeridian(position: Position): Position {
  const { lat, lon } = position;
  if (Math.abs(lon) < ANTIMERIDIAN) return position;
  const west = { lat, lon: ANTIMERIDIAN - BESIDE };
  const east = { lat, lon: BESIDE - ANTIMERIDIAN };
  return territoryOf(west) === null && territoryOf(east) !== null ? east : west;
}

/** The country, or the territory with its own ISO code; null at sea. */
export function territoryAt(position: Position): Territory | null {
  return territoryOf(besideAntimeridian(position));
}

function territoryOf({ lat, lon }: Position): Territory | null {
  const at: [number, number] = [lon, lat];
  // Some countries are not territories, but consist of several without codes of their own.
  const countryCode = iso1A2Code(at, { level: "territory" }) ?? iso1A2Code(at);
  if (countryCode === null) return null;
  const [callingCode] = callingCodes(at);
  const side = driveSide(at);
  return {
    countryCode,
    drivesOn: side === "left" || side === "right" ? side : null,
    callingCode: callingCode === undefined ? null : `+${callingCode}`,
  };
}

/** The IANA name of the time zone; at sea the nautical one. */
export function timezoneAt(position: Position): string {
  const { lat, lon } = besideAntimeridian(position);
  return tzLookup(lat, lon);
}

/** The seconds by which a time zone is ahead of UTC at an instant. */
export function utcOffset(timezone: string, nowMs: number): number {
  const format =
    offsets.get(timezone) ??
    new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
  offsets.set(timezone, format);
  const name = format.formatToParts(nowMs).find(({ type }) => type === "timeZoneName")?.value;
  return offsetAtEnd(name ?? "");
}

/** The seconds of the offset with which a text ends, as in "GMT-03:30"; 0 without an offset. */
export function offsetAtEnd(text: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? [];
  const seconds = Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60;
  return sign === "-" ? -seconds : seconds;
}
