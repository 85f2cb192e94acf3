// Google's Encoded Polyline Algorithm Format, with five to seven decimals.

import type { LineString } from "../../../../annexes/atlas/geography.ts";
import { lineStringOf } from "./read.ts";

const CHARACTERS_MAX = 2_000_000;

/** The line of an encoded polyline; null if it is invalid. Latitudes come first in the text. */
export function decodePolyline(value: unknown, decimals = 6): LineString | null {
  if (typeof value !== "string" || value.length > CHARACTERS_MAX) return null;
  const scale = 10 ** decimals;
  const points: [number, number][] = [];
  const sums: [number, number] = [0, 0];
  let axis = 0;
  let bits = 0;
  let shift = 0;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index) - 63;
    if (code < 0 || code > 63 || shift > 30) return null;
    bits += (code & 31) * 2 ** shift;
    shift += 5;
    if (code >= 32) continue;
    sums[axis as 0 | 1] += bits % 2 === 1 ? -(bits + 1) / 2 : bits / 2;
    if (axis === 1) points.push([sums[1] / scale, sums[0] / scale]);
    axis = 1 - axis;
    bits = 0;
    shift = 0;
  }
  return axis === 0 && shift === 0 ? lineStringOf(points) : null;
}
