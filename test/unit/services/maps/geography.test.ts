import { expect, test } from "bun:test";
import fc from "fast-check";
import { boxesAround, distance, isInside } from "../../../../src/annexes/atlas/geography.ts";
import {
  box,
  country,
  language,
  line,
  position,
  stopId,
  time,
} from "../../../../src/services/maps/parameters.ts";

test("distance() follows the great circle, in metres", () => {
  const berlin = { lat: 52.5, lon: 13.4 };
  // 1 degree of a meridian, and half of the earth.
  expect(distance({ lat: 0, lon: 0 }, { lat: 1, lon: 0 })).toBeCloseTo(111_195, -1);
  expect(distance({ lat: 90, lon: 0 }, { lat: -90, lon: 50 })).toBeCloseTo(20_015_114, -1);
  expect(distance({ lat: 0, lon: 179.5 }, { lat: 0, lon: -179.5 })).toBeCloseTo(111_195, -1);
  expect(distance(berlin, berlin)).toBe(0);
});

test("boxesAround() leaves out no near position, even at poles and antimeridian", () => {
  const positions = fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  const steps = fc.record({
    metres: fc.integer({ min: 1, max: 500_000 }),
    north: fc.double({ min: -1, max: 1, noNaN: true }),
    east: fc.double({ min: -1, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(positions, steps, (centre, { metres, north, east }) => {
      const lat = Math.max(-90, Math.min(90, centre.lat + north * (metres / 111_195)));
      const wide = metres / 111_195 / Math.max(0.001, Math.cos((lat * Math.PI) / 180));
      const lon = ((((centre.lon + east * wide + 180) % 360) + 360) % 360) - 180;
      if (distance(centre, { lat, lon }) > metres * 0.999_999) return;
      const boxes = boxesAround(centre, metres);
      const around = boxes.map((one) => ({ around: null, radius: null, box: one }));
      expect(around.some((area) => isInside(area, { lat, lon }))).toBe(true);
      for (const { minLon, maxLon, minLat, maxLat } of boxes) {
        expect(minLon).toBeLessThanOrEqual(maxLon);
        expect([minLon >= -180, maxLon <= 180, minLat >= -90, maxLat <= 90]).not.toContain(false);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("values are accepted exactly as they are written, or not at all", () => {
  expect(position.read("52.5,-13")).toEqual({ lat: 52.5, lon: -13 });
  expect(Object.is(position.read("-0,0")?.lat, 0)).toBe(true);
  for (const wrong of ["", "1", "1,2,3", "1, 2", "a,b", "91,0", "1e1,0", "+1,0", "1.,0", "NaN,0"]) {
    expect(position.read(wrong)).toBeUndefined();
  }
  expect(box.read("-1,-2,3,4")).toEqual({ minLon: -1, minLat: -2, maxLon: 3, maxLat: 4 });
  for (const wrong of ["1,2,3", "3,2,1,4", "1,1,1,2", "1,2,3,4,5"]) {
    expect(box.read(wrong)).toBeUndefined();
  }
  expect(country.read("de")).toBe("DE");
  expect(country.read("D1")).toBeUndefined();
  expect(language.read("PT-br")).toBe("pt-BR");
  const twice = "de-posix-POSIX";
  for (const wrong of ["", "d", "de_DE", "english-language", "de-x-private", "de--at", twice]) {
    expect(language.read(wrong)).toBeUndefined();
  }
  // The platform compares each variant with all others, and a query has room for thousands.
  expect(language.read("de-11111-22222-33333-44444")).toBe("de-11111-22222-33333-44444");
  expect(language.read("de-11111-22222-33333-44444-55555")).toBeUndefined();
  expect(line(3).read("🗺️a")).toBe("🗺️a");
  expect(line(3).read("abcd")).toBeUndefined();
  expect(line(3).read("a\u2028b")).toBeUndefined();
  expect(stopId.read("de:11000:900003201")).toBe("de:11000:900003201");
  expect(stopId.read("a b")).toBeUndefined();
});

test("a time needs its offset, and must be a real date", () => {
  expect(time.read("2026-11-21T08:00:00+01:00")).toBe(Date.UTC(2026, 10, 21, 7));
  expect(time.read("2026-11-21t07:00:00z")).toBe(Date.UTC(2026, 10, 21, 7));
  expect(time.read("2028-02-29T00:00:00.5-00:30")).toBe(Date.UTC(2028, 1, 29, 0, 30, 0, 500));
  for (const wrong of [
    "2026-11-21",
    "2026-11-21T08:00:00",
    "2026-11-21 08:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:00+24:00",
  ]) {
    expect(time.read(wrong)).toBeUndefined();
  }
});
