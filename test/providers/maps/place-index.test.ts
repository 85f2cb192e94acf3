import { beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { distance } from "../../../src/core/maps/geography.ts";
import { openDataFile } from "../../../src/providers/data-file.ts";
import { placeFile } from "../../../src/providers/maps/embedded/place-file.ts";
import { PlaceIndex } from "../../../src/providers/maps/embedded/place-index.ts";
import { foldName } from "../../../src/providers/maps/embedded/place-name.ts";
import { readPlaces } from "../../../src/providers/maps/embedded/place-sources.ts";
import { testDataDirectory } from "../../support/services.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const everywhere = { country: null, near: null };
let index: PlaceIndex;

beforeAll(async () => {
  index = new PlaceIndex(await openDataFile(placeFile(testDataDirectory(), silent)));
});

test("whatever is asked for is only a name: no text is an error", () => {
  const query = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.constantFrom(
      '"',
      "'",
      "*",
      "NEAR(",
      "a AND b",
      "names : x",
      "^x",
      "-x",
      "x*",
      '""',
      "(",
      "{",
    ),
  );
  fc.assert(
    fc.property(query, (text) => {
      expect(index.find({ query: text, limit: 3, ...everywhere }).length).toBeLessThanOrEqual(3);
    }),
    { numRuns: 1_000 },
  );
});

test("one in 200 places is found by its own name, in its own country", () => {
  const places = [...readPlaces()].filter((_, at) => at % 200 === 0);
  const lost = places.filter(({ name, country, lat, lon }) => {
    const near = { lat, lon };
    const found = index.find({ query: name, limit: 5, country, near });
    return !found.some((one) => one.lat === lat && one.lon === lon);
  });
  expect(lost.map(({ name, country }) => `${name}, ${country}`)).toEqual([]);
});

test("nearest() finds what a search of all places finds", () => {
  const places = [...readPlaces()];
  const near = (lat: number, lon: number) =>
    places.reduce((best, one) => Math.min(best, distance(one, { lat, lon })), 100_001);
  const positions = fc.record({
    lat: fc.double({ min: -60, max: 75, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  fc.assert(
    fc.property(positions, (position) => {
      const found = index.nearest(position);
      const best = near(position.lat, position.lon);
      if (best > 100_000) expect(found).toBeNull();
      else expect(found?.distance_m).toBe(Math.round(best));
    }),
    { numRuns: 25 },
  );
});

test("foldName() makes one name of its spellings", () => {
  expect(foldName("São  Paulo")).toBe("sao paulo");
  expect(foldName("SAO-PAULO")).toBe("sao paulo");
  expect(foldName("Köln")).toBe(foldName("Ko\u0308ln"));
  expect(foldName("東京")).toBe("東京");
  expect(foldName(" -- ")).toBe("");
});
