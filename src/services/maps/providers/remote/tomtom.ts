// TomTom: the traffic. The base URL is the one before `/traffic` and `/routing`.

import { type Area, isInside, surfaceOf } from "../../../../annexes/atlas/geography.ts";
import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { areaOf, type ParametersOf } from "../../actions.ts";
import type { TrafficRouteAnswer } from "../../road-answers.ts";
import type { Services, Unable } from "../provider.ts";
import { offsetAtEnd } from "../territory.ts";
import { boxOf, unableArea } from "./openstreetmap.ts";
import {
  lineStringOf,
  localTime,
  offsetTime,
  positionOf,
  required,
  requiredList,
  wholeOf,
} from "./read.ts";
import {
  type FoundIncident,
  INCIDENT_FIELDS,
  ROAD_CLOSED,
  toClosure,
  toIncident,
  toStatus,
} from "./tomtom-traffic.ts";
import { degrees, jsonService, type Upstream, type UpstreamRequest } from "./upstream.ts";

/** The languages of its texts, each with the region that it needs. */
const LANGUAGES: Readonly<Record<string, string>> = Object.fromEntries(
  `ar bg-BG ca-ES cs-CZ da-DK de-DE el-GR en-GB es-ES et-EE fi-FI fr-FR he-IL hr-HR hu-HU id-ID
  it-IT lt-LT lv-LV nb-NO nl-NL pl-PL pt-PT ro-RO ru-RU sk-SK sl-SI sr-RS sv-SE th-TH tr-TR uk-UA`
    .split(/\s+/)
    .map((tag) => [tag.split("-")[0] ?? tag, tag]),
);
/** Errors that mean that there is no route. */
const NO_ROUTE: ReadonlySet<unknown> = new Set(["NO_ROUTE_FOUND", "MAP_MATCHING_FAILURE"]);
const TOO_FAR = "Point too far from nearest existing segment.";

/** The service refuses times before now. A time of the last minute is taken as now. */
const NOW_MS = 60_000;
const departed: Unable = { parameter: "depart_at", problem: "must not be in the past here" };

/** In square metres. The service takes 10,000 square kilometres, by its own measure. */
const SURFACE_MAX = 9_900e6;

type AreaParameters = ParametersOf<"incidents">;

export function tomtom(upstream: Upstream, now: () => number): Services {
  const keyed = { ...upstream, keyParameter: "key" };
  return {
    incidents: jsonService(keyed, {
      unable: unableIncidents,
      request: (parameters) => incidentsRequest(parameters, null),
      answer: (reply, parameters) => {
        return served({
          incidents: foundIn(reply, parameters).map(toIncident).slice(0, parameters.limit),
        });
      },
    }),
    closures: jsonService(keyed, {
      unable: unableIncidents,
      request: (parameters) => incidentsRequest(parameters, ROAD_CLOSED),
      answer: (reply, parameters) => {
        return served({
          closures: foundIn(reply, parameters).map(toClosure).slice(0, parameters.limit),
        });
      },
    }),
    traffic_status: jsonService(keyed, {
      request: ({ lat, lon }) => ({
        path: "/traffic/services/4/flowSegmentData/absolute/10/json",
        query: { point: `${degrees(lat)},${degrees(lon)}`, unit: "KMPH" },
      }),
      answer: (reply) => served({ traffic: toStatus(objectOrEmpty(reply).flowSegmentData) }),
      nothing: (refusal) => {
        return objectOrEmpty(refusal).error === TOO_FAR ? served({ traffic: null }) : null;
      },
    }),
    route_traffic: jsonService(keyed, {
      unable: ({ depart_at }) =>
        depart_at === null || depart_at >= now() - NOW_MS ? null : departed,
      request: ({ from, to, depart_at }) => {
        const ends = [from, to].map(({ lat, lon }) => `${degrees(lat)},${degrees(lon)}`);
        return {
          path: `/routing/1/calculateRoute/${ends.join(":")}/json`,
          query: {
            traffic: true,
            travelMode: "car",
            computeTravelTimeFor: "all",
            departAt: depart_at === null || depart_at < now() ? "now" : localTime(depart_at, 0),
          },
        };
      },
      answer: (reply) => served({ route: toRoute(reply) }),
      nothing: (refusal) => {
        const { code } = objectOrEmpty(objectOrEmpty(refusal).detailedError);
        return NO_ROUTE.has(code) ? served({ route: null }) : null;
      },
    }),
  };
}

function served<Data>(data: Data): { data: Data; attribution: readonly string[] } {
  return { data, attribution: ["Traffic: © TomTom, https://www.tomtom.com"] };
}

