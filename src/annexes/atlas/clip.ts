// Cuts shapes to the visible part of a picture, and writes them as SVG paths in pixels.

import type { Points, Shape } from "./world-shapes.ts";

/** The part of the world that a picture shows. */
export interface View {
  /**
   * The longitude of the north-west corner, in the world's square; negative if the corner is west
   * of the antimeridian.
   */
  readonly x: number;
  readonly y: number;
  /** The width of the world in pixels. */
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

/** Cuts are this many pixels outside of the picture, so they are not visible. */
const MARGIN = 4;
/** A point closer than this to the last point makes no visible difference. */
const STEP = 0.6;

/** Returns the path of filled rings; empty if no ring is visible. */
export function fillPath(shapes: readonly Shape[], view: View): string {
  return overWorlds(shapes, view, (points) => {
    let ring = withoutDetours(points, view);
    for (const side of ["left", "right", "top", "bottom"] as const) ring = cut(ring, side, view);
    const text = pathOf(ring);
    return text === "" ? "" : `${text}Z`;
  });
}

/** Returns the path of lines. */
export function linePath(shapes: readonly Shape[], view: View): string {
  return overWorlds(shapes, view, (points) => {
    let path = "";
    let start = -1;
    for (let at = 0; at < points.length; at += 2) {
      const isSeen = isNear(points, at, view);
      // A visible run begins with the last invisible point before it, and ends with the first one
      // after it.
      if (isSeen && start < 0) start = Math.max(0, at - 2);
      if (isSeen || start < 0) continue;
      path += pathOf(points.subarray(start, at + 2));
      start = -1;
    }
    return start < 0 ? path : path + pathOf(points.subarray(start));
  });
}

/**
 * The copies of the world that a view may show, as offsets from the first. A view needs several
 * copies across the antimeridian, or if it is wider than the world; shapes reach into the next
 * copy.
 */
export function worldsIn({ x, scale, width }: View): readonly number[] {
  const west = Math.floor(x) - 1;
  const east = Math.floor(x + width / scale) + 1;
  return Array.from({ length: east - west + 1 }, (_, index) => west + index);
}

function overWorlds(
  shapes: readonly Shape[],
  view: View,
  draw: (points: Points) => string,
): string {
  const { x, y, scale, width, height } = view;
  const margin = MARGIN / scale;
  let path = "";
  for (const offset of worldsIn(view)) {
    for (const shape of shapes) {
      if (shape.maxX + offset < x - margin || shape.minX + offset > x + width / scale + margin) {
        continue;
      }
      if (shape.maxY < y - margin || shape.minY > y + height / scale + margin) continue;
      path += draw(toPixels(shape.points, view, offset));
    }
  }
  return path;
}

function toPixels(points: Points, { x, y, scale }: View, offset: number): Points {
  const pixels = new Float64Array(points.length);
  let count = 0;
  let lastX = Number.NaN;
  let lastY = Number.NaN;
  for (let at = 0; at < points.length; at += 2) {
    const px = ((points[at] ?? 0) + offset - x) * scale;
    const py = ((points[at + 1] ?? 0) - y) * scale;
    const isLast = at + 2 >= points.length;
    if (!isLast && Math.abs(px - lastX) < STEP && Math.abs(py - lastY) < STEP) continue;
    pixels[count] = lastX = px;
    pixels[count + 1] = lastY = py;
    count += 2;
  }
  return pixels.subarray(0, count);
}

/**
 * Removes the points of a ring that lie, together with both neighbours, beyond the same side: the
 * line between those neighbours is invisible too. This removes most of a continent before the ring
 * is cut.
 */
function withoutDetours(ring: Points, view: View): Points {
  const kept = new Float64Array(ring.length);
  let count = 0;
  let before = 0;
  let here = sidesOf(ring, 0, view);
  for (let at = 0; at < ring.length; at += 2) {
    const after = at + 2 < ring.length ? sidesOf(ring, at + 2, view) : 0;
    if ((before & here & after) === 0) {
      kept[count++] = ring[at] ?? 0;
      kept[count++] = ring[at + 1] ?? 0;
      before = here;
    }
    here = after;
  }
  return kept.subarray(0, count);
}

/** The sides of the picture that a point is beyond, as bits. */
function sidesOf(points: Points, at: number, { width, height }: View): number {
  const x = points[at] ?? 0;
  const y = points[at + 1] ?? 0;
  const beside = x < -MARGIN ? 1 : x > width + MARGIN ? 2 : 0;
  return beside | (y < -MARGIN ? 4 : y > height + MARGIN ? 8 : 0);
}

type Side = "left" | "right" | "top" | "bottom";

/** One step of Sutherland and Hodgman: removes the part of a ring beyond one side. */
function cut(ring: Points, side: Side, { width, height }: View): Points {
  const axis = side === "left" || side === "right" ? 0 : 1;
  const sign = side === "left" || side === "top" ? 1 : -1;
  const edge = side === "left" || side === "top" ? -MARGIN : MARGIN + (axis === 0 ? width : height);
  // Each point inside can add one more point, where the ring enters.
  const kept = new Float64Array(ring.length * 2);
  let count = 0;
  let fromX = ring[ring.length - 2] ?? 0;
  let fromY = ring[ring.length - 1] ?? 0;
  for (let at = 0; at < ring.length; at += 2) {
    const toX = ring[at] ?? 0;
    const toY = ring[at + 1] ?? 0;
    const before = ((axis === 0 ? fromX : fromY) - edge) * sign;
    const after = ((axis === 0 ? toX : toY) - edge) * sign;
    if (before >= 0 !== after >= 0) {
      const part = before / (before - after);
      kept[count++] = fromX + (toX - fromX) * part;
      kept[count++] = fromY + (toY - fromY) * part;
    }
    if (after >= 0) {
      kept[count++] = toX;
      kept[count++] = toY;
    }
    fromX = toX;
    fromY = toY;
  }
  return kept.subarray(0, count);
}

function isNear(points: Points, at: number, { width, height }: View): boolean {
  const x = points[at] ?? 0;
  const y = points[at + 1] ?? 0;
  // The margin is wide: a line between two points outside is drawn only if one of the points is
  // near.
  return x > -width && x < 2 * width && y > -height && y < 2 * height;
}

function pathOf(points: Points): string {
  if (points.length < 4) return "";
  let path = "";
  for (let at = 0; at < points.length; at += 2) {
    const x = Math.round((points[at] ?? 0) * 10) / 10;
    const y = Math.round((points[at + 1] ?? 0) * 10) / 10;
    path += `${at === 0 ? "M" : at === 2 ? "L" : " "}${x},${y}`;
  }
  return path;
}
