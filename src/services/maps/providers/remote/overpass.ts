// Overpass: data that OpenStreetMap tags. The base URL is the one before `/api/interpreter`. A
// query never contains a caller's text: only numbers, and words from this file.

import type { Area } from "../../../../annexes/atlas/geography.ts";
import { isObject } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { areaOf } from "../../actions.ts";
import type { Services } from "../provider.ts";
import { OPENSTREETMAP, tooManyWithin, unableArea } from "./openstreetmap.ts";
import {
  element,
  type OsmElement,
  toCamera,
  toClosure,
  toLine,
  toPoi,
  toRoad,
} from "./overpass-elements.ts";
import { POI_TAGS } from "./poi-tags.ts";
import { nearestFirst, requiredList } from "./read.ts";
import { distinctLines } from "./transit-modes.ts";
import {
  degrees,
  jsonService,
  type Upstream,
  type UpstreamRequest,
  unableFailure,
} from "./upstream.ts";

/** The nearest ones are known only after all have arrived; an area with more is not served. */
const POIS_MAX = 5_000;
/** Each direction and variant of a line is an element; the limit counts elements. */
const LINES_MAX = 5_000;
const ROUTES = "bus|trolleybus|tram|light_rail|subway|train|ferry|monorail|funicular|aerialway";
const ROADS = "motorway|trunk|primary|secondary|tertiary|unclassified|residential|living_street";
/** Ways that are not yet roads, or no longer. */
const NO_ROADS = "construction|proposed|planned|abandoned|razed|platform|corridor|elevator";

export function overpass(upstream: Upstream): Services {
  const query = (statements: string): UpstreamRequest => requestOf(upstream, statements);
  return {
    poi: jsonService(upstream, {
      request: ({ lat, lon, radius, category }) => {
        const [key, value] = POI_TAGS[category];
        const where = within({ around: { lat, lon }, radius, box: null });
        return query(`nwr["${key}"="${value}"]${where};out tags center ${POIS_MAX};`);
      },
      answer: (reply, at) => {
        const pois = elementsOf(reply, POIS_MAX).flatMap((item) => toPoi(item, at) ?? []);
        return served({ pois: nearestFirst(pois, (poi) => poi.distance_m, at.limit) });
      },
    }),
    speed_cameras: jsonService(upstream, {
      unable: (parameters) => unableArea(areaOf(parameters)),
      request: (parameters) => {
        const where = within(areaOf(parameters));
        return query(`node["highway"="speed_camera"]${where};out body ${parameters.limit};`);
      },
      answer: (reply) =>
        served({ cameras: elementsOf(reply).flatMap((item) => toCamera(item) ?? []) }),
    }),
    road_classes: jsonService(upstream, {
      unable: (parameters) => unableArea(areaOf(parameters)),
      request: (parameters) => {
        const ways = `way["highway"]["highway"!~"^(${NO_ROADS})$"]`;
        return query(`${ways}${within(areaOf(parameters))};out tags geom ${parameters.limit};`);
      },
      answer: (reply) => served({ roads: elementsOf(reply).map(toRoad) }),
    }),
    closures: jsonService(upstream, {
      unable: (parameters) => unableArea(areaOf(parameters)),
      request: (parameters) => {
        const where = within(areaOf(parameters));
        const roads = `way["highway"~"^(${ROADS})(_link)?$"]`;
        const closed = `${roads}[~"^(access|vehicle|motor_vehicle)$"~"^no$"]${where};`;
        const building = `way["highway"="construction"]${where};`;
        return query(`(${building}${closed});out tags geom ${parameters.limit};`);
      },
      answer: (reply, { lang }) => {
        const closures = elementsOf(reply).flatMap((item) => toClosure(item, lang) ?? []);
        return served({ closures });
      },
    }),
    transit: jsonService(upstream, {
      request: ({ lat, lon, radius }) => {
        const where = within({ around: { lat, lon }, radius, box: null });
        const lines = `relation["type"="route"]["route"~"^(${ROUTES})$"]${where}`;
        return query(`${lines};out tags ${LINES_MAX};`);
      },
      answer: (reply, { limit, lang }) => {
        const lines = elementsOf(reply, LINES_MAX).flatMap((item) => toLine(item, lang) ?? []);
        return served({ lines: distinctLines(lines).slice(0, limit) });
      },
    }),
  };
}

function served<Data>(data: Data): { data: Data; attribution: readonly string[] } {
  return { data, attribution: [OPENSTREETMAP] };
}

function requestOf({ server }: Upstream, statements: string): UpstreamRequest {
  const seconds = Math.max(1, Math.floor(server.timeoutMs / 1_000));
  const data = `[out:json][timeout:${seconds}];${statements}`;
  return {
    path: "/api/interpreter",
    body: { type: "application/x-www-form-urlencoded", text: `${new URLSearchParams({ data })}` },
  };
}

/** The clause that selects the elements in an area. */
function within(area: Area): string {
  if (area.box !== null) {
    const { minLon, minLat, maxLon, maxLat } = area.box;
    return `(${[minLat, minLon, maxLat, maxLon].map(degrees).join(",")})`;
  }
  const { lat, lon } = area.around;
  return `(around:${area.radius},${degrees(lat)},${degrees(lon)})`;
}

/**
 * The elements of a reply. If `most` were requested and that many came, some may be missing, so it
 * throws.
 */
function elementsOf(reply: unknown, most = Number.POSITIVE_INFINITY): OsmElement[] {
  if (!isObject(reply)) throw new RouteFailure("The reply is no object");
  // If a query ran out of time or memory, its partial result comes with status 200.
  if (typeof reply.remark === "string" && /error|timed out/i.test(reply.remark)) {
    throw new RouteFailure("The server gave the query up", "nobody");
  }
  if (Array.isArray(reply.elements) && reply.elements.length >= most) {
    throw unableFailure(tooManyWithin);
  }
  return requiredList(reply.elements, "elements", element);
}
