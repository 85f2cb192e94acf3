// Examples for the maps actions about roads, traffic and fuel.

import type { MapsAction } from "./actions.ts";
import type { DataByAction } from "./maps-replies.ts";

/** A call, and a typical answer to it. */
export interface MapsExample<A extends MapsAction> {
  /** The query string of the call, after the action. */
  readonly query: string;
  readonly data: DataByAction[A];
}

const berlin = { lat: 52.52437, lon: 13.41053 };
const station = { lat: 52.52493, lon: 13.3696 };
const line = {
  type: "LineString",
  coordinates: [
    [13.3696, 52.52493],
    [13.41053, 52.52437],
  ],
} as const;

export const ROAD_EXAMPLES = {
  route: {
    query: "from=52.52493,13.3696&to=52.52437,13.41053&mode=bicycle&steps=true",
    data: {
      route: {
        distance_m: 3_240,
        duration_s: 780,
        geometry: line,
        steps: [
          {
            instruction: "Turn right onto Invalidenstraße",
            road: "Invalidenstraße",
            distance_m: 950,
            duration_s: 230,
            at: station,
          },
        ],
      },
    },
  },
  route_traffic: {
    query: "from=52.52493,13.3696&to=52.52437,13.41053",
    data: {
      route: {
        distance_m: 3_410,
        duration_s: 840,
        traffic_delay_s: 190,
        free_flow_duration_s: 650,
        departure: "2026-11-21T08:00:00+01:00",
        arrival: "2026-11-21T08:14:00+01:00",
        geometry: line,
      },
    },
  },
  road_classes: {
    query: "lat=52.525&lon=13.369&radius=200",
    data: {
      roads: [
        {
          road_class: "primary",
          name: "Invalidenstraße",
          ref: "B 96",
          speed_limit_kmh: 50,
          oneway: false,
          surface: "asphalt",
          lanes: 4,
          geometry: line,
        },
      ],
    },
  },
  closures: {
    query: "bbox=13.3,52.4,13.5,52.6",
    data: {
      closures: [
        {
          ...berlin,
          id: "c-1",
          reason: "roadworks",
          description: "Closed because of construction",
          roads: ["B 2"],
          starts_at: "2026-11-01T06:00:00Z",
          ends_at: "2026-12-20T18:00:00Z",
          length_m: 420,
          geometry: line,
        },
      ],
    },
  },
  incidents: {
    query: "lat=52.52&lon=13.4&radius=5000",
    data: {
      incidents: [
        {
          ...berlin,
          id: "i-1",
          kind: "congestion",
          severity: "moderate",
          description: "Queueing traffic",
          from: "Alexanderplatz",
          to: "Otto-Braun-Straße",
          roads: ["B 2"],
          starts_at: "2026-11-21T07:20:00Z",
          ends_at: null,
          length_m: 610,
          delay_s: 240,
          geometry: line,
        },
      ],
    },
  },
  traffic_status: {
    query: "lat=52.52&lon=13.41",
    data: {
      traffic: {
        road_class: "primary",
        speed_kmh: 21,
        free_flow_speed_kmh: 44,
        travel_time_s: 96,
        free_flow_travel_time_s: 46,
        level: "congested",
        confidence: 0.97,
        geometry: line,
      },
    },
  },
  speed_cameras: {
    query: "bbox=13.3,52.4,13.5,52.6",
    data: {
      cameras: [{ ...berlin, id: "node/1", speed_limit_kmh: 50, direction_deg: 270 }],
    },
  },
  fuel_prices: {
    query: "lat=52.52&lon=13.41&fuel=e10&limit=1",
    data: {
      stations: [
        {
          ...berlin,
          id: "474e5046-deaf-4f9b-9a32-9797b778f047",
          name: "Station Mitte",
          brand: "TOTAL",
          address: "Margarete-Sommer-Straße 2, 10407 Berlin",
          distance_m: 1_100,
          is_open: true,
          currency: "EUR",
          prices: { diesel: null, e5: null, e10: 1.689 },
        },
      ],
    },
  },
} satisfies { readonly [A in MapsAction]?: MapsExample<A> };
