// Tests that "nothing found" is an answer, in any form of an upstream; an error is not.

import { describe, expect, test } from "bun:test";
import type { MapsAction } from "../../../../../src/services/maps/actions.ts";
import type { MapsKind } from "../../../../../src/services/maps/servers.ts";
import { RouteFailure } from "../../../../../src/upstream/route-failure.ts";
import { CASES, type Case } from "../../../../support/fakes/maps-cases.ts";
import { NOMINATIM_NOTHING } from "../../../../support/fakes/maps-fixtures/geocoders.ts";
import {
  OPEN_METEO,
  TANKERKOENIG_ERROR,
  TANKERKOENIG_STATIONS,
  TOMTOM_NO_ROUTE,
  TOMTOM_TOO_FAR,
} from "../../../../support/fakes/maps-fixtures/live.ts";
import {
  MOTIS_PLAN,
  MOTIS_ROUTES,
  MOTIS_STOPS,
  MOTIS_UNKNOWN,
} from "../../../../support/fakes/maps-fixtures/motis.ts";
import {
  OSRM_NO_ROUTE,
  OSRM_ROUTE,
  OVERPASS_POIS,
  OVERPASS_REMARK,
  VALHALLA_NO_ROUTE,
  VALHALLA_ROADS,
  VALHALLA_ROUTE,
} from "../../../../support/fakes/maps-fixtures/openstreetmap.ts";
import { shared } from "../../../../support/shared.ts";
import { startMapping } from "./mapping-harness.ts";

const mapping = await shared(startMapping());

const at = "lat=52.5&lon=13.4";
const ends = "from=52.5,13.4&to=52.52,13.42";
const NO_EDGES = [{ input_lat: 52.5, input_lon: 13.4, nodes: null, edges: null }];

interface NothingFoundCase extends Case {
  readonly data: object;
  readonly status: number;
}

/** A query to an action of a server, by both names; the server's reply, and its result. */
function row(
  name: `${MapsKind} ${MapsAction}`,
  query: string,
  reply: object,
  data: object,
  status = 200,
): NothingFoundCase {
  const [kind, action] = name.split(" ") as [MapsKind, MapsAction];
  return { kind, action, query, reply, data, status };
}

const NOTHING: readonly NothingFoundCase[] = [
  row("nominatim geocode", "query=x", [], { places: [] }),
  row("nominatim reverse", at, NOMINATIM_NOTHING, { place: null }),
  row("photon geocode", "query=x", { features: [] }, { places: [] }),
  row("photon reverse", at, { features: [] }, { place: null }),
  row("overpass speed_cameras", at, { elements: [] }, { cameras: [] }),
  row("osrm route", ends, OSRM_NO_ROUTE, { route: null }, 400),
  row("osrm route", ends, { code: "NoSegment" }, { route: null }, 400),
  row("valhalla route", ends, VALHALLA_NO_ROUTE, { route: null }, 400),
  row("valhalla route", ends, { error_code: 171 }, { route: null }, 400),
  row("valhalla route", ends, { error_code: 170 }, { route: null }, 400),
  row("valhalla road_classes", `${at}&radius=50`, NO_EDGES, { roads: [] }),
  row("motis stops", at, [], { stops: [] }),
  row("motis departures", "stop_id=x", MOTIS_UNKNOWN, { departures: [] }, 404),
  row("motis journey", "from=x&to=y", MOTIS_UNKNOWN, { journeys: [] }, 404),
  row("tomtom incidents", at, { incidents: [] }, { incidents: [] }),
  row("tomtom traffic_status", at, TOMTOM_TOO_FAR, { traffic: null }, 400),
  row("tomtom route_traffic", ends, TOMTOM_NO_ROUTE, { route: null }, 400),
  row("tankerkoenig fuel_prices", at, { ok: true, stations: [] }, { stations: [] }),
  row("panoramax site_images", at, { features: [] }, { images: [] }),
];

describe("nothing found is an answer", () => {
  for (const one of NOTHING) {
    const { kind, action, status, data } = one;
    test(`of ${kind} to ${action}: ${JSON.stringify(one.reply).slice(0, 40)}`, async () => {
      expect(await mapping.answered(one, status)).toEqual(data);
    });
  }
});

