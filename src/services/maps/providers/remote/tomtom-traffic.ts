// Converts incidents and flow from TomTom's Traffic API.

import type { LineString, Position } from "../../../../annexes/atlas/geography.ts";
import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import type { ClosureAnswer, IncidentAnswer, TrafficStatusAnswer } from "../../road-answers.ts";
import type { IncidentKind, RoadClass } from "../../vocabulary.ts";
import {
  joined,
  lineStringOf,
  lookUp,
  numberOf,
  offsetTime,
  positionOf,
  readItems,
  required,
  textOrNull,
  wholeOf,
} from "./read.ts";

/** An incident that can be read. */
export interface FoundIncident {
  readonly properties: Json;
  /** Null for an incident at a point. */
  readonly line: LineString | null;
  readonly at: Position;
}

/** The requested fields, in the service's own syntax. */
export const INCIDENT_FIELDS = `{incidents{type,geometry{type,coordinates},properties{id,
iconCategory,magnitudeOfDelay,events{description,code,iconCategory},startTime,endTime,from,to,
length,delay,roadNumbers}}}`.replaceAll("\n", "");
/** The category of closed roads. */
export const ROAD_CLOSED = 8;
const ROADWORKS = 9;
const ACCIDENT = 1;

const KINDS: Readonly<Record<string, IncidentKind>> = {
  1: "accident",
  2: "weather",
  3: "hazard",
  4: "weather",
  5: "weather",
  6: "congestion",
  7: "lane_closure",
  8: "closure",
  9: "roadworks",
  10: "weather",
  11: "weather",
  14: "breakdown",
};
const SEVERITIES: Readonly<Record<string, IncidentAnswer["severity"]>> = {
  1: "minor",
  2: "moderate",
  3: "major",
};
const EVENTS_MAX = 5;
const ROADS_MAX = 20;

export function toIncident({ properties, line, at }: FoundIncident): IncidentAnswer {
  return {
    id: textOrNull(properties.id, 100),
    kind: lookUp(KINDS, tableCode(properties.iconCategory)) ?? "other",
    severity: lookUp(SEVERITIES, tableCode(properties.magnitudeOfDelay)) ?? "unknown",
    description: descriptionOf(properties),
    from: textOrNull(properties.from),
    to: textOrNull(properties.to),
    roads: roadsOf(properties),
    starts_at: offsetTime(properties.startTime),
    ends_at: offsetTime(properties.endTime),
    length_m: wholeOf(properties.length),
    delay_s: wholeOf(properties.delay),
    ...at,
    geometry: line,
  };
}

export function toClosure({ properties, line, at }: FoundIncident): ClosureAnswer {
  const causes = readItems(properties.events, ({ iconCategory }) => ({ iconCategory }));
  const isFor = (category: number) => causes.some((one) => one.iconCategory === category);
  return {
    id: textOrNull(properties.id, 100),
    reason: isFor(ROADWORKS) ? "roadworks" : isFor(ACCIDENT) ? "incident" : "other",
    description: descriptionOf(properties),
    roads: roadsOf(properties),
    starts_at: offsetTime(properties.startTime),
    ends_at: offsetTime(properties.endTime),
    length_m: wholeOf(properties.length),
    ...at,
    geometry: line,
  };
}

function descriptionOf({ events }: Json): string | null {
  const texts = readItems(events, ({ description }) => textOrNull(description));
  return joined("; ", ...texts.slice(0, EVENTS_MAX));
}

function roadsOf({ roadNumbers }: Json): string[] {
  if (!Array.isArray(roadNumbers)) return [];
  return roadNumbers.slice(0, ROADS_MAX).flatMap((road) => textOrNull(road, 40) ?? []);
}

/** Functional road classes, the most important first. */
const FUNCTIONAL: Readonly<Record<string, RoadClass>> = {
  FRC0: "motorway",
  FRC1: "trunk",
  FRC2: "primary",
  FRC3: "secondary",
  FRC4: "tertiary",
  FRC5: "unclassified",
  FRC6: "residential",
};
/** Above these parts of the free speed, traffic flows freely, or slowly. */
const FREE = 0.75;
const SLOW = 0.4;

export function toStatus(value: unknown): TrafficStatusAnswer {
  const flow = objectOrEmpty(value);
  const speed = required(numberOf(flow.currentSpeed, 0, 300), "currentSpeed");
  const freeSpeed = required(numberOf(flow.freeFlowSpeed, 0, 300), "freeFlowSpeed");
  const ratio = freeSpeed === 0 ? 1 : speed / freeSpeed;
  const level = ratio >= FREE ? "free" : ratio >= SLOW ? "slow" : "congested";
  return {
    road_class: lookUp(FUNCTIONAL, flow.frc),
    speed_kmh: speed,
    free_flow_speed_kmh: freeSpeed,
    travel_time_s: wholeOf(flow.currentTravelTime),
    free_flow_travel_time_s: wholeOf(flow.freeFlowTravelTime),
    level: flow.roadClosure === true ? "closed" : level,
    confidence: numberOf(flow.confidence, 0, 1),
    geometry: lineStringOf(objectOrEmpty(flow.coordinates).coordinate, (point) => {
      const { latitude, longitude } = objectOrEmpty(point);
      return positionOf(latitude, longitude);
    }),
  };
}

/** A code in the form of the tables. Anything but a number is looked up unchanged. */
function tableCode(value: unknown): unknown {
  return typeof value === "number" ? `${value}` : value;
}
