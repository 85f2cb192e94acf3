// Converts departures and journeys from MOTIS.

import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import type {
  DepartureAnswer,
  JourneyAnswer,
  JourneyLeg,
  LegEnd,
  StopTime,
} from "../../transit-answers.ts";
import { utcOffset } from "../territory.ts";
import { encodeStopId } from "./motis-stop-id.ts";
import {
  countOf,
  localTime,
  lookUp,
  offsetTime,
  positionOf,
  readItems,
  textOrNull,
  wholeOf,
} from "./read.ts";
import { MOTIS_MODES } from "./transit-modes.ts";

const NAME_MAX = 60;

/** A departure, or null if its time or its line is missing. */
export function toDeparture(item: Json): DepartureAnswer | null {
  const place = objectOrEmpty(item.place);
  const { scheduledDeparture, departure: actual, tz } = place;
  const departure = stopTime({ scheduled: scheduledDeparture, actual, tz }, item.realTime);
  const line = lineName(item);
  if (departure === null || line === null) return null;
  return {
    departure,
    line,
    mode: lookUp(MOTIS_MODES, item.mode) ?? "other",
    headsign: textOrNull(item.headsign),
    platform: platformOf(place),
    operator: textOrNull(item.agencyName),
    cancelled: item.cancelled === true || item.tripCancelled === true,
    trip_id: textOrNull(item.tripId),
  };
}

/**
 * A journey; null if one of its legs cannot be read, because the other legs alone would mislead.
 */
export function toJourney(item: Json): JourneyAnswer | null {
  const ends = readItems(item.legs, ({ from, to }) => ({ from, to }));
  const departure = zonedTime(item.startTime, zoneOf(ends.at(0)));
  const arrival = zonedTime(item.endTime, zoneOf(ends.at(-1)));
  const duration = wholeOf(item.duration) ?? secondsBetween(item.startTime, item.endTime);
  const transfers = countOf(item.transfers);
  const legs = readItems(item.legs, toLeg);
  const isWhole = Array.isArray(item.legs) && legs.length === item.legs.length && legs.length > 0;
  if (departure === null || arrival === null || duration === null || !isWhole) return null;
  const rides = legs.filter(({ line }) => line !== null).length;
  return {
    departure,
    arrival,
    duration_s: duration,
    transfers: transfers ?? Math.max(0, rides - 1),
    legs,
  };
}

/** The duration of a journey or a leg that has only its times. */
function secondsBetween(start: unknown, end: unknown): number | null {
  const [from, to] = [offsetTime(start), offsetTime(end)];
  return from === null || to === null ? null : wholeOf((Date.parse(to) - Date.parse(from)) / 1_000);
}

function toLeg(item: Json): JourneyLeg | null {
  const { scheduledStartTime, startTime, scheduledEndTime, endTime, realTime } = item;
  const tz = zoneOf(item);
  const departure = stopTime({ scheduled: scheduledStartTime, actual: startTime, tz }, realTime);
  const arrival = stopTime({ scheduled: scheduledEndTime, actual: endTime, tz }, realTime);
  const from = toEnd(item.from, departure);
  const to = toEnd(item.to, arrival);
  const duration = wholeOf(item.duration) ?? secondsBetween(startTime, endTime);
  if (from === null || to === null || duration === null) return null;
  return {
    mode: lookUp(MOTIS_MODES, item.mode) ?? "other",
    line: lineName(item),
    headsign: textOrNull(item.headsign),
    operator: textOrNull(item.agencyName),
    from,
    to,
    duration_s: duration,
    distance_m: wholeOf(item.distance),
    stops_between: Array.isArray(item.intermediateStops) ? item.intermediateStops.length : null,
    cancelled: item.cancelled === true,
  };
}

function toEnd(value: unknown, time: StopTime | null): LegEnd | null {
  const place = objectOrEmpty(value);
  const at = positionOf(place.lat, place.lon);
  if (at === null || time === null) return null;
  const name = textOrNull(place.name);
  return {
    // MOTIS uses these names for ends of a journey that are not stops.
    name: name === "START" || name === "END" ? null : name,
    stop_id: encodeStopId(place.stopId),
    platform: platformOf(place),
    ...at,
    time,
  };
}

interface Times {
  readonly scheduled: unknown;
  readonly actual: unknown;
  readonly tz: unknown;
}

function stopTime({ scheduled, actual, tz }: Times, isLive: unknown): StopTime | null {
  const expected = zonedTime(actual, tz);
  const planned = zonedTime(scheduled, tz) ?? expected;
  if (planned === null) return null;
  return { scheduled: planned, expected: isLive === true ? expected : null };
}

/** The time zone of a leg; places that are not stops have none of their own. */
function zoneOf(leg: Json | undefined): unknown {
  return textOrNull(objectOrEmpty(leg?.from).tz, 60) ?? textOrNull(objectOrEmpty(leg?.to).tz, 60);
}

/** A time, sent in UTC, converted to the local time of its place. */
function zonedTime(value: unknown, tz: unknown): string | null {
  const time = offsetTime(value);
  if (time === null || typeof tz !== "string") return time;
  const ms = Date.parse(time);
  try {
    return localTime(ms, utcOffset(tz, ms));
  } catch {
    // An unknown zone; the instant is still correct.
    return time;
  }
}

function lineName(item: Json): string | null {
  return (
    textOrNull(item.displayName, NAME_MAX) ??
    textOrNull(item.routeShortName, NAME_MAX) ??
    textOrNull(item.tripShortName, NAME_MAX) ??
    textOrNull(item.routeLongName, NAME_MAX)
  );
}

function platformOf(place: Json): string | null {
  return textOrNull(place.track, 40) ?? textOrNull(place.scheduledTrack, 40);
}
