// Each rule about who counts which tokens inside of which total is a vector of its own.

import { describe, test } from "bun:test";
import { allVectors } from "./all-vectors.ts";
import { checkVector } from "./vector.ts";

for (const [form, vectors] of allVectors()) {
  describe(`${form}: parts, row and cost`, () => {
    for (const vector of vectors) test(vector.id, () => checkVector(vector));
  });
}