describe("a reply that is not an answer", () => {
  async function failureOf(row: Case, status = 200): Promise<unknown> {
    return await mapping.answered(row, status).catch((error: unknown) => error);
  }

  test("of Overpass: the results before it ran out of time", async () => {
    const row = {
      kind: "overpass",
      action: "closures",
      query: at,
      reply: OVERPASS_REMARK,
    } as const;
    expect(await failureOf(row)).toMatchObject({ name: "RouteFailure", blames: "nobody" });
  });

  test("of Overpass: more results than could be sorted", async () => {
    const [, node] = OVERPASS_POIS.elements;
    const reply = { elements: Array.from({ length: 5_000 }, () => node) };
    const row = { kind: "overpass", action: "poi", query: `${at}&category=cafe`, reply } as const;
    expect(await failureOf(row)).toMatchObject({ name: "RouteFailure", blames: "nobody" });
  });

  test("of Tankerkönig: an error with status 200", async () => {
    const row = { kind: "tankerkoenig", action: "fuel_prices", query: at } as const;
    expect(await failureOf({ ...row, reply: TANKERKOENIG_ERROR })).toBeInstanceOf(RouteFailure);
  });

  test("of MOTIS: a missing address", async () => {
    const row = { kind: "motis", action: "departures", query: "stop_id=x", reply: {} } as const;
    expect(await failureOf(row, 404)).toBeInstanceOf(RouteFailure);
    expect(await failureOf({ ...row, reply: MOTIS_UNKNOWN }, 400)).toBeInstanceOf(RouteFailure);
  });

  test("of MOTIS: a journey of which a leg cannot be read", async () => {
    const [whole] = MOTIS_PLAN.itineraries;
    const broken = { ...whole, legs: [whole?.legs[0], { mode: "TRAM" }] };
    const row = { kind: "motis", action: "journey", query: "from=x&to=y" } as const;
    const one = await mapping.answered({ ...row, reply: { itineraries: [whole, broken] } });
    expect(one).toMatchObject({ journeys: [{ transfers: 0 }] });
    expect(await failureOf({ ...row, reply: { itineraries: [broken] } })).toBeInstanceOf(
      RouteFailure,
    );
  });

  test("of OSRM and Valhalla: a route without a length, or with an invalid line", async () => {
    const [route] = OSRM_ROUTE.routes;
    const osrm = { kind: "osrm", action: "route", query: ends } as const;
    for (const more of [{ distance: "7" }, { distance: -1 }, { geometry: "abc" }]) {
      const reply = { code: "Ok", routes: [{ ...route, ...more }] };
      expect(await failureOf({ ...osrm, reply })).toBeInstanceOf(RouteFailure);
    }
    const valhalla = { kind: "valhalla", action: "route", query: ends } as const;
    const { trip } = VALHALLA_ROUTE;
    for (const more of [{ units: "furlongs" }, { status: 1 }, { legs: [{ shape: "é" }] }]) {
      const reply = { trip: { ...trip, ...more } };
      expect(await failureOf({ ...valhalla, reply })).toBeInstanceOf(RouteFailure);
    }
  });

  test("of Open-Meteo: a temperature that nothing on earth has", async () => {
    const current = { ...OPEN_METEO.current, temperature_2m: 1e9 };
    const row = { kind: "open-meteo", action: "weather", query: at } as const;
    const reply = { ...OPEN_METEO, current };
    expect(await failureOf({ ...row, reply })).toBeInstanceOf(RouteFailure);
  });
});

/** Failures in replies with status 200. */
const FAILURES: readonly object[] = [
  { error: "Internal error" },
  { error: true, reason: "The minutely limit is exceeded" },
  { error: { code: 500, message: "x" } },
  { errors: [{ message: "x" }] },
  { detailedError: { code: "OVER_QUERY_LIMIT" } },
  { ok: false, message: "x" },
  { success: false },
  { status: "error", message: "x" },
  { code: 503 },
  { statusCode: 429 },
];

describe("a reply with status 200 that reports a failure is no answer, even with results", () => {
  for (const one of CASES) {
    const { kind, action, reply } = one;
    if (Array.isArray(reply) || reply instanceof Uint8Array) continue;
    test(`of ${kind} to ${action}`, async () => {
      const lists = Object.entries(reply).filter(([, value]) => Array.isArray(value));
      const emptied = Object.fromEntries(lists.map(([name]) => [name, []]));
      for (const failure of FAILURES) {
        for (const beside of [reply, { ...reply, ...emptied }]) {
          const told = mapping.answered({ ...one, reply: { ...beside, ...failure } });
          expect(await told.catch((error: unknown) => error)).toBeInstanceOf(RouteFailure);
        }
      }
    });
  }
});

const WINDOW = "query time 2031-02-03 04:05 is outside of loaded timetable window [2026-11-01, x[";

