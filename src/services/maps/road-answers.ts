// The answers of maps actions about roads, traffic and fuel.

import { type Checked, named, nullable, oneOf, Type, text } from "../../http/schema.ts";
import { LineString, Position } from "./geo-schema.ts";
import { INCIDENT_KINDS, ROAD_CLASSES } from "./vocabulary.ts";

export const RouteStep = named("RouteStep", {
  instruction: text(),
  road: nullable(text()),
  distance_m: nullable(Type.Number()),
  duration_s: nullable(Type.Number()),
  at: Position,
});
export type RouteStep = Checked<typeof RouteStep>;

export const RouteAnswer = named("Route", {
  distance_m: Type.Number(),
  duration_s: Type.Number(),
  geometry: LineString,
  steps: nullable(Type.Array(RouteStep, { description: "Null where they were not asked for" })),
});
export type RouteAnswer = Checked<typeof RouteAnswer>;

export const TrafficRouteAnswer = named("TrafficRoute", {
  distance_m: Type.Number(),
  duration_s: Type.Number({ description: "With the traffic of the moment of departure" }),
  traffic_delay_s: nullable(Type.Number({ description: "What of the duration is due to traffic" })),
  free_flow_duration_s: nullable(Type.Number()),
  departure: text(),
  arrival: text(),
  geometry: LineString,
});
export type TrafficRouteAnswer = Checked<typeof TrafficRouteAnswer>;

export const RoadAnswer = named("Road", {
  road_class: oneOf(ROAD_CLASSES),
  name: nullable(text()),
  ref: nullable(text()),
  speed_limit_kmh: nullable(Type.Number()),
  oneway: nullable(Type.Boolean()),
  surface: nullable(text()),
  lanes: nullable(Type.Number()),
  geometry: nullable(LineString),
});
export type RoadAnswer = Checked<typeof RoadAnswer>;

export const IncidentAnswer = named("Incident", {
  ...Position.properties,
  id: nullable(text()),
  kind: oneOf(INCIDENT_KINDS),
  severity: oneOf(["minor", "moderate", "major", "unknown"]),
  description: nullable(text()),
  from: nullable(text()),
  to: nullable(text()),
  roads: Type.Array(text()),
  starts_at: nullable(text()),
  ends_at: nullable(text()),
  length_m: nullable(Type.Number()),
  delay_s: nullable(Type.Number()),
  geometry: nullable(LineString),
});
export type IncidentAnswer = Checked<typeof IncidentAnswer>;

export const ClosureAnswer = named("Closure", {
  ...Position.properties,
  id: nullable(text()),
  reason: oneOf(["roadworks", "incident", "construction", "access", "other"]),
  description: nullable(text()),
  roads: Type.Array(text()),
  starts_at: nullable(text()),
  ends_at: nullable(text()),
  length_m: nullable(Type.Number()),
  geometry: nullable(LineString),
});
export type ClosureAnswer = Checked<typeof ClosureAnswer>;

export const TrafficStatusAnswer = named("TrafficStatus", {
  road_class: nullable(oneOf(ROAD_CLASSES)),
  speed_kmh: Type.Number(),
  free_flow_speed_kmh: Type.Number(),
  travel_time_s: nullable(Type.Number()),
  free_flow_travel_time_s: nullable(Type.Number()),
  level: oneOf(["free", "slow", "congested", "closed"]),
  confidence: nullable(Type.Number({ description: "0 to 1" })),
  geometry: nullable(LineString),
});
export type TrafficStatusAnswer = Checked<typeof TrafficStatusAnswer>;

export const SpeedCameraAnswer = named("SpeedCamera", {
  ...Position.properties,
  id: nullable(text()),
  speed_limit_kmh: nullable(Type.Number()),
  direction_deg: nullable(
    Type.Number({ description: "Degrees clockwise from north that it looks in" }),
  ),
});
export type SpeedCameraAnswer = Checked<typeof SpeedCameraAnswer>;

export const FuelStationAnswer = named("FuelStation", {
  ...Position.properties,
  id: text(),
  name: text(),
  brand: nullable(text()),
  address: nullable(text()),
  distance_m: Type.Number(),
  is_open: nullable(Type.Boolean()),
  currency: text({ description: "ISO 4217" }),
  prices: Type.Object(
    { diesel: nullable(Type.Number()), e5: nullable(Type.Number()), e10: nullable(Type.Number()) },
    { description: "Per litre; null for a fuel that is not sold there, or was not asked for" },
  ),
});
export type FuelStationAnswer = Checked<typeof FuelStationAnswer>;
