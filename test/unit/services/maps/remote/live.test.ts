import { expect, test } from "bun:test";
import { shared } from "../../../../support/shared.ts";
import { startMapping } from "./mapping-harness.ts";

const mapping = await shared(startMapping());

const TOMTOM = "Traffic: © TomTom, https://www.tomtom.com";
const FIELDS = [
  "fields={incidents{type,geometry{type,coordinates},properties{id,",
  "iconCategory,magnitudeOfDelay,events{description,code,iconCategory},",
  "startTime,endTime,from,to,length,delay,roadNumbers}}}",
].join("");
/** The fields that an incident and a closure at the same place share. */
const INCIDENT = {
  id: "TTI-e97758bc",
  description: "Stehender Verkehr; Bauarbeiten",
  roads: ["A100"],
  starts_at: "2026-11-21T06:23:00Z",
  ends_at: "2026-11-21T09:24:30Z",
  length_m: 1025,
  lat: 52.5,
  lon: 13.39,
  geometry: {
    type: "LineString",
    coordinates: [
      [13.39, 52.5],
      [13.4, 52.5],
    ],
  },
};
const CLOSURE = { ...INCIDENT, reason: "roadworks" };
const PHOTO = {
  kind: "photo",
  lat: 48.85,
  width: null,
  height: null,
  captured_at: "2024-07-10T14:03:08.163000+02:00",
  heading_deg: 270,
};

test("Open-Meteo's instants become local times with their offset", async () => {
  const { request, data, attribution } = await mapping.mapped("open-meteo weather");
  expect(request).toEqual([
    "GET /v1/forecast",
    "latitude=52.52",
    "longitude=13.42",
    [
      "current=temperature_2m,apparent_temperature,relative_humidity_2m,",
      "precipitation,cloud_cover,pressure_msl,wind_speed_10m,wind_direction_10m,",
      "weather_code",
    ].join(""),
    [
      "daily=temperature_2m_min,temperature_2m_max,precipitation_sum,",
      "precipitation_probability_max,wind_speed_10m_max,weather_code,sunrise,",
      "sunset",
    ].join(""),
    "forecast_days=2",
    "timezone=auto",
    "timeformat=unixtime",
  ]);
  expect(data).toEqual({
    timezone: "Europe/Berlin",
    current: {
      time: "2026-11-21T09:00:00+01:00",
      temperature_c: 3.4,
      apparent_temperature_c: -0.6,
      humidity_percent: 81,
      precipitation_mm: 0.1,
      cloud_cover_percent: 100,
      pressure_hpa: 1009.2,
      wind_speed_kmh: 14.8,
      wind_direction_deg: 250,
      weather_code: 61,
    },
    days: [
      {
        date: "2026-11-21",
        temperature_min_c: 1.2,
        temperature_max_c: 4.4,
        precipitation_mm: 2.3,
        precipitation_probability_percent: 88,
        wind_speed_max_kmh: 22.1,
        weather_code: 61,
        sunrise: "2026-11-21T07:35:00+01:00",
        sunset: "2026-11-21T16:05:00+01:00",
      },
      {
        date: "2026-11-22",
        temperature_min_c: null,
        temperature_max_c: 5.1,
        precipitation_mm: 0,
        precipitation_probability_percent: 10,
        wind_speed_max_kmh: 12,
        weather_code: 3,
        sunrise: null,
        sunset: null,
      },
    ],
  });
  expect(attribution).toEqual([
    "Weather data by Open-Meteo.com, CC BY 4.0, https://open-meteo.com",
  ]);
});

test("TomTom's incidents are those that touch the circle, not only its box", async () => {
  const { request, data, attribution } = await mapping.mapped("tomtom incidents");
  expect(request).toEqual([
    "GET /traffic/services/5/incidentDetails",
    "bbox=13.3881816,52.4928054,13.4118184,52.5071946",
    FIELDS,
    "language=de-DE",
    "timeValidityFilter=present",
  ]);
  expect(data).toEqual({
    incidents: [
      { ...INCIDENT, kind: "congestion", severity: "major", from: "A", to: "B", delay_s: 502 },
    ],
  });
  expect(attribution).toEqual([TOMTOM]);
});

