// Tests that a kind refuses a parameter that its server cannot honour, before any request.

import { describe, expect, test } from "bun:test";
import type { MapsAction } from "../../../../../src/services/maps/actions.ts";
import { remoteServers } from "../../../../../src/services/maps/providers/remote/remote-servers.ts";
import {
  KIND_ACTIONS,
  MAPS_KINDS,
  type MapsKind,
} from "../../../../../src/services/maps/servers.ts";
import {
  CASES,
  NOW_MS,
  parametersOf,
  serverOf,
  serviceOf,
} from "../../../../support/fakes/maps-cases.ts";
import { upstreamFetch } from "../../../../support/fakes/upstream-fetch.ts";

const at = "lat=52.5&lon=13.4";
const ends = "from=52.5,13.4&to=52.52,13.42";
const image = `${at}&zoom=3`;

/** The parameter that is refused, or null. */
function refused(kind: MapsKind, action: MapsAction, query: string, baseUrl = "http://x"): unknown {
  const server = { ...serverOf(kind, baseUrl), ...(baseUrl === "http://x" ? {} : { baseUrl }) };
  const unable = serviceOf(server, action).unable?.(parametersOf(action, query)) ?? null;
  return unable?.parameter ?? null;
}

test("every kind serves the actions that the configuration allows, and no more", () => {
  for (const kind of MAPS_KINDS) {
    const services = remoteServers({ now: () => NOW_MS })(serverOf(kind, "http://x"), {
      fetch: upstreamFetch,
    });
    expect(Object.keys(services).toSorted()).toEqual([...KIND_ACTIONS[kind]].toSorted());
  }
});

test("every kind and action has a case", () => {
  const all = MAPS_KINDS.flatMap((kind) => KIND_ACTIONS[kind].map((action) => `${kind} ${action}`));
  const cases = CASES.map(({ kind, action }) => `${kind} ${action}`);
  expect(cases.toSorted()).toEqual(all.toSorted());
});

describe("is refused", () => {
  const rows: readonly (readonly [MapsKind, MapsAction, string, string, string?])[] = [
    ["overpass", "road_classes", "bbox=-10,40,10,60", "bbox"],
    ["overpass", "closures", "bbox=13,-60,13.1,60", "bbox"],
    ["overpass", "speed_cameras", "lat=52&lon=179.999&radius=5000", "radius"],
    ["overpass", "speed_cameras", "lat=89.99&lon=0&radius=5000", "radius"],
    ["osrm", "route", `${ends}&mode=foot`, "mode"],
    ["osrm", "route", `${ends}&steps=true&lang=de`, "lang"],
    ["valhalla", "route", `${ends}&steps=true&lang=eo`, "lang"],
    ["valhalla", "road_classes", "bbox=13.3,52.4,13.5,52.6", "bbox"],
    ["valhalla", "road_classes", at, "radius"],
    ["valhalla", "road_classes", `${at}&radius=201`, "radius"],
    ["motis", "stops", "lat=-17&lon=180&radius=500", "radius"],
    ["motis", "departures", "stop_id=x~zz", "stop_id"],
    ["motis", "journey", "from=52.5,13.4&to=x~E4", "to"],
    ["tomtom", "incidents", "bbox=-10,40,10,60", "bbox"],
    ["tomtom", "incidents", `${at}&lang=eo`, "lang"],
    ["tomtom", "incidents", `${at}&radius=50000`, "radius"],
    ["tomtom", "closures", "bbox=13,-0.449,13.899,0.449", "bbox"],
    ["tomtom", "route_traffic", `${ends}&depart_at=2026-11-21T06:58:59Z`, "depart_at"],
    ["tileserver-gl", "site_image", `${image}&style=dark`, "style"],
    ["tileserver-gl", "site_image", "lat=86&lon=0", "lat"],
    ["static-map", "site_image", image, "width", "http://x/{lat}/{lon}/{zoom}/{height}"],
    [
      "static-map",
      "site_image",
      image,
      "marker",
      "http://x/{lat},{lon},{zoom},{width}x{height}.png",
    ],
    [
      "static-map",
      "site_image",
      `${image}&marker=false&style=dark`,
      "style",
      "http://x/{lat},{lon},{zoom},{width}x{height}.png",
    ],
  ];
  for (const [kind, action, query, parameter, baseUrl] of rows) {
    test(`${parameter} by ${kind}, for ${action} with ${query}`, () => {
      expect(refused(kind, action, query, baseUrl)).toBe(parameter);
    });
  }
});

describe("is honoured", () => {
  const rows: readonly (readonly [MapsKind, MapsAction, string, string?])[] = [
    ["overpass", "road_classes", "bbox=13,52,14,52.8"],
    ["overpass", "speed_cameras", `${at}&radius=50000`],
    ["osrm", "route", `${ends}&lang=de`],
    ["osrm", "route", `${ends}&steps=true&lang=en-GB`],
    ["osrm", "route", `${ends}&mode=foot`, "http://x/routed-{mode}"],
    ["osrm", "route", `${ends}&mode=foot`, "http://x/routed-%7Bmode%7D"],
    ["valhalla", "route", `${ends}&lang=eo`],
    ["valhalla", "road_classes", `${at}&radius=200`],
    ["tomtom", "closures", `${at}&lang=de-AT`],
    ["tomtom", "incidents", `${at}&radius=49000`],
    ["tomtom", "closures", "bbox=13,52,14.4,52.89"],
    ["tomtom", "route_traffic", `${ends}&depart_at=2026-11-21T06:59:30Z`],
    ["tileserver-gl", "site_image", `${image}&style=dark`, "http://x/styles/{style}"],
    ["static-map", "site_image", `${image}&style=dark`],
  ];
  for (const [kind, action, query, baseUrl] of rows) {
    test(`all by ${kind}, for ${action} with ${query}`, () => {
      expect(refused(kind, action, query, baseUrl)).toBeNull();
    });
  }
});

test("a refusal never repeats a value, and reads as a sentence after the parameter's name", () => {
  const parameters = parametersOf("incidents", "bbox=-10.25,40,10,60&lang=eo");
  const unable = serviceOf(serverOf("tomtom", "http://x"), "incidents").unable?.(parameters);
  expect(unable?.problem).toStartWith("must ");
  expect(JSON.stringify(unable)).not.toMatch(/eo\b|10\.25/);
});
