// Defines the parts that servers based on OpenStreetMap share.

import type { Box, Position } from "../../../../annexes/atlas/geography.ts";
import {
  type Area,
  boxesAround,
  distance,
  type LineString,
} from "../../../../annexes/atlas/geography.ts";
import type { RoadClass } from "../../vocabulary.ts";
import type { Unable } from "../provider.ts";
import { lookUp } from "./read.ts";

/** The attribution that the ODbL requires. */
export const OPENSTREETMAP =
  "© OpenStreetMap contributors, ODbL 1.0, https://www.openstreetmap.org/copyright";

const ROAD_CLASSES: Readonly<Record<string, RoadClass>> = {
  motorway: "motorway",
  trunk: "trunk",
  primary: "primary",
  secondary: "secondary",
  tertiary: "tertiary",
  unclassified: "unclassified",
  residential: "residential",
  living_street: "residential",
  service: "service",
  service_other: "service",
  track: "track",
  pedestrian: "pedestrian",
  cycleway: "cycleway",
  footway: "path",
  steps: "path",
  path: "path",
  bridleway: "path",
};

/** The class of a `highway` value, or of its link: a motorway_link is a motorway. */
export function roadClassOf(highway: unknown): RoadClass {
  const name = typeof highway === "string" ? highway.replace(/_link$/, "") : "";
  return lookUp(ROAD_CLASSES, name) ?? "other";
}

/** The one box around an area; null if it would cross the antimeridian or go round a pole. */
export function boxOf(area: Area): Box | null {
  if (area.box !== null) return area.box;
  const [box, other] = boxesAround(area.around, area.radius);
  const isOne = box !== undefined && other === undefined && box.maxLon - box.minLon < 360;
  return isOne ? box : null;
}

/** The largest area to request from servers, in metres: the diameter of the largest circle. */
const SIDE_MAX = 100_000;

/**
 * The reason why a server cannot take an area: it is too large, or no single box contains it. Null
 * if the server can take it.
 */
export function unableArea(area: Area): Unable | null {
  const box = boxOf(area);
  if (box === null) {
    return { parameter: "radius", problem: "must not reach over the antimeridian or a pole here" };
  }
  if (area.box === null) return null;
  const { minLon, minLat, maxLon, maxLat } = box;
  // The box is widest where it is closest to the equator.
  const lat = minLat > 0 ? minLat : Math.min(0, maxLat);
  const width = distance({ lat, lon: minLon }, { lat, lon: maxLon });
  const height = distance({ lat: minLat, lon: 0 }, { lat: maxLat, lon: 0 });
  if (width <= SIDE_MAX && height <= SIDE_MAX && maxLon - minLon < 180) return null;
  return { parameter: "bbox", problem: "must be at most 100 km wide and high here" };
}

/**
 * The reason why a server cannot take an area that contains more than it can send, or more than we
 * can sort.
 */
export const tooManyWithin: Unable = {
  parameter: "radius",
  problem: "must be smaller here: there are too many within it",
};

/** Metres along a line. */
export function lengthOf({ coordinates }: LineString): number {
  let metres = 0;
  for (const [index, [lon, lat]] of coordinates.entries()) {
    const next = coordinates[index + 1];
    if (next !== undefined) metres += distance({ lat, lon }, { lat: next[1], lon: next[0] });
  }
  return metres;
}

/** The point of a line in the middle of its points. */
export function middleOf({ coordinates }: LineString): Position {
  const [lon, lat] = coordinates[Math.floor(coordinates.length / 2)] ?? [0, 0];
  return { lat, lon };
}