test("TomTom gets a request for closed roads; one at a point has no line", async () => {
  const { request, data, attribution } = await mapping.mapped("tomtom closures");
  expect(request).toEqual([
    "GET /traffic/services/5/incidentDetails",
    "bbox=13.3,52.4,13.5,52.6",
    FIELDS,
    "language=en-GB",
    "categoryFilter=8",
    "timeValidityFilter=present",
  ]);
  expect(data).toEqual({
    closures: [CLOSURE, { ...CLOSURE, lon: 13.4, geometry: null }],
  });
  expect(attribution).toEqual([TOMTOM]);
});

test("TomTom's flow has kilometres an hour, a class and a level", async () => {
  const { request, data, attribution } = await mapping.mapped("tomtom traffic_status");
  expect(request).toEqual([
    "GET /traffic/services/4/flowSegmentData/absolute/10/json",
    "point=52.41,4.84",
    "unit=KMPH",
  ]);
  expect(data).toEqual({
    traffic: {
      road_class: "primary",
      speed_kmh: 21,
      free_flow_speed_kmh: 70,
      travel_time_s: 153,
      free_flow_travel_time_s: 46,
      level: "congested",
      confidence: 0.59,
      geometry: {
        type: "LineString",
        coordinates: [
          [4.844318, 52.40476],
          [4.8299975, 52.411312],
        ],
      },
    },
  });
  expect(attribution).toEqual([TOMTOM]);
});

test("TomTom's route shows which part of its time is due to traffic", async () => {
  const { request, data, attribution } = await mapping.mapped("tomtom route_traffic");
  expect(request).toEqual([
    "GET /routing/1/calculateRoute/52.5,13.4:52.52,13.42/json",
    "traffic=true",
    "travelMode=car",
    "computeTravelTimeFor=all",
    "departAt=2099-11-21T07:00:00+00:00",
  ]);
  expect(data).toEqual({
    route: {
      distance_m: 14238,
      duration_s: 1680,
      traffic_delay_s: 360,
      free_flow_duration_s: 1320,
      departure: "2026-11-21T08:00:00+01:00",
      arrival: "2026-11-21T08:28:00+01:00",
      geometry: {
        type: "LineString",
        coordinates: [
          [13.4, 52.5],
          [13.42, 52.52],
        ],
      },
    },
  });
  expect(attribution).toEqual([TOMTOM]);
});

test("Tankerkönig is called in kilometres and answers in metres, the nearest first", async () => {
  const { request, data, attribution } = await mapping.mapped("tankerkoenig fuel_prices");
  expect(request).toEqual([
    "GET /json/list.php",
    "lat=52.521",
    "lng=13.438",
    "rad=1.5",
    "sort=dist",
    "type=all",
  ]);
  expect(data).toEqual({
    stations: [
      {
        id: "474e5046-deaf-4f9b-9a32-9797b778f048",
        name: "Only diesel",
        brand: null,
        address: "10407",
        lat: 52.53,
        lon: 13.44,
        distance_m: 400,
        is_open: false,
        currency: "EUR",
        prices: { diesel: 1.599, e5: null, e10: null },
      },
      {
        id: "474e5046-deaf-4f9b-9a32-9797b778f047",
        name: "TOTAL BERLIN",
        brand: "TOTAL",
        address: "MARGARETE-SOMMER-STR. 2, 01407 BERLIN",
        lat: 52.53083,
        lon: 13.440946,
        distance_m: 1100,
        is_open: true,
        currency: "EUR",
        prices: { diesel: 1.609, e5: 1.739, e10: 1.679 },
      },
    ],
  });
  expect(attribution).toEqual([
    "Fuel prices: Tankerkönig (MTS-K), CC BY 4.0, https://www.tankerkoenig.de",
  ]);
});

test("Panoramax pictures come nearest first, each with its licence, none without", async () => {
  const { request, data, attribution } = await mapping.mapped("panoramax site_images");
  expect(request).toEqual([
    "GET /api/search",
    "place_position=2.35,48.85",
    "place_distance=0-500",
    "limit=2",
  ]);
  expect(data).toEqual({
    images: [
      {
        ...PHOTO,
        url: "https://panoramax.example/a/sd.jpg",
        lon: 2.351,
        distance_m: 73,
        caption: "panoramix, CC-BY-SA-4.0",
      },
      {
        ...PHOTO,
        url: "https://panoramax.example/b/sd.jpg",
        lon: 2.3525,
        distance_m: 183,
        caption: "etalab-2.0",
      },
    ],
  });
  expect(attribution).toEqual([
    "Photographs: panoramix, Panoramax, CC-BY-SA-4.0",
    "Photographs: Panoramax, etalab-2.0",
  ]);
});
