// OSRM: routes. One server has the network of one means of travel, whatever the address says. So
// the base URL, the part before `/route`, either contains the placeholder {mode} or is for cars.

import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import type { RouteAnswer, RouteStep } from "../../road-answers.ts";
import type { MapsAnswer, Services } from "../provider.ts";
import { OPENSTREETMAP } from "./openstreetmap.ts";
import { instructionOf } from "./osrm-instruction.ts";
import { lineStringOf, pointOf, readItems, required, textOrNull, wholeOf } from "./read.ts";
import { degrees, jsonService, type Upstream } from "./upstream.ts";

// The URL standard encodes the braces of a base URL.
const MODE = /\{mode\}|%7bmode%7d/i;
const PROFILES = { car: "driving", bicycle: "cycling", foot: "walking" } as const;
type Mode = keyof typeof PROFILES;

export function osrm(upstream: Upstream): Services {
  const { baseUrl } = upstream.server;
  const isTemplate = MODE.test(baseUrl);
  const service = (mode: Mode) => {
    const server = { ...upstream.server, baseUrl: baseUrl.replace(MODE, mode) };
    return jsonService<"route">(
      { ...upstream, server },
      {
        request: ({ from, to, steps }) => ({
          path: `/route/v1/${PROFILES[mode]}/${[from, to].map(lonLat).join(";")}`,
          query: { overview: "full", geometries: "geojson", steps },
        }),
        answer: (reply, { steps }) => served(toRoute(reply, steps)),
        nothing: (refusal) => {
          const { code } = objectOrEmpty(refusal);
          return code === "NoRoute" || code === "NoSegment" ? served(null) : null;
        },
      },
    );
  };
  const byMode = { car: service("car"), bicycle: service("bicycle"), foot: service("foot") };
  return {
    route: {
      unable: ({ mode, steps, lang }) => {
        if (mode !== "car" && !isTemplate)
          return { parameter: "mode", problem: "must be car here" };
        if (!steps || lang === null || lang.split("-")[0] === "en") return null;
        return { parameter: "lang", problem: "must be en here, for the instructions of steps" };
      },
      ask: (parameters, options) => byMode[parameters.mode].ask(parameters, options),
    },
  };
}

function served(route: RouteAnswer | null): MapsAnswer<"route"> {
  return { data: { route }, attribution: [OPENSTREETMAP] };
}

function lonLat({ lat, lon }: { readonly lat: number; readonly lon: number }): string {
  return `${degrees(lon)},${degrees(lat)}`;
}

function toRoute(reply: unknown, withSteps: boolean): RouteAnswer {
  const { code, routes } = objectOrEmpty(reply);
  if (code !== "Ok") throw new RouteFailure("The reply is no route");
  const route = objectOrEmpty(Array.isArray(routes) ? routes[0] : null);
  return {
    distance_m: required(wholeOf(route.distance), "distance"),
    duration_s: required(wholeOf(route.duration), "duration"),
    geometry: required(lineStringOf(objectOrEmpty(route.geometry).coordinates), "geometry"),
    steps: withSteps ? readItems(route.legs, (leg) => readItems(leg.steps, toStep)).flat() : null,
  };
}

function toStep(step: Json): RouteStep | null {
  const maneuver = objectOrEmpty(step.maneuver);
  const at = pointOf(maneuver.location);
  if (at === null) return null;
  const road = textOrNull(step.name) ?? textOrNull(step.ref, 60);
  return {
    instruction: instructionOf(maneuver, road),
    road,
    distance_m: wholeOf(step.distance),
    duration_s: wholeOf(step.duration),
    at,
  };
}
