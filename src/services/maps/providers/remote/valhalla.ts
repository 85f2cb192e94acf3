// Valhalla: routes, and the roads near a position. The base URL is the one before `/route`.

import type { LineString, Position } from "../../../../annexes/atlas/geography.ts";
import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { areaOf, type ParametersOf } from "../../actions.ts";
import type { RoadAnswer, RouteAnswer, RouteStep } from "../../road-answers.ts";
import type { MapsAnswer, Services, Unable } from "../provider.ts";
import { OPENSTREETMAP, roadClassOf } from "./openstreetmap.ts";
import { decodePolyline } from "./polyline.ts";
import {
  countOf,
  lookUp,
  numberOf,
  readItems,
  required,
  requiredList,
  textOrNull,
  wholeOf,
} from "./read.ts";
import { jsonService, type Upstream, type UpstreamRequest } from "./upstream.ts";

const COSTINGS = { car: "auto", bicycle: "bicycle", foot: "pedestrian" } as const;
/** The languages of its instructions; for any other it would use English. */
const LANGUAGES: ReadonlySet<string> = new Set(
  "bg ca cs da de el en es et fi fr hi hu it ja nb nl pl pt ro ru sk sl sv tr uk vi".split(" "),
);
const REGIONS: ReadonlySet<string> = new Set(["en-GB", "en-US", "pt-BR", "pt-PT"]);
/**
 * The default of Valhalla's own configuration; an operator may have raised it:
 * `service_limits.max_radius`.
 */
const RADIUS_MAX = 200;
/**
 * Errors for two regions without a road between them, and for positions without a road or a route.
 */
const NOTHING: ReadonlySet<unknown> = new Set([170, 171, 442]);
/** The error for ends that are farther apart than the server's `max_distance`. */
const TOO_FAR = 154;
const unableToGo: Unable = {
  parameter: "to",
  problem: "must be nearer to where the route begins",
};
const METRES: Readonly<Record<string, number>> = { kilometers: 1_000, miles: 1_609.344 };

export function valhalla(upstream: Upstream): Services {
  return {
    route: jsonService(upstream, {
      unable: ({ steps, lang }) => (steps ? unableLanguage(lang) : null),
      request: ({ from, to, mode, lang }) =>
        posted("/route", {
          locations: [from, to],
          costing: COSTINGS[mode],
          units: "kilometers",
          ...(lang === null || unableLanguage(lang) !== null ? {} : { language: languageOf(lang) }),
        }),
      answer: (reply, { steps }) => routed(toRoute(reply, steps)),
      nothing: (refusal) => (hasNothing(refusal) ? routed(null) : null),
      unableBy: (refusal) => (objectOrEmpty(refusal).error_code === TOO_FAR ? unableToGo : null),
    }),
    road_classes: jsonService(upstream, {
      unable: unableRoads,
      request: (parameters) =>
        posted("/locate", {
          locations: [
            { ...required(areaOf(parameters).around, "centre"), radius: parameters.radius },
          ],
          costing: "auto",
          verbose: true,
        }),
      answer: (reply, { limit }) => roads(toRoads(reply).slice(0, limit)),
      nothing: (refusal) => (hasNothing(refusal) ? roads([]) : null),
    }),
  };
}

function routed(route: RouteAnswer | null): MapsAnswer<"route"> {
  return { data: { route }, attribution: [OPENSTREETMAP] };
}

function roads(found: readonly RoadAnswer[]): MapsAnswer<"road_classes"> {
  return { data: { roads: found }, attribution: [OPENSTREETMAP] };
}

function posted(path: string, body: object): UpstreamRequest {
  return { path, body: { type: "application/json", text: JSON.stringify(body) } };
}

function hasNothing(refusal: unknown): boolean {
  return NOTHING.has(objectOrEmpty(refusal).error_code);
}

function unableLanguage(lang: string | null): Unable | null {
  if (lang === null || LANGUAGES.has(lang.split("-")[0] ?? "")) return null;
  return { parameter: "lang", problem: `must be one of these here: ${[...LANGUAGES].join(", ")}` };
}

