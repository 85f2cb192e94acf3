import { expect, test } from "bun:test";
import { shared } from "../../../../support/shared.ts";
import { startMapping } from "./mapping-harness.ts";

const OSM = "© OpenStreetMap contributors, ODbL 1.0, https://www.openstreetmap.org/copyright";

const mapping = await shared(startMapping());

const ROUTE = {
  distance_m: 2544,
  duration_s: 301,
  geometry: {
    type: "LineString",
    coordinates: [
      [13.4, 52.5],
      [13.41, 52.51],
      [13.42, 52.52],
    ],
  },
};
const ARRIVAL = { road: null, distance_m: 0, duration_s: 0, at: { lat: 52.52, lon: 13.42 } };
const ROAD = {
  road_class: "residential",
  name: "Prepaid-Allee",
  ref: null,
  oneway: null,
  surface: "paved_smooth",
  lanes: 1,
  geometry: {
    type: "LineString",
    coordinates: [
      [13.4, 52.5],
      [13.41, 52.51],
    ],
  },
};

test("OSRM's route has metres, seconds and instructions in words", async () => {
  const { request, data, attribution } = await mapping.mapped("osrm route");
  expect(request).toEqual([
    "GET /route/v1/driving/13.4,52.5;13.42,52.52",
    "overview=full",
    "geometries=geojson",
    "steps=true",
  ]);
  expect(data).toEqual({
    route: {
      ...ROUTE,
      steps: [
        {
          instruction: "Start on Prepaid-Allee",
          road: "Prepaid-Allee",
          distance_m: 1200,
          duration_s: 140,
          at: { lat: 52.5, lon: 13.4 },
        },
        {
          instruction: "Turn slightly left onto B 2",
          road: "B 2",
          distance_m: 1343,
          duration_s: 161,
          at: { lat: 52.51, lon: 13.41 },
        },
        { ...ARRIVAL, instruction: "You have arrived" },
      ],
    },
  });
  expect(attribution).toEqual([OSM]);
});

test("Valhalla's route has metres for its kilometres, and the line of its polyline", async () => {
  const { request, data, attribution } = await mapping.mapped("valhalla route");
  expect(request).toEqual([
    [
      'POST /route {"locations":[{"lat":52.5,"lon":13.4},{"lat":52.52,',
      '"lon":13.42}],"costing":"pedestrian","units":"kilometers",',
      '"language":"pt-BR"}',
    ].join(""),
  ]);
  expect(data).toEqual({
    route: {
      ...ROUTE,
      steps: [
        {
          instruction: "Drive north on Prepaid-Allee.",
          road: "Prepaid-Allee",
          distance_m: 1200,
          duration_s: 140,
          at: { lat: 52.5, lon: 13.4 },
        },
        { ...ARRIVAL, instruction: "You have arrived at your destination." },
      ],
    },
  });
  expect(attribution).toEqual([OSM]);
});

test("Valhalla's roads come once, not once for each direction", async () => {
  const { request, data, attribution } = await mapping.mapped("valhalla road_classes");
  expect(request).toEqual([
    [
      'POST /locate {"locations":[{"lat":52.5,"lon":13.4,"radius":100}],',
      '"costing":"auto","verbose":true}',
    ].join(""),
  ]);
  expect(data).toEqual({
    roads: [
      { ...ROAD, speed_limit_kmh: 30 },
      { ...ROAD, speed_limit_kmh: null },
    ],
  });
  expect(attribution).toEqual([OSM]);
});
