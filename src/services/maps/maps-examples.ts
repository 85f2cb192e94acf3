// An example answer for every maps action. The documentation shows them, and the scripted provider
// of the tests returns them.

import type { MapsAction } from "./actions.ts";
import { type MapsExample, ROAD_EXAMPLES } from "./road-examples.ts";

const berlin = { lat: 52.52437, lon: 13.41053 };
const station = { lat: 52.52493, lon: 13.3696 };
const cologne = {
  lat: 50.93333,
  lon: 6.95,
  name: "Köln",
  label: "Köln, North Rhine-Westphalia, Germany",
  kind: "city",
  country_code: "DE",
  country: "Germany",
  state: "North Rhine-Westphalia",
  county: "Regierungsbezirk Köln",
  city: "Köln",
  postcode: null,
  street: null,
  house_number: null,
  population: 963_395,
  timezone: "Europe/Berlin",
} as const;
const journey = {
  departure: "2026-11-21T08:02:00+01:00",
  arrival: "2026-11-21T08:13:00+01:00",
  duration_s: 660,
  transfers: 0,
  legs: [
    {
      mode: "suburban",
      line: "S7",
      headsign: "Ahrensfelde",
      operator: "S-Bahn Berlin",
      from: {
        ...station,
        name: "Berlin Hauptbahnhof",
        stop_id: "de:11000:900003201",
        platform: "15",
        time: { scheduled: "2026-11-21T08:02:00+01:00", expected: "2026-11-21T08:02:00+01:00" },
      },
      to: {
        ...berlin,
        name: "Alexanderplatz",
        stop_id: "de:11000:900100003",
        platform: "3",
        time: { scheduled: "2026-11-21T08:13:00+01:00", expected: null },
      },
      duration_s: 660,
      distance_m: 4_100,
      stops_between: 2,
      cancelled: false,
    },
  ],
} as const;

export const EXAMPLES: { readonly [A in MapsAction]: MapsExample<A> } = {
  geocode: { query: "query=köln&limit=1", data: { places: [cologne] } },
  reverse: {
    query: "lat=50.94&lon=6.96",
    data: { place: { ...cologne, distance_m: 1_021 } },
  },
  place_at: {
    query: "lat=50.94&lon=6.96",
    data: {
      country_code: "DE",
      country: "Germany",
      state: "North Rhine-Westphalia",
      county: "Regierungsbezirk Köln",
      timezone: "Europe/Berlin",
      utc_offset_s: 3_600,
      drives_on: "right",
      calling_code: "+49",
      nearest_place: { ...cologne, distance_m: 1_021 },
    },
  },
  poi: {
    query: "lat=50.87&lon=7.14&radius=10000&category=airport",
    data: {
      pois: [
        {
          id: "CGN",
          name: "Cologne Bonn Airport",
          category: "airport",
          lat: 50.865898,
          lon: 7.142739,
          distance_m: 495,
          address: "Cologne, Germany",
          phone: null,
          website: null,
          opening_hours: null,
          code: "CGN",
        },
      ],
    },
  },
  stops: {
    query: "lat=52.525&lon=13.369",
    data: {
      stops: [
        {
          ...station,
          stop_id: "de:11000:900003201",
          name: "Berlin Hauptbahnhof",
          distance_m: 41,
          modes: ["suburban", "regional_rail", "long_distance_rail"],
        },
      ],
    },
  },
  departures: {
    query: "stop_id=de:11000:900003201&limit=1",
    data: {
      departures: [
        {
          departure: {
            scheduled: "2026-11-21T08:02:00+01:00",
            expected: "2026-11-21T08:04:00+01:00",
          },
          line: "S7",
          mode: "suburban",
          headsign: "Ahrensfelde",
          platform: "15",
          operator: "S-Bahn Berlin",
          cancelled: false,
          trip_id: "20261121_08:02_S7",
        },
      ],
    },
  },
  journey: { query: "from=52.525,13.3694&to=52.5219,13.4133", data: { journeys: [journey] } },
  rail: {
    query: "from=de:11000:900003201&to=52.5219,13.4133&time=2026-11-21T08:00:00%2B01:00",
    data: { journeys: [journey] },
  },
  transit: {
    query: "lat=52.525&lon=13.369",
    data: {
      lines: [
        {
          line: "S7",
          mode: "suburban",
          name: "S7: Potsdam Hauptbahnhof - Ahrensfelde",
          operator: "S-Bahn Berlin",
          from: "Potsdam Hauptbahnhof",
          to: "Ahrensfelde",
          colour: "#816da6",
        },
      ],
    },
  },
  ...ROAD_EXAMPLES,
  weather: {
    query: "lat=52.52&lon=13.41&days=1",
    data: {
      timezone: "Europe/Berlin",
      current: {
        time: "2026-11-21T08:00:00+01:00",
        temperature_c: 4.2,
        apparent_temperature_c: 0.8,
        humidity_percent: 87,
        precipitation_mm: 0,
        cloud_cover_percent: 75,
        pressure_hpa: 1_014.2,
        wind_speed_kmh: 14.8,
        wind_direction_deg: 250,
        weather_code: 3,
      },
      days: [
        {
          date: "2026-11-21",
          temperature_min_c: 2.1,
          temperature_max_c: 6.4,
          precipitation_mm: 0.4,
          precipitation_probability_percent: 30,
          wind_speed_max_kmh: 22.3,
          weather_code: 61,
          sunrise: "2026-11-21T07:36:00+01:00",
          sunset: "2026-11-21T16:04:00+01:00",
        },
      ],
    },
  },
  site_image: {
    query: "lat=52.52437&lon=13.41053&zoom=8",
    data: {
      image: {
        ...berlin,
        width: 600,
        height: 400,
        zoom: 8,
        metres_per_pixel: 372,
        url: "data:image/png;base64,iVBORw0KGgo=",
      },
    },
  },
  site_images: {
    query: "lat=52.52437&lon=13.41053&limit=1",
    data: {
      images: [
        {
          ...berlin,
          kind: "photo",
          url: "https://panoramax.example/pictures/1.jpg",
          width: 5_760,
          height: 2_880,
          distance_m: 12,
          captured_at: "2025-06-01T10:00:00Z",
          heading_deg: 90,
          caption: null,
        },
      ],
    },
  },
};
