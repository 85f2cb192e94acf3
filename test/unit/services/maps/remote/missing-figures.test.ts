// Tests that an answer lacks only the figures that the reply lacks. Required are only positions,
// ids and the main figures of an answer.

import { expect, test } from "bun:test";
import { distance, type Position } from "../../../../../src/annexes/atlas/geography.ts";
import { RouteFailure } from "../../../../../src/upstream/route-failure.ts";
import { CASES } from "../../../../support/fakes/maps-cases.ts";
import {
  OPEN_METEO,
  TANKERKOENIG_STATIONS,
  TOMTOM_ROUTE,
} from "../../../../support/fakes/maps-fixtures/live.ts";
import { MOTIS_PLAN } from "../../../../support/fakes/maps-fixtures/motis.ts";
import { shared } from "../../../../support/shared.ts";
import { startMapping } from "./mapping-harness.ts";

const mapping = await shared(startMapping());

type Path = readonly (string | number)[];

/** The paths of the numbers in a reply, also of numbers as text. */
function figuresIn(value: unknown, path: Path = []): Path[] {
  if (typeof value === "number") return [path];
  if (typeof value === "string") return /^-?\d+(\.\d+)?$/.test(value) ? [path] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    figuresIn(item, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** A copy of a reply with null at a path. */
function without(value: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return null;
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === name ? without(item, rest) : item));
  }
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [name]: without(fields[name], rest) };
}

/** The lengths of all lists in an answer: they show if an item is lost. */
function listsIn(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).map(listsIn);
  return Array.isArray(value) ? [value.length, ...inner] : inner;
}

const LEG_ENDS = ["from.lat", "from.lon", "to.lat", "to.lon"].map(
  (name) => `itineraries.*.legs.*.${name}`,
);

/** The figures without which an item or the answer is lost. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "nominatim geocode": ["*.lat", "*.lon"],
  "nominatim reverse": ["lat", "lon"],
  "nominatim place_at": ["lat", "lon"],
  "photon geocode": ["features.*.geometry.coordinates.*"],
  "overpass poi": ["id", "center.lat", "center.lon", "lat", "lon"].map(
    (name) => `elements.*.${name}`,
  ),
  "overpass speed_cameras": ["elements.*.id", "elements.*.lat", "elements.*.lon"],
  "overpass road_classes": ["elements.*.id"],
  "overpass closures": ["elements.*.id"],
  "overpass transit": ["elements.*.id", "elements.*.tags.ref"],
  "osrm route": [
    "routes.*.distance",
    "routes.*.duration",
    "routes.*.legs.*.steps.*.maneuver.location.*",
  ],
  "valhalla route": [
    "trip.legs.*.maneuvers.*.begin_shape_index",
    "trip.summary.time",
    "trip.summary.length",
    "trip.status",
  ],
  // The id of a road distinguishes it from other roads.
  "valhalla road_classes": ["*.edges.*.edge_info.way_id"],
  "motis stops": ["*.lat", "*.lon"],
  "motis departures": ["stopTimes.*.displayName"],
  "motis journey": LEG_ENDS,
  "motis rail": LEG_ENDS,
  "motis transit": ["routes.*.segments.*.from", "stops.*.lat", "stops.*.lon"],
  "open-meteo weather": ["utc_offset_seconds", "current.time", "daily.time.*"],
  "tomtom incidents": ["incidents.*.geometry.coordinates.*.*"],
  "tomtom closures": ["incidents.*.geometry.coordinates.*.*", "incidents.*.geometry.coordinates.*"],
  "tomtom traffic_status": ["flowSegmentData.currentSpeed", "flowSegmentData.freeFlowSpeed"],
  "tomtom route_traffic": [
    "routes.*.summary.lengthInMeters",
    "routes.*.summary.travelTimeInSeconds",
    // The legs of the recorded answer have two points.
    "routes.*.legs.*.points.*.latitude",
    "routes.*.legs.*.points.*.longitude",
  ],
  "tankerkoenig fuel_prices": ["stations.*.lat", "stations.*.lng"],
  "panoramax site_images": ["features.*.geometry.coordinates.*"],
};

/** An answer without the lines of its map, which may lack some of their points. */
function withoutLines(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutLines);
  const fields = Object.entries(value).filter(([name]) => name !== "geometry");
  return Object.fromEntries(fields.map(([name, item]) => [name, withoutLines(item)]));
}

