// MOTIS: public transport. The base URL is the one before `/api`. Requests and replies are those of
// MOTIS 2.10 and later (openapi.yaml of motis-project/motis).

import { type Box, distance, type Position } from "../../../../annexes/atlas/geography.ts";
import { isObject, type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import type { ParametersOf } from "../../actions.ts";
import type { Place } from "../../parameters.ts";
import type { LineAnswer, StopAnswer } from "../../transit-answers.ts";
import type { Services, Unable } from "../provider.ts";
import { decodeStopId, encodeStopId } from "./motis-stop-id.ts";
import { toDeparture, toJourney } from "./motis-times.ts";
import { boxOf, OPENSTREETMAP, tooManyWithin, unableArea } from "./openstreetmap.ts";
import { colourOf } from "./overpass-elements.ts";
import {
  lookUp,
  nearestFirst,
  positionOf,
  readItems,
  required,
  requiredList,
  textOrNull,
} from "./read.ts";
import { distinctLines, MOTIS_MODES } from "./transit-modes.ts";
import { degrees, jsonService, type Query, type Upstream } from "./upstream.ts";

/**
 * Timetables have many owners, and MOTIS names none. The maps and footpaths of MOTIS are
 * OpenStreetMap's.
 */
const ATTRIBUTION = ["Timetables: the operators of public transport, by MOTIS", OPENSTREETMAP];
/** High enough that no line is omitted. */
const ZOOM = 20;
/** The words of MOTIS about a box with more stops than it sends. */
const TOO_MANY = "too many items";

type Around = ParametersOf<"stops">;

export function motis(upstream: Upstream): Services {
  return {
    stops: jsonService(upstream, {
      unable: (parameters) => unableArea(circle(parameters)),
      request: (parameters) => ({
        path: "/api/v6/map/stops",
        query: { ...corners(boxAround(parameters)), language: parameters.lang },
      }),
      answer: (reply, at) => served({ stops: toStops(reply, at) }),
      unableBy: (refusal) => (errorOf(refusal) === TOO_MANY ? tooManyWithin : null),
    }),
    departures: jsonService(upstream, {
      unable: ({ stop_id }) => unableStop("stop_id", stop_id),
      request: ({ stop_id, time, limit, lang }) => ({
        path: "/api/v6/stoptimes",
        query: { stopId: decodeStopId(stop_id), time: timeOrNow(time), n: limit, language: lang },
      }),
      answer: (reply, { limit }) => {
        const { stopTimes } = objectOrEmpty(reply);
        const departures = requiredList(stopTimes, "stopTimes", toDeparture).slice(0, limit);
        return served({ departures });
      },
      // The server does not know the stop. A server at a wrong address has another kind of error.
      nothing: (refusal, status) =>
        isUnknown(refusal, status) ? served({ departures: [] }) : null,
      unableBy: unableTime,
    }),
    journey: jsonService<"journey">(upstream, plan(null)),
    rail: jsonService<"rail">(upstream, plan("RAIL")),
    transit: jsonService(upstream, {
      unable: (parameters) => unableArea(circle(parameters)),
      request: (parameters) => ({
        path: "/api/experimental/map/routes",
        query: { zoom: ZOOM, ...corners(boxAround(parameters)), language: parameters.lang },
      }),
      answer: (reply, at) => served({ lines: toLines(reply, at).slice(0, at.limit) }),
    }),
  };
}

function served<Data>(data: Data): { data: Data; attribution: readonly string[] } {
  return { data, attribution: ATTRIBUTION };
}

type Journey = ParametersOf<"journey">;

/** Journeys, and those by rail alone, are the same request with different modes. */
function plan(transitModes: string | null) {
  return {
    unable: ({ from, to }: Journey) => unablePlace("from", from) ?? unablePlace("to", to),
    request: ({ from, to, time, arrive_by, limit, lang }: Journey) => ({
      path: "/api/v6/plan",
      query: {
        fromPlace: placeText(from),
        toPlace: placeText(to),
        time: timeOrNow(time),
        arriveBy: arrive_by,
        numItineraries: limit,
        transitModes,
        language: lang,
      },
    }),
    answer: (reply: unknown, { limit }: Journey) => {
      const { itineraries } = objectOrEmpty(reply);
      const journeys = requiredList(itineraries, "itineraries", toJourney).slice(0, limit);
      return served({ journeys });
    },
    nothing: (refusal: unknown, status: number) =>
      isUnknown(refusal, status) ? served({ journeys: [] }) : null,
    unableBy: unableTime,
  };
}

function isUnknown(refusal: unknown, status: number): boolean {
  return status === 404 && isObject(refusal) && typeof refusal.error === "string";
}

function errorOf(refusal: unknown): string | null {
  return textOrNull(objectOrEmpty(refusal).error);
}

/** If the caller left the time open, the failure is the server's: its timetables have ended. */
function unableTime(refusal: unknown, { time }: Pick<Journey, "time">): Unable | null {
  if (time === null || !/timetable window/.test(errorOf(refusal) ?? "")) return null;
  return { parameter: "time", problem: "must be within the timetables here" };
}

function timeOrNow(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function placeText(place: Place): string {
  if ("at" in place) return `${degrees(place.at.lat)},${degrees(place.at.lon)}`;
  return required(decodeStopId(place.stopId), "stop");
}

function unablePlace(parameter: string, place: Place): Unable | null {
  return "at" in place ? null : unableStop(parameter, place.stopId);
}

function unableStop(parameter: string, stopId: string): Unable | null {
  if (decodeStopId(stopId) !== null) return null;
  return { parameter, problem: "must be a stop_id as the action stops answers it" };
}

function circle({ lat, lon, radius }: Around) {
  return { around: { lat, lon }, radius, box: null };
}

function boxAround(parameters: Around): Box {
  return required(boxOf(circle(parameters)), "box");
}

/** `min` is the south-east corner and `max` the north-west one. */
function corners({ minLon, minLat, maxLon, maxLat }: Box): Query {
  return {
    min: `${degrees(minLat)},${degrees(maxLon)}`,
    max: `${degrees(maxLat)},${degrees(minLon)}`,
  };
}

function toStops(reply: unknown, { lat, lon, radius, limit }: Around): StopAnswer[] {
  const found = requiredList(reply, "stops", (item) => toStop(item, { lat, lon }));
  const inCircle = found.filter(({ stop }) => stop.distance_m <= radius);
  // Platforms of a station come separately; the nearest one represents it, with the station's id.
  const stations = new Map<string, StopAnswer>();
  for (const { stop } of nearestFirst(inCircle, (one) => one.stop.distance_m, found.length)) {
    const known = stations.get(stop.stop_id);
    const modes = [...new Set([...(known?.modes ?? []), ...stop.modes])];
    stations.set(stop.stop_id, { ...(known ?? stop), modes });
  }
  return [...stations.values()].slice(0, limit);
}

function toStop(item: Json, from: Position): { stop: StopAnswer } | null {
  const at = positionOf(item.lat, item.lon);
  const name = textOrNull(item.name);
  const stopId = encodeStopId(item.parentId) ?? encodeStopId(item.stopId);
  if (at === null || name === null || stopId === null) return null;
  const modes = Array.isArray(item.modes) ? item.modes : [];
  const known = modes.flatMap((mode) => lookUp(MOTIS_MODES, mode) ?? []);
  const distance_m = Math.round(distance(from, at));
  return { stop: { stop_id: stopId, name, ...at, distance_m, modes: [...new Set(known)] } };
}

/** The lines with a stop in the circle. Lines that only pass through its box do not serve it. */
function toLines(reply: unknown, { lat, lon, radius }: Around): LineAnswer[] {
  const { routes, stops } = objectOrEmpty(reply);
  const isNear = (Array.isArray(stops) ? stops : []).map((stop) => {
    const { lat: y, lon: x } = objectOrEmpty(stop);
    const at = positionOf(y, x);
    return at !== null && distance({ lat, lon }, at) <= radius;
  });
  const isServed = (stop: unknown) => typeof stop === "number" && isNear[stop] === true;
  const lines = requiredList(routes, "routes", (route) => {
    const ends = readItems(route.segments, ({ from, to }) => ({ from, to }));
    const serves = ends.some(({ from, to }) => isServed(from) || isServed(to));
    const mode = lookUp(MOTIS_MODES, route.mode) ?? "other";
    return { serves, lines: readItems(route.transitRoutes, (line) => toLine(line, mode)) };
  });
  return distinctLines(lines.flatMap((one) => (one.serves ? one.lines : [])));
}

function toLine(item: Json, mode: LineAnswer["mode"]): LineAnswer | null {
  const name = textOrNull(item.longName);
  const line = textOrNull(item.shortName, 60) ?? name;
  if (line === null) return null;
  const colour = colourOf(item.color);
  return { line, mode, name, operator: null, from: null, to: null, colour };
}
