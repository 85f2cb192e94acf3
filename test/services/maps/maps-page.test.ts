import { expect, test } from "bun:test";
import { ACTIONS, type MapsAction } from "../../../src/services/maps/actions.ts";
import { readQuery } from "../../../src/services/maps/maps-query.ts";
import { readParameters } from "../../../src/services/maps/read-parameters.ts";
import { EXAMPLES } from "../../support/maps-examples.ts";
import { PAGE, renewed } from "../../support/maps-page.ts";

test("docs/maps.md shows the table of actions as it is", async () => {
  const page = await Bun.file(PAGE).text();
  // The formatter lays out JSON in its own way.
  const words = (text: string) => text.replace(/\s/g, "");
  expect(words(page)).toBe(words(renewed(page)));
});

test("the example call of every action is one that it takes", () => {
  for (const action of Object.keys(ACTIONS) as MapsAction[]) {
    expect(readParameters(action, readQuery(`?${EXAMPLES[action].query}`))).toBeObject();
  }
});