for (const one of CASES) {
  if (one.reply instanceof Uint8Array) continue;
  const name = `${one.kind} ${one.action}`;
  test(`a reply of ${name} without one of its figures loses only that figure`, async () => {
    const whole = listsIn(withoutLines(await mapping.answered(one)));
    const lost = new Set<string>();
    for (const path of figuresIn(one.reply)) {
      const reply = without(one.reply, path) as Record<string, unknown>;
      const data = await mapping.answered({ ...one, reply }).catch((error: unknown) => error);
      if (!(data instanceof Error)) {
        if (Bun.deepEquals(listsIn(withoutLines(data)), whole)) continue;
      }
      lost.add(path.map((part) => (typeof part === "number" ? "*" : part)).join("."));
    }
    expect([...lost]).toEqual([...(REQUIRED[name] ?? [])]);
  });
}

test("a weather without the current temperature has all other figures", async () => {
  const row = {
    kind: "open-meteo",
    action: "weather",
    query: "lat=52.52&lon=13.42&days=2",
  } as const;
  const current = { ...OPEN_METEO.current, temperature_2m: null };
  const { temperature_2m: _, ...absent } = OPEN_METEO.current;
  const whole = (await mapping.answered({ ...row, reply: OPEN_METEO })) as { current: object };
  for (const one of [current, absent]) {
    const data = await mapping.answered({ ...row, reply: { ...OPEN_METEO, current: one } });
    expect(data).toEqual({ ...whole, current: { ...whole.current, temperature_c: null } });
  }
  const { time } = OPEN_METEO.current;
  const none = { ...OPEN_METEO, current: { time }, daily: { time: OPEN_METEO.daily.time } };
  await expect(mapping.answered({ ...row, reply: none })).rejects.toBeInstanceOf(RouteFailure);
});

test("a journey without durations gets the durations between its times", async () => {
  const row = { kind: "motis", action: "journey", query: "from=48.4,9.98&to=x_1" } as const;
  const itineraries = MOTIS_PLAN.itineraries.map((one) => ({
    ...one,
    duration: null,
    transfers: null,
    legs: one.legs.map((leg) => ({ ...leg, duration: null })),
  }));
  expect(await mapping.answered({ ...row, reply: { itineraries } })).toMatchObject({
    journeys: [
      { duration_s: 1_500, transfers: 0, legs: [{ duration_s: 300 }, { duration_s: 1_140 }] },
    ],
  });
});

test("a filling station without its distance gets the distance of its position", async () => {
  const query = "lat=52.521&lon=13.438&radius=1500";
  const row = { kind: "tankerkoenig", action: "fuel_prices", query } as const;
  const reply = {
    ...TANKERKOENIG_STATIONS,
    stations: TANKERKOENIG_STATIONS.stations.map((one) => ({ ...one, dist: null })),
  };
  const data = (await mapping.answered({ ...row, reply })) as {
    stations: (Position & { distance_m: number })[];
  };
  expect(data.stations).toHaveLength(reply.stations.length);
  for (const { distance_m, ...at } of data.stations) {
    expect(distance_m).toBe(Math.round(distance({ lat: 52.521, lon: 13.438 }, at)));
  }
});

test("a missing departure or arrival with traffic is computed from the other time", async () => {
  const query = "from=52.5,13.4&to=52.52,13.42";
  const row = { kind: "tomtom", action: "route_traffic", query } as const;
  const [route] = TOMTOM_ROUTE.routes;
  const summary = { ...route?.summary, travelTimeInSeconds: 90 };
  const timesOf = async (more: object) => {
    const routes = [{ ...route, summary: { ...summary, ...more } }];
    const data = await mapping.answered({ ...row, reply: { routes } });
    const { departure, arrival } = (data as { route: Record<string, string> }).route;
    return [departure, arrival];
  };
  const departureTime = "2026-11-21T08:00:00+01:00";
  const arrivalTime = "2026-11-21T08:01:30+01:00";
  const both = [departureTime, arrivalTime];
  expect(await timesOf({ departureTime, arrivalTime: null })).toEqual(both);
  expect(await timesOf({ departureTime: null, arrivalTime })).toEqual(both);
  await expect(timesOf({ departureTime: null, arrivalTime: null })).rejects.toBeInstanceOf(
    RouteFailure,
  );
});
