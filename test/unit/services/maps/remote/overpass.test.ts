import { expect, test } from "bun:test";
import { shared } from "../../../../support/shared.ts";
import { startMapping } from "./mapping-harness.ts";

const OSM = "© OpenStreetMap contributors, ODbL 1.0, https://www.openstreetmap.org/copyright";

const mapping = await shared(startMapping());

const LINE = {
  type: "LineString",
  coordinates: [
    [13.4, 52.5],
    [13.4, 52.501],
    [13.4, 52.502],
  ],
};
/** The fields of a point of interest, a road or a closure that the replies below leave out. */
const POI = {
  category: "cafe",
  name: null,
  address: null,
  phone: null,
  website: null,
  opening_hours: null,
  code: null,
};
const ROAD = {
  name: null,
  ref: null,
  speed_limit_kmh: null,
  oneway: null,
  surface: null,
  lanes: null,
  geometry: LINE,
};
const CLOSURE = {
  description: null,
  roads: [],
  lat: 52.501,
  lon: 13.4,
  starts_at: null,
  ends_at: null,
  length_m: 222,
  geometry: LINE,
};

test("Overpass' points of interest come nearest first, in the requested language", async () => {
  const { request, data, attribution } = await mapping.mapped("overpass poi");
  expect(request).toEqual([
    "POST /api/interpreter data=[out:json][timeout:10]",
    'nwr["amenity"="cafe"](around:5000,52.5,13.4)',
    "out tags center 5000;",
  ]);
  expect(data).toEqual({
    pois: [
      {
        ...POI,
        id: "node/1",
        lat: 52.5201,
        lon: 13.4001,
        distance_m: 2235,
      },
      {
        ...POI,
        id: "way/2",
        name: "The Stop",
        lat: 52.52,
        lon: 13.41,
        distance_m: 2325,
        address: "Prepaid-Allee 7, 10117 Berlin",
        phone: "+49 30 123",
        website: "https://cafe.example/",
        opening_hours: "Mo-Fr 08:00-18:00",
      },
    ],
  });
  expect(attribution).toEqual([OSM]);
});

test("Overpass' speed cameras have kilometres an hour and degrees", async () => {
  const { request, data, attribution } = await mapping.mapped("overpass speed_cameras");
  expect(request).toEqual([
    "POST /api/interpreter data=[out:json][timeout:10]",
    'node["highway"="speed_camera"](around:1000,52.5,13.4)',
    "out body 5;",
  ]);
  expect(data).toEqual({
    cameras: [
      { id: "node/5", lat: 52.5, lon: 13.4, speed_limit_kmh: 48, direction_deg: 202.5 },
      { id: "node/6", lat: 52.6, lon: 13.5, speed_limit_kmh: null, direction_deg: 90 },
    ],
  });
  expect(attribution).toEqual([OSM]);
});

test("Overpass' roads of a box have the class of the road that a link belongs to", async () => {
  const { request, data, attribution } = await mapping.mapped("overpass road_classes");
  expect(request).toEqual([
    "POST /api/interpreter data=[out:json][timeout:10]",
    [
      'way["highway"]["highway"!~"^(construction|proposed|planned|abandoned|razed|',
      'platform|corridor|elevator)$"](52.4,13.3,52.6,13.5)',
    ].join(""),
    "out tags geom 50;",
  ]);
  expect(data).toEqual({
    roads: [
      {
        ...ROAD,
        road_class: "primary",
        name: "Prepaid-Allee",
        ref: "B 2",
        speed_limit_kmh: 50,
        oneway: true,
        surface: "asphalt",
        lanes: 2,
      },
      {
        ...ROAD,
        road_class: "residential",
      },
    ],
  });
  expect(attribution).toEqual([OSM]);
});

test("Overpass' closures are roads under construction, or without access", async () => {
  const { request, data, attribution } = await mapping.mapped("overpass closures");
  expect(request).toEqual([
    "POST /api/interpreter data=[out:json][timeout:10]",
    '(way["highway"="construction"](around:1000,52.5,13.4)',
    [
      'way["highway"~"^(motorway|trunk|primary|secondary|tertiary|unclassified|',
      'residential|living_street)(_link)?$"][~"^(access|vehicle|',
      'motor_vehicle)$"~"^no$"](around:1000,52.5,13.4)',
    ].join(""),
    ")",
    "out tags geom 50;",
  ]);
  expect(data).toEqual({
    closures: [
      {
        ...CLOSURE,
        id: "way/9",
        reason: "construction",
        roads: ["B 96", "Ring"],
      },
      {
        ...CLOSURE,
        id: "way/10",
        reason: "access",
        description: "Bridge",
      },
    ],
  });
  expect(attribution).toEqual([OSM]);
});

test("Overpass' lines come once, whatever directions they have", async () => {
  const { request, data, attribution } = await mapping.mapped("overpass transit");
  expect(request).toEqual([
    "POST /api/interpreter data=[out:json][timeout:10]",
    [
      'relation["type"="route"]["route"~"^(bus|trolleybus|tram|light_rail|subway|',
      'train|ferry|monorail|funicular|aerialway)$"](around:1000,52.5,13.4)',
    ].join(""),
    "out tags 5000;",
  ]);
  expect(data).toEqual({
    lines: [
      {
        line: "S7",
        mode: "suburban",
        name: "S7: A => B",
        operator: "S-Bahn",
        from: "A",
        to: "B",
        colour: "#816da6",
      },
      { line: "100", mode: "bus", name: null, operator: null, from: null, to: null, colour: null },
    ],
  });
  expect(attribution).toEqual([OSM]);
});
