// Each rule about who counts which tokens inside of which total is a vector of its own.

import { describe, expect, test } from "bun:test";
import { allVectors } from "./all-vectors.ts";
import { checkVector, READERS } from "./vector.ts";

test("every reader has a vector of its own", () => {
  const shapes = allVectors().flatMap(([, vectors]) => vectors.map(({ shape }) => shape));
  expect(shapes).toEqual(expect.arrayContaining(Object.keys(READERS)));
});

for (const [form, vectors] of allVectors()) {
  describe(`${form}: parts, row and cost`, () => {
    for (const vector of vectors) test(vector.id, () => checkVector(vector));
  });
}
