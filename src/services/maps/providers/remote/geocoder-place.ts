// Parts of a geocoder's answer besides the place itself.

import type { Position } from "../../../../annexes/atlas/geography.ts";
import type { NearbyPlace, PlaceAtAnswer } from "../../place-answers.ts";
import { territoryAt, timezoneAt, utcOffset } from "../territory.ts";

/** The keys of OpenStreetMap tags for points of interest. */
export const POI_KEYS: ReadonlySet<string> = new Set([
  "aeroway",
  "amenity",
  "craft",
  "emergency",
  "healthcare",
  "historic",
  "leisure",
  "man_made",
  "office",
  "railway",
  "shop",
  "tourism",
]);

/** The answer for a position, from the nearest place. Borders and time zones are looked up here. */
export function placeAt(place: NearbyPlace | null, at: Position, nowMs: number): PlaceAtAnswer {
  const territory = territoryAt(at);
  const timezone = timezoneAt(at);
  return {
    country_code: place?.country_code ?? territory?.countryCode ?? null,
    country: place?.country ?? null,
    state: place?.state ?? null,
    county: place?.county ?? null,
    timezone,
    utc_offset_s: utcOffset(timezone, nowMs),
    drives_on: territory?.drivesOn ?? null,
    calling_code: territory?.callingCode ?? null,
    nearest_place: place,
  };
}
