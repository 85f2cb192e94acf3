// Tests the antimeridian, which has two longitudes, and the poles, which have all of them. A
// position there has the same answer under each of its longitudes, and the answer of the positions
// beside it.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { boxesAround, distance, isInside } from "../../../../src/annexes/atlas/geography.ts";
import { boxOf } from "../../../../src/services/maps/providers/remote/openstreetmap.ts";
import { lineStringOf, positionOf } from "../../../../src/services/maps/providers/remote/read.ts";
import { territoryAt, timezoneAt } from "../../../../src/services/maps/providers/territory.ts";

test.each([
  ["Taveuni", -16.8, "FJ", "Pacific/Fiji"],
  ["Chukotka", 68, "RU", "Asia/Anadyr"],
  ["Wrangel Island", 71, "RU", "Asia/Anadyr"],
  ["Antarctica", -85, "AQ", "Antarctica/McMurdo"],
  ["the South Pole", -90, "AQ", "Antarctica/McMurdo"],
] as const)("%s has a country and a time zone on the meridian 180", (_, lat, country, zone) => {
  for (const lon of [180, -180]) {
    expect(territoryAt({ lat, lon })?.countryCode).toBe(country);
    expect(timezoneAt({ lat, lon })).toBe(zone);
  }
});

test("every latitude has one country and one time zone on the meridian 180", () => {
  for (let lat = -90; lat <= 90; lat += 0.25) {
    const [east, west] = [
      { lat, lon: 180 },
      { lat, lon: -180 },
    ] as const;
    expect([lat, territoryAt(east)]).toEqual([lat, territoryAt(west)]);
    expect([lat, timezoneAt(east)]).toEqual([lat, timezoneAt(west)]);
  }
  for (const lon of [0, 180, -180]) expect(territoryAt({ lat: 90, lon })).toBeNull();
});

test("positions near the meridian 180 are in the boxes around it, under either longitude", () => {
  const latitudes = fc.double({ min: -89, max: 89, noNaN: true });
  const longitudes = fc.constantFrom(180, -180, 179.999, -179.999);
  fc.assert(
    fc.property(latitudes, longitudes, longitudes, (lat, lon, other) => {
      const around = { lat, lon };
      const metres = Math.ceil(distance(around, { lat, lon: other })) + 1;
      const areas = boxesAround(around, metres).map(
        (box) => ({ around: null, radius: null, box }) as const,
      );
      expect(areas.some((area) => isInside(area, { lat, lon: other }))).toBe(true);
      expect(isInside({ around, radius: metres, box: null }, { lat, lon: other })).toBe(true);
    }),
  );
  const west = { minLon: -180, minLat: -20, maxLon: -179, maxLat: -10 };
  const area = { around: null, radius: null, box: west } as const;
  expect(isInside(area, { lat: -16.8, lon: 180 })).toBe(true);
  expect(isInside(area, { lat: -16.8, lon: 179 })).toBe(false);
  // One box cannot cover both sides: servers that take one box refuse the circle by name.
  expect(boxOf({ around: { lat: -16.8, lon: 180 }, radius: 500, box: null })).toBeNull();
});

test("a longitude beyond the meridian 180 becomes one of the other side, even in a line", () => {
  expect(positionOf(-16.8, 180)).toEqual({ lat: -16.8, lon: 180 });
  expect(positionOf(-16.8, -180)).toEqual({ lat: -16.8, lon: -180 });
  expect(positionOf(-16.8, 181)).toEqual({ lat: -16.8, lon: -179 });
  expect(positionOf("-16.8", "-181.5")).toEqual({ lat: -16.8, lon: 178.5 });
  expect(positionOf(-16.8, 361)).toBeNull();
  expect(positionOf(90.1, 0)).toBeNull();
  const line = lineStringOf([
    [179.5, -16],
    [180.5, -17],
  ]);
  expect(line?.coordinates).toEqual([
    [179.5, -16],
    [-179.5, -17],
  ]);
});
