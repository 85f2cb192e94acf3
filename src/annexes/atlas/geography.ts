// Measures positions on the globe: WGS84 decimal degrees, and metres between them.

export interface Position {
  readonly lat: number;
  readonly lon: number;
}

/** `minLon` is west of `maxLon`: an area that crosses the antimeridian needs two boxes. */
export interface Box {
  readonly minLon: number;
  readonly minLat: number;
  readonly maxLon: number;
  readonly maxLat: number;
}

/** The area of a search: around a position, or in a box. */
export type Area =
  | { readonly around: Position; readonly radius: number; readonly box: null }
  | { readonly around: null; readonly radius: null; readonly box: Box };

/** GeoJSON (RFC 7946): coordinates are longitude, latitude. */
export interface LineString {
  readonly type: "LineString";
  readonly coordinates: readonly (readonly [lon: number, lat: number])[];
}

/** The mean radius of the earth by the IUGG, in metres. */
const EARTH_RADIUS = 6_371_008.8;
const METRES_PER_DEGREE = (EARTH_RADIUS * Math.PI) / 180;
const RADIANS = Math.PI / 180;

/** Metres along the great circle between two positions (haversine). */
export function distance(a: Position, b: Position): number {
  const dLat = Math.sin(((b.lat - a.lat) * RADIANS) / 2);
  const dLon = Math.sin(((b.lon - a.lon) * RADIANS) / 2);
  const chord = dLat ** 2 + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * dLon ** 2;
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/**
 * The boxes that together contain every position within `metres`: one, or two at the antimeridian.
 * If a pole is that near, returns one box around the whole globe.
 */
export function boxesAround({ lat, lon }: Position, metres: number): readonly Box[] {
  const dLat = metres / METRES_PER_DEGREE;
  const minLat = Math.max(-90, lat - dLat);
  const maxLat = Math.min(90, lat + dLat);
  if (minLat === -90 || maxLat === 90) return [{ minLon: -180, minLat, maxLon: 180, maxLat }];
  // The circle is widest nearer to the pole than its centre is.
  const dLon = Math.asin(Math.min(1, Math.sin(dLat * RADIANS) / Math.cos(lat * RADIANS))) / RADIANS;
  return cutAtAntimeridian({ minLon: lon - dLon, minLat, maxLon: lon + dLon, maxLat });
}

/** The boxes of an area that may go beyond the antimeridian on one side: one, or two there. */
export function cutAtAntimeridian({ minLon, minLat, maxLon, maxLat }: Box): Box[] {
  if (minLon < -180) {
    const west = { minLon: minLon + 360, minLat, maxLon: 180, maxLat };
    return [west, { minLon: -180, minLat, maxLon, maxLat }];
  }
  if (maxLon > 180) {
    const east = { minLon: -180, minLat, maxLon: maxLon - 360, maxLat };
    return [{ minLon, minLat, maxLon: 180, maxLat }, east];
  }
  return [{ minLon, minLat, maxLon, maxLat }];
}

/** The square metres of a box. */
export function surfaceOf({ minLon, minLat, maxLon, maxLat }: Box): number {
  const height = Math.sin(maxLat * RADIANS) - Math.sin(minLat * RADIANS);
  return EARTH_RADIUS ** 2 * (maxLon - minLon) * RADIANS * height;
}

/** True for a position inside the area or on its edge. */
export function isInside(area: Area, position: Position): boolean {
  if (area.box === null) return distance(area.around, position) <= area.radius;
  const { minLon, minLat, maxLon, maxLat } = area.box;
  const { lat, lon } = position;
  if (lat < minLat || lat > maxLat) return false;
  // The antimeridian has two longitudes.
  const isOn = (meridian: number) => meridian >= minLon && meridian <= maxLon;
  return isOn(lon) || (Math.abs(lon) === 180 && isOn(-lon));
}
