// Recorded replies of providers, with the bill that they must give, lie beside some checkouts of
// this repository. Our own vectors state the same rules, so nothing is lost where they are missing.

import { describe, expect, test } from "bun:test";
import { recordedVectors } from "./all-vectors.ts";
import { checkVector } from "./vector.ts";

const recorded = recordedVectors();

if (recorded === null) {
  test.skip("recorded replies are not beside this checkout (../shared/fixtures)", () => {});
} else {
  describe("each recorded reply gives its parts, its row and its cost to the nano-dollar", () => {
    test("there are recordings", () => expect(recorded.length).toBeGreaterThan(100));
    for (const vector of recorded) test(vector.id, () => checkVector(vector));
  });
}
