// Departures and journeys, as MOTIS sends them.

import type {
  DepartureAnswer,
  JourneyAnswer,
  JourneyLeg,
  LegEnd,
  StopTime,
} from "../../../core/maps/answers.ts";
import { encodeStopId } from "./motis-stop-id.ts";
import {
  countOf,
  type Json,
  listOf,
  lookUp,
  objectOf,
  positionOf,
  textOf,
  timeOf,
  wholeOf,
} from "./read.ts";
import { MOTIS_MODES } from "./transit-modes.ts";

const NAME_MAX = 60;

/** A departure, or null where its time or its line is missing. */
export function toDeparture(item: Json): DepartureAnswer | null {
  const place = objectOf(item.place);
  const departure = stopTime(place.scheduledDeparture, place.departure, item.realTime);
  const line = lineName(item);
  if (departure === null || line === null) return null;
  return {
    departure,
    line,
    mode: lookUp(MOTIS_MODES, item.mode) ?? "other",
    headsign: textOf(item.headsign),
    platform: platformOf(place),
    operator: textOf(item.agencyName),
    cancelled: item.cancelled === true || item.tripCancelled === true,
    trip_id: textOf(item.tripId),
  };
}

/** A journey, or null where one of its legs cannot be read: without it the rest misleads. */
export function toJourney(item: Json): JourneyAnswer | null {
  const departure = timeOf(item.startTime);
  const arrival = timeOf(item.endTime);
  const duration = wholeOf(item.duration);
  const transfers = countOf(item.transfers);
  const legs = listOf(item.legs, toLeg);
  const isWhole = Array.isArray(item.legs) && legs.length === item.legs.length && legs.length > 0;
  if (departure === null || arrival === null || duration === null || !isWhole) return null;
  return { departure, arrival, duration_s: duration, transfers: transfers ?? 0, legs };
}

function toLeg(item: Json): JourneyLeg | null {
  const from = toEnd(item.from, stopTime(item.scheduledStartTime, item.startTime, item.realTime));
  const to = toEnd(item.to, stopTime(item.scheduledEndTime, item.endTime, item.realTime));
  const duration = wholeOf(item.duration);
  if (from === null || to === null || duration === null) return null;
  return {
    mode: lookUp(MOTIS_MODES, item.mode) ?? "other",
    line: lineName(item),
    headsign: textOf(item.headsign),
    operator: textOf(item.agencyName),
    from,
    to,
    duration_s: duration,
    distance_m: wholeOf(item.distance),
    stops_between: Array.isArray(item.intermediateStops) ? item.intermediateStops.length : null,
    cancelled: item.cancelled === true,
  };
}

function toEnd(value: unknown, time: StopTime | null): LegEnd | null {
  const place = objectOf(value);
  const at = positionOf(place.lat, place.lon);
  if (at === null || time === null) return null;
  const name = textOf(place.name);
  return {
    // So it calls the two ends of a journey that are no stops.
    name: name === "START" || name === "END" ? null : name,
    stop_id: encodeStopId(place.stopId),
    platform: platformOf(place),
    ...at,
    time,
  };
}

function stopTime(scheduled: unknown, actual: unknown, isLive: unknown): StopTime | null {
  const expected = timeOf(actual);
  const planned = timeOf(scheduled) ?? expected;
  if (planned === null) return null;
  return { scheduled: planned, expected: isLive === true ? expected : null };
}

function lineName(item: Json): string | null {
  return (
    textOf(item.displayName, NAME_MAX) ??
    textOf(item.routeShortName, NAME_MAX) ??
    textOf(item.tripShortName, NAME_MAX) ??
    textOf(item.routeLongName, NAME_MAX)
  );
}

function platformOf(place: Json): string | null {
  return textOf(place.track, 40) ?? textOf(place.scheduledTrack, 40);
}