describe("a refusal names the parameter that the server cannot serve", () => {
  const rows: readonly (readonly [Case, status: number, refusal: string])[] = [
    [
      { kind: "valhalla", action: "route", query: ends, reply: { error_code: 154 } },
      400,
      "to must be nearer to where the route begins",
    ],
    [
      {
        kind: "motis",
        action: "rail",
        query: "from=x&to=y&time=2031-02-03T04:05:00Z",
        reply: { error: WINDOW },
      },
      400,
      "time must be within the timetables here",
    ],
    [
      {
        kind: "motis",
        action: "stops",
        query: `${at}&radius=10000`,
        reply: { error: "too many items" },
      },
      422,
      "radius must be smaller here: there are too many within it",
    ],
    [
      {
        kind: "motis",
        action: "departures",
        query: "stop_id=x&time=2031-02-03T04:05:00Z",
        reply: { error: WINDOW },
      },
      400,
      "time must be within the timetables here",
    ],
    [
      {
        kind: "photon",
        action: "reverse",
        query: `${at}&lang=eo`,
        reply: { message: "language eo is not supported, supported languages are: de" },
      },
      400,
      "lang must be a language of the names here",
    ],
    [
      {
        kind: "overpass",
        action: "poi",
        query: `${at}&category=cafe`,
        reply: { elements: Array(5_000).fill(OVERPASS_POIS.elements[1]) },
      },
      200,
      "radius must be smaller here: there are too many within it",
    ],
  ];
  for (const [row, status, message] of rows) {
    test(`${row.kind} ${row.action}: ${message}`, async () => {
      const failure = await mapping.answered(row, status).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        blames: "nobody",
        refusal: { code: "invalid_parameter", message },
      });
    });
  }

  test("but not if the caller left it open: then the server is at fault", async () => {
    const motis = { kind: "motis", action: "rail", query: "from=x&to=y" } as const;
    const photon = { kind: "photon", action: "reverse", query: at } as const;
    for (const row of [
      { ...motis, reply: { error: WINDOW } },
      { ...photon, reply: { message: "language" } },
    ]) {
      const failure = await mapping.answered(row, 400).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RouteFailure);
      expect(failure).not.toHaveProperty("refusal");
    }
  });
});

describe("units and limits", () => {
  test("Valhalla's miles are metres too", async () => {
    const trip = { ...VALHALLA_ROUTE.trip, units: "miles" };
    const row = { kind: "valhalla", action: "route", query: ends, reply: { trip } } as const;
    expect(await mapping.answered(row)).toMatchObject({
      route: { distance_m: 4094, duration_s: 301, steps: null },
    });
  });

  test("no answer is longer than requested", async () => {
    const stops = { kind: "motis", action: "stops", query: "lat=48.4&lon=9.982&limit=1" } as const;
    expect(await mapping.answered({ ...stops, reply: MOTIS_STOPS })).toHaveProperty(
      "stops.length",
      1,
    );
    const transit = {
      kind: "motis",
      action: "transit",
      query: "lat=48.4&lon=9.98&limit=1",
    } as const;
    const lines = await mapping.answered({ ...transit, reply: MOTIS_ROUTES });
    expect(lines).toHaveProperty("lines.length", 1);
    const roads = {
      kind: "valhalla",
      action: "road_classes",
      query: `${at}&radius=9&limit=1`,
    } as const;
    const found = await mapping.answered({ ...roads, reply: VALHALLA_ROADS });
    expect(found).toHaveProperty("roads.length", 1);
  });

  test("only stations that sell a fuel are returned for it, with only its price", async () => {
    const query = "lat=52.521&lon=13.438&fuel=e10";
    const reply = TANKERKOENIG_STATIONS;
    const one = { kind: "tankerkoenig", action: "fuel_prices", query, reply } as const;
    expect(await mapping.answered(one)).toMatchObject({
      stations: [{ name: "TOTAL BERLIN", prices: { diesel: null, e5: null, e10: 1.679 } }],
    });
  });

  test("OSRM's steps come only when requested, for the mode of its network", async () => {
    const query = `${ends}&steps=false`;
    const row = { kind: "osrm", action: "route", query, reply: OSRM_ROUTE } as const;
    expect(await mapping.answered(row)).toHaveProperty("route.steps", null);
  });

  test("Open-Meteo's days are read only as far as requested", async () => {
    const [day] = OPEN_METEO.daily.time;
    const daily = { ...OPEN_METEO.daily, time: [day, "no day"] };
    const reply = { ...OPEN_METEO, daily };
    const row = { kind: "open-meteo", action: "weather", query: `${at}&days=1`, reply } as const;
    expect(await mapping.answered(row)).toHaveProperty("days.length", 1);
  });

  test("Open-Meteo's days are those of a place that is behind UTC", async () => {
    const daily = { ...OPEN_METEO.daily, time: [1795237200, 1795323600] };
    const reply = { ...OPEN_METEO, utc_offset_seconds: -18_000, timezone: "America/Lima", daily };
    const row = { kind: "open-meteo", action: "weather", query: "lat=-12&lon=-77", reply } as const;
    const answer = await mapping.answered(row);
    expect(answer).toMatchObject({
      current: { time: "2026-11-21T03:00:00-05:00" },
      days: [{ date: "2026-11-21" }, { date: "2026-11-22" }],
    });
  });
});