function unableIncidents(parameters: AreaParameters): Unable | null {
  const { lang } = parameters;
  const isKnown = lang === null || languageOf(lang) !== null;
  const languages = Object.keys(LANGUAGES).join(", ");
  if (!isKnown) return { parameter: "lang", problem: `must be one of these here: ${languages}` };
  const area = areaOf(parameters);
  const box = boxOf(area);
  if (box === null || surfaceOf(box) <= SURFACE_MAX) return unableArea(area);
  const problem = "must be smaller here: at most 9900 square kilometres, as a box";
  return { parameter: area.box === null ? "radius" : "bbox", problem };
}

function languageOf(lang: string): string | null {
  if (lang === "en-US" || lang === "pt-BR") return lang;
  const base = lang.split("-")[0] ?? lang;
  return Object.hasOwn(LANGUAGES, base) ? (LANGUAGES[base] ?? null) : null;
}

function incidentsRequest(parameters: AreaParameters, category: number | null): UpstreamRequest {
  const { minLon, minLat, maxLon, maxLat } = required(boxOf(areaOf(parameters)), "box");
  return {
    path: "/traffic/services/5/incidentDetails",
    query: {
      bbox: [minLon, minLat, maxLon, maxLat].map(degrees).join(","),
      fields: INCIDENT_FIELDS,
      language: parameters.lang === null ? "en-GB" : languageOf(parameters.lang),
      categoryFilter: category,
      timeValidityFilter: "present",
    },
  };
}

/** The incidents of a reply that touch the area: the request was for the box around it. */
function foundIn(reply: unknown, parameters: AreaParameters): FoundIncident[] {
  const { incidents } = objectOrEmpty(reply);
  const area = areaOf(parameters);
  const all = requiredList(incidents, "incidents", readIncident);
  return all.flatMap((one) => inArea(one, area) ?? []);
}

function readIncident(item: Readonly<Record<string, unknown>>): FoundIncident | null {
  const geometry = objectOrEmpty(item.geometry);
  const isPoint = geometry.type === "Point";
  const points = isPoint ? [geometry.coordinates, geometry.coordinates] : geometry.coordinates;
  const line = lineStringOf(points);
  const first = line?.coordinates[0];
  if (line === null || first === undefined) return null;
  const at = { lat: first[1], lon: first[0] };
  return { properties: objectOrEmpty(item.properties), line: isPoint ? null : line, at };
}

function inArea(found: FoundIncident, area: Area): FoundIncident | null {
  // For a box, the server has selected the incidents.
  if (area.box !== null) return found;
  const points = found.line?.coordinates.map(([lon, lat]) => ({ lat, lon })) ?? [found.at];
  const at = points.find((point) => isInside(area, point));
  return at === undefined ? null : { ...found, at };
}

/** A missing departure or arrival is computed from the other time and the duration. */
function timesOf(summary: Json, duration: number): { departure: string; arrival: string } {
  const departure = offsetTime(summary.departureTime);
  const arrival = offsetTime(summary.arrivalTime);
  return {
    departure: departure ?? later(required(arrival, "departureTime"), -duration),
    arrival: arrival ?? later(required(departure, "arrivalTime"), duration),
  };
}

/** The time so many seconds later, with the same offset. */
function later(time: string, seconds: number): string {
  return localTime(Date.parse(time) + seconds * 1_000, offsetAtEnd(time));
}

function toRoute(reply: unknown): TrafficRouteAnswer {
  const { routes } = objectOrEmpty(reply);
  const [route] = requiredList(routes, "routes", (item) => item);
  if (route === undefined) throw new RouteFailure("The reply has no route");
  const summary = objectOrEmpty(route.summary);
  const duration = required(wholeOf(summary.travelTimeInSeconds), "travelTimeInSeconds");
  const freeFlow = wholeOf(summary.noTrafficTravelTimeInSeconds);
  // The service's own figure excludes the usual delay at that hour.
  const delay = freeFlow === null ? wholeOf(summary.trafficDelayInSeconds) : duration - freeFlow;
  const legs = requiredList(route.legs, "legs", ({ points }) =>
    lineStringOf(points, (point) => {
      const { latitude, longitude } = objectOrEmpty(point);
      return positionOf(latitude, longitude);
    }),
  );
  return {
    distance_m: required(wholeOf(summary.lengthInMeters), "lengthInMeters"),
    duration_s: duration,
    traffic_delay_s: delay === null ? null : Math.max(0, delay),
    free_flow_duration_s: freeFlow,
    ...timesOf(summary, duration),
    geometry: { type: "LineString", coordinates: legs.flatMap(({ coordinates }) => coordinates) },
  };
}
