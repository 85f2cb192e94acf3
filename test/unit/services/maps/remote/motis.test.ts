import { expect, test } from "bun:test";
import { shared } from "../../../../support/shared.ts";
import { startMapping } from "./mapping-harness.ts";

const OSM = "© OpenStreetMap contributors, ODbL 1.0, https://www.openstreetmap.org/copyright";

const SOURCES = ["Timetables: the operators of public transport, by MOTIS", OSM];

const mapping = await shared(startMapping());

test("MOTIS' stops are stations in the circle, under ids that a caller can send back", async () => {
  const { request, data, attribution } = await mapping.mapped("motis stops");
  expect(request).toEqual([
    "GET /api/v6/map/stops",
    "min=48.397302,9.9860636",
    "max=48.402698,9.9779364",
  ]);
  expect(data).toEqual({
    stops: [
      {
        stop_id: "de-DELFI_de:08421:1008",
        name: "Fahrstadt Hbf",
        lat: 48.3999345,
        lon: 9.982133,
        distance_m: 12,
        modes: ["regional_rail", "long_distance_rail", "bus"],
      },
      {
        stop_id: "x_Rathaus~20~28S~C3~BCd~29",
        name: "Rathaus (Süd)",
        lat: 48.4,
        lon: 9.984,
        distance_m: 148,
        modes: ["tram"],
      },
    ],
  });
  expect(attribution).toEqual(SOURCES);
});

test("MOTIS gets a stop's own id; a departure has both its local times", async () => {
  const { request, data, attribution } = await mapping.mapped("motis departures");
  expect(request).toEqual([
    "GET /api/v6/stoptimes",
    "stopId=x_Rathaus (Süd)",
    "time=2026-11-21T07:00:00.000Z",
    "n=10",
    "language=de",
  ]);
  expect(data).toEqual({
    departures: [
      {
        departure: {
          scheduled: "2026-11-21T08:11:00+01:00",
          expected: "2026-11-21T08:13:00+01:00",
        },
        line: "ICE 1205",
        mode: "long_distance_rail",
        headsign: "München Hbf",
        platform: "7",
        operator: "DB Fernverkehr AG",
        cancelled: true,
        trip_id: "20261121_07:11_de-DELFI_2601712722",
      },
      {
        departure: { scheduled: "2026-11-21T07:20:00Z", expected: null },
        line: "7",
        mode: "bus",
        headsign: null,
        platform: null,
        operator: null,
        cancelled: false,
        trip_id: null,
      },
    ],
  });
  expect(attribution).toEqual(SOURCES);
});

const NO_STOP = { name: null, stop_id: null, platform: null, lat: 48.4, lon: 9.98 };
const STOP = { ...NO_STOP, name: "Rathaus", stop_id: "x_1", platform: "2" };
const JOURNEYS = {
  journeys: [
    {
      departure: "2026-11-21T08:00:00+01:00",
      arrival: "2026-11-21T08:25:00+01:00",
      duration_s: 1500,
      transfers: 0,
      legs: [
        {
          mode: "walk",
          line: null,
          headsign: null,
          operator: null,
          from: {
            ...NO_STOP,
            time: { scheduled: "2026-11-21T08:00:00+01:00", expected: null },
          },
          to: {
            ...STOP,
            time: { scheduled: "2026-11-21T08:05:00+01:00", expected: null },
          },
          duration_s: 300,
          distance_m: 312,
          stops_between: null,
          cancelled: false,
        },
        {
          mode: "tram",
          line: "2",
          headsign: "Messe",
          operator: "Stadtwerke",
          from: {
            ...STOP,
            time: { scheduled: "2026-11-21T08:05:00+01:00", expected: "2026-11-21T08:06:00+01:00" },
          },
          to: {
            ...NO_STOP,
            time: { scheduled: "2026-11-21T08:25:00+01:00", expected: "2026-11-21T08:25:00+01:00" },
          },
          duration_s: 1200,
          distance_m: null,
          stops_between: 2,
          cancelled: false,
        },
      ],
    },
  ],
};

test("MOTIS' journeys have legs, and ends without names if those are not stops", async () => {
  const { request, data, attribution } = await mapping.mapped("motis journey");
  expect(request).toEqual([
    "GET /api/v6/plan",
    "fromPlace=48.4,9.98",
    "toPlace=x_1",
    "arriveBy=true",
    "numItineraries=3",
  ]);
  expect(data).toEqual(JOURNEYS);
  expect(attribution).toEqual(SOURCES);
});

test("MOTIS is asked only for rail", async () => {
  const { request, data, attribution } = await mapping.mapped("motis rail");
  expect(request).toEqual([
    "GET /api/v6/plan",
    "fromPlace=x_1",
    "toPlace=48.4,9.98",
    "arriveBy=false",
    "numItineraries=3",
    "transitModes=RAIL",
  ]);
  expect(data).toEqual(JOURNEYS);
  expect(attribution).toEqual(SOURCES);
});

test("MOTIS' lines are those with a stop in the circle", async () => {
  const { request, data, attribution } = await mapping.mapped("motis transit");
  expect(request).toEqual([
    "GET /api/experimental/map/routes",
    "zoom=20",
    "min=48.3910068,9.9935455",
    "max=48.4089932,9.9664545",
  ]);
  expect(data).toEqual({
    lines: [
      {
        line: "2",
        mode: "tram",
        name: "Messe - Rathaus",
        operator: null,
        from: null,
        to: null,
        colour: "#00aa7f",
      },
    ],
  });
  expect(attribution).toEqual(SOURCES);
});
