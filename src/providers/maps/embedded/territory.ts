// What is known of a position without any data file: its country and its time zone.

import tzLookup from "@photostructure/tz-lookup";
import { feature } from "@rapideditor/country-coder";
import type { Position } from "../../../core/maps/geography.ts";

export interface Territory {
  readonly countryCode: string;
  readonly drivesOn: "left" | "right" | null;
  readonly callingCode: string | null;
}

// Its own types need those of GeoJSON, which are not installed.
interface CountryFeature {
  readonly properties: {
    readonly iso1A2?: string;
    readonly driveSide?: "left" | "right";
    readonly callingCodes?: readonly string[];
  };
}

const offsets = new Map<string, Intl.DateTimeFormat>();

/** The country or territory with an ISO code of its own; null at sea. */
export function territoryAt({ lat, lon }: Position): Territory | null {
  const found = feature([lon, lat], { level: "territory" }) as CountryFeature | null;
  const code = found?.properties.iso1A2;
  if (found === null || code === undefined) return null;
  const { driveSide = null, callingCodes } = found.properties;
  const callingCode = callingCodes?.[0];
  return {
    countryCode: code,
    drivesOn: driveSide,
    callingCode: callingCode === undefined ? null : `+${callingCode}`,
  };
}

/** The IANA name of the time zone; at sea that of the nautical one. */
export function timezoneAt({ lat, lon }: Position): string {
  return tzLookup(lat, lon);
}

/** How far a time zone is ahead of UTC at an instant, in seconds. */
export function utcOffset(timezone: string, nowMs: number): number {
  const format =
    offsets.get(timezone) ??
    new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
  offsets.set(timezone, format);
  const name = format.formatToParts(nowMs).find(({ type }) => type === "timeZoneName")?.value;
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name ?? "") ?? [];
  const seconds = Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60;
  return sign === "-" ? -seconds : seconds;
}
