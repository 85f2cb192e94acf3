// Reads the land and the borders of Natural Earth, from TopoJSON, in Web Mercator coordinates: the
// world is 1 wide and 1 high; 0,0 is its north-west corner.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Position } from "./geography.ts";

/** x and y alternate. */
export type Points = Float64Array;

export interface Shape {
  readonly points: Points;
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

export interface CountryLabel {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  /** The area of the country's largest part; the whole world's square is 1. */
  readonly area: number;
}

export interface World {
  /** Rings, filled by the even-odd rule. */
  readonly land: readonly Shape[];
  readonly borders: readonly Shape[];
  readonly countries: readonly CountryLabel[];
}

/** Natural Earth has data for scales of 1:110, 1:50 and 1:10 million. */
export type Detail = "110m" | "50m" | "10m";

interface Topology {
  readonly arcs: readonly (readonly (readonly [number, number])[])[];
  readonly transform: {
    readonly scale: readonly [number, number];
    readonly translate: readonly [number, number];
  };
  readonly objects: {
    readonly countries: { readonly geometries: readonly Country[] };
    readonly land: { readonly geometries: readonly Polygons[] };
  };
}

type Polygons =
  | { readonly type: "Polygon"; readonly arcs: readonly Ring[] }
  | { readonly type: "MultiPolygon"; readonly arcs: readonly (readonly Ring[])[] }
  | { readonly type: null; readonly arcs?: undefined };
/** Numbers of arcs; ~n means arc n backwards. */
type Ring = readonly number[];
type Country = Polygons & { readonly properties: { readonly name: string } };

/** The northernmost latitude of Web Mercator, which makes its world a square. */
export const LATITUDE_MAX = 85.051_128_779_806_59;

/** A coordinate south of the world's square. */
const BELOW = 1.5;

/** The coordinates of a position in the world's square. */
export function toWorld({ lat, lon }: Position): { x: number; y: number } {
  const within = Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, lat));
  const sine = Math.sin((within * Math.PI) / 180);
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return { x: lon / 360 + 0.5, y };
}

/** The latitude of a y coordinate. */
export function latitudeAt(y: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;
}

/** Reads and projects the shapes at one level of detail; takes 0.1 to 0.5 s. */
export function readWorld(detail: Detail): World {
  const path = fileURLToPath(import.meta.resolve(`world-atlas/countries-${detail}.json`));
  const topology = JSON.parse(readFileSync(path, "utf8")) as Topology;
  const arcs = topology.arcs.map((arc) => project(arc, topology.transform));
  const land = topology.objects.land.geometries.flatMap(ringsOf);
  const countries = topology.objects.countries.geometries;
  return {
    land: land.map((ring) => shapeOf(closed(unwrapped(joined(ring, arcs))))),
    borders: borderArcs(countries).map((arc) =>
      shapeOf(unwrapped(arcs[arc] ?? new Float64Array())),
    ),
    countries: countries.flatMap((country) => labelOf(country, arcs)),
  };
}

/** Converts quantised, delta-encoded positions into points of the world. */
function project(
  arc: readonly (readonly [number, number])[],
  { scale, translate }: Topology["transform"],
): Points {
  const points = new Float64Array(arc.length * 2);
  let east = 0;
  let north = 0;
  for (const [index, [dEast, dNorth]] of arc.entries()) {
    east += dEast;
    north += dNorth;
    const lon = east * scale[0] + translate[0];
    const { x, y } = toWorld({ lat: north * scale[1] + translate[1], lon });
    points[index * 2] = x;
    points[index * 2 + 1] = y;
  }
  return points;
}

function ringsOf(geometry: Polygons): readonly Ring[] {
  if (geometry.type === "Polygon") return geometry.arcs;
  return geometry.type === "MultiPolygon" ? geometry.arcs.flat() : [];
}

/** The points of a ring; a point that two arcs share is kept once. */
function joined(ring: Ring, arcs: readonly Points[]): Points {
  const parts = ring.map((arc) => {
    const points = arcs[arc < 0 ? ~arc : arc] ?? new Float64Array();
    return arc < 0 ? backwards(points) : points;
  });
  const count = parts.reduce((sum, part) => sum + part.length - 2, 2);
  const points = new Float64Array(count);
  let at = 0;
  for (const part of parts) {
    points.set(at === 0 ? part : part.subarray(2), at);
    at += at === 0 ? part.length : part.length - 2;
  }
  return points;
}

function backwards(points: Points): Points {
  const turned = new Float64Array(points.length);
  for (let at = 0; at < points.length; at += 2) {
    turned[at] = points[points.length - at - 2] ?? 0;
    turned[at + 1] = points[points.length - at - 1] ?? 0;
  }
  return turned;
}

/**
 * Continues a shape that crosses the antimeridian in the next copy of the world, instead of jumping
 * back.
 */
function unwrapped(points: Points): Points {
  let offset = 0;
  const whole = points.slice();
  for (let at = 2; at < points.length; at += 2) {
    const step = (points[at] ?? 0) - (points[at - 2] ?? 0);
    if (step > 0.5) offset -= 1;
    if (step < -0.5) offset += 1;
    whole[at] = (points[at] ?? 0) + offset;
  }
  return whole;
}

/** Closes the coast of Antarctica through the south pole, because it goes round the world. */
function closed(ring: Points): Points {
  const first = ring[0] ?? 0;
  const last = ring[ring.length - 2] ?? 0;
  if (Math.abs(last - first) < 0.5) return ring;
  return Float64Array.from([...ring, last, BELOW, first, BELOW]);
}

/** Arcs that two countries share are borders; an arc of only one country is a coast. */
function borderArcs(countries: readonly Country[]): number[] {
  const users = new Map<number, number>();
  for (const country of countries) {
    const own = new Set(ringsOf(country).flatMap((ring) => ring.map((arc) => arc ^ (arc >> 31))));
    for (const arc of own) users.set(arc, (users.get(arc) ?? 0) + 1);
  }
  return [...users].filter(([, count]) => count > 1).map(([arc]) => arc);
}

function shapeOf(points: Points): Shape {
  let minX = Number.POSITIVE_INFINITY;
  let minY = Number.POSITIVE_INFINITY;
  let maxX = Number.NEGATIVE_INFINITY;
  let maxY = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < points.length; at += 2) {
    const x = points[at] ?? 0;
    const y = points[at + 1] ?? 0;
    if (x < minX) minX = x;
    if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
  }
  return { points, minX, minY, maxX, maxY };
}

/** Places the label in the middle of the country's largest part. */
function labelOf(country: Country, arcs: readonly Points[]): CountryLabel[] {
  let best: CountryLabel | null = null;
  for (const ring of ringsOf(country)) {
    const points = closed(unwrapped(joined(ring, arcs)));
    const label = { name: country.properties.name, ...centroid(points) };
    if (best === null || label.area > best.area) best = label;
  }
  return best === null || best.area === 0 ? [] : [best];
}

function centroid(points: Points): { x: number; y: number; area: number } {
  let twice = 0;
  let x = 0;
  let y = 0;
  for (let at = 0; at + 3 < points.length; at += 2) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = points.subarray(at, at + 4);
    const cross = ax * by - bx * ay;
    twice += cross;
    x += (ax + bx) * cross;
    y += (ay + by) * cross;
  }
  if (twice === 0) return { x: 0, y: 0, area: 0 };
  return { x: x / (3 * twice), y: y / (3 * twice), area: Math.abs(twice) / 2 };
}
