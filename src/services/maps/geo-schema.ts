// Positions and lines in answers. Names of fields end in their unit (`_m` metres, `_s` seconds,
// `_kmh`), times are RFC 3339 with an offset, countries ISO 3166-1 alpha-2; a field next to an
// amount of money names its currency. Null means that the provider does not know.

import { named, numberFrom, Type } from "../../http/schema.ts";

const latitude = numberFrom(-90, 90, { description: "WGS84, in decimal degrees" });
const longitude = numberFrom(-180, 180, { description: "WGS84, in decimal degrees" });

export const Position = named("Position", { lat: latitude, lon: longitude });

export const LineString = named(
  "LineString",
  {
    type: Type.Literal("LineString"),
    coordinates: Type.Array(
      Type.Unsafe<[lon: number, lat: number]>(
        Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: "Longitude, latitude" }),
      ),
    ),
  },
  { description: "GeoJSON (RFC 7946)" },
);