function languageOf(lang: string): string {
  return REGIONS.has(lang) ? lang : (lang.split("-")[0] ?? lang);
}

function unableRoads({ bbox, radius }: ParametersOf<"road_classes">): Unable | null {
  if (bbox !== null) return { parameter: "bbox", problem: "must be lat, lon and radius here" };
  if (radius !== null && radius <= RADIUS_MAX) return null;
  return { parameter: "radius", problem: `must be given, and at most ${RADIUS_MAX}, here` };
}

function toRoute(reply: unknown, withSteps: boolean): RouteAnswer {
  const trip = objectOrEmpty(objectOrEmpty(reply).trip);
  const metres = lookUp(METRES, trip.units);
  if (trip.status !== 0 || metres === null) throw new RouteFailure("The reply is no route");
  const legs = requiredList(trip.legs, "legs", (leg) => toLeg(leg, metres));
  const summary = objectOrEmpty(trip.summary);
  const coordinates = legs.flatMap(({ line }, index) =>
    line.coordinates.slice(index === 0 ? 0 : 1),
  );
  return {
    distance_m: Math.round(required(countOf(summary.length), "length") * metres),
    duration_s: Math.round(required(countOf(summary.time), "time")),
    geometry: { type: "LineString", coordinates },
    steps: withSteps ? legs.flatMap(({ steps }) => steps) : null,
  };
}

function toLeg(leg: Json, metres: number): { line: LineString; steps: RouteStep[] } | null {
  const line = decodePolyline(leg.shape);
  if (line === null) return null;
  return { line, steps: readItems(leg.maneuvers, (maneuver) => toStep(maneuver, line, metres)) };
}

function toStep(maneuver: Json, line: LineString, metres: number): RouteStep | null {
  const instruction = textOrNull(maneuver.instruction, 500);
  const length = countOf(maneuver.length);
  const at = positionAt(line, maneuver.begin_shape_index);
  if (instruction === null || at === null) return null;
  return {
    instruction,
    road: firstText(maneuver.street_names),
    distance_m: length === null ? null : Math.round(length * metres),
    duration_s: wholeOf(maneuver.time),
    at,
  };
}

function positionAt({ coordinates }: LineString, index: unknown): Position | null {
  const point = typeof index === "number" ? coordinates[index] : undefined;
  return point === undefined ? null : { lat: point[1], lon: point[0] };
}

function firstText(value: unknown): string | null {
  return Array.isArray(value) ? textOrNull(value[0]) : null;
}

function toRoads(reply: unknown): RoadAnswer[] {
  const [found] = requiredList(reply, "positions", (item) => item);
  if (found?.edges === null || found === undefined) return [];
  const seen = new Set<unknown>();
  return requiredList(found.edges, "edges", (edge) => {
    const way = objectOrEmpty(edge.edge_info).way_id;
    // Each direction of a road is an edge of its own; keep one.
    if (seen.has(way)) return null;
    if (typeof way === "number") seen.add(way);
    return toRoad(edge);
  });
}

function toRoad(found: Json): RoadAnswer | null {
  const edge = objectOrEmpty(found.edge);
  const info = objectOrEmpty(found.edge_info);
  const { classification, surface } = objectOrEmpty(edge.classification);
  if (typeof classification !== "string") return null;
  const names = Array.isArray(info.names) ? info.names.map((name) => textOrNull(name)) : [];
  return {
    road_class: roadClassOf(classification),
    name: names[0] ?? null,
    ref: null,
    // Zero means an unknown limit; a value above any real limit means none.
    speed_limit_kmh: numberOf(info.speed_limit ?? edge.speed_limit, 1, 200),
    // An edge is one direction, and does not show if the other direction exists.
    oneway: null,
    surface: textOrNull(surface, 60),
    lanes: numberOf(edge.lane_count, 1, 30),
    geometry: decodePolyline(info.shape),
  };
}
