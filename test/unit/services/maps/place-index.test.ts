import { expect, test } from "bun:test";
import fc from "fast-check";
import { distance, type Position } from "../../../../src/annexes/atlas/geography.ts";
import { placeFile } from "../../../../src/annexes/atlas/place-file.ts";
import { PlaceIndex } from "../../../../src/annexes/atlas/place-index.ts";
import { foldName } from "../../../../src/annexes/atlas/place-name.ts";
import { readPlaces } from "../../../../src/annexes/atlas/place-sources.ts";
import { openDataFile } from "../../../../src/upstream/data-file.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { testDataDirectory } from "../../../support/stores/services.ts";

const everywhere = { country: null, near: null };
const index = new PlaceIndex(await openDataFile(placeFile(testDataDirectory(), silent)));

test("any text is only a name: no text is an error", () => {
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

test("nearest() finds the same place as a search of all places", () => {
  const places = [...readPlaces()];
  const within = (position: Position, metres: number) =>
    places
      .map((place) => ({ place, away: distance(place, position) }))
      .filter(({ away }) => away <= metres)
      .map(({ place, away }) => ({ away, edge: away - Math.sqrt(place.population / 0.0471) }))
      .sort((one, other) => one.edge - other.edge)[0];
  const positions = fc.record({
    lat: fc.double({ min: -60, max: 75, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  fc.assert(
    fc.property(positions, (position) => {
      const found = index.nearest(position);
      const best = within(position, 15_000) ?? within(position, 100_000);
      expect(found?.distance_m).toBe(best === undefined ? undefined : Math.round(best.away));
    }),
    { numRuns: 25 },
  );
});

for (const [site, name, lat, lon] of [
  ["the Eiffel Tower", "Paris", 48.8584, 2.2945],
  ["the centre of one of its suburbs", "Neuilly-sur-Seine", 48.8846, 2.2697],
  ["Times Square", "New York City", 40.758, -73.9855],
  ["Shibuya crossing", "Tokyo", 35.659, 139.7],
  ["a village far from any city", "Rouy", 47, 3.5],
] as const) {
  test(`nearest() returns ${name} for ${site}`, () => {
    expect(index.nearest({ lat, lon })?.name).toBe(name);
  });
}

test("foldName() gives all spellings of a name one form", () => {
  expect(foldName("São  Paulo")).toBe("sao paulo");
  expect(foldName("SAO-PAULO")).toBe("sao paulo");
  expect(foldName("Köln")).toBe(foldName("Ko\u0308ln"));
  expect(foldName("東京")).toBe("東京");
  expect(foldName(" -- ")).toBe("");
});
