// Runs the money suites on one Redis server that gets every script twice.

import { describe } from "bun:test";
import { moneySuites } from "../../unit/actors/suites/all.ts";
import { openSentTwice } from "../../unit/actors/suites/world-factory.ts";

describe("with every script sent twice", () => {
  moneySuites(openSentTwice);
});
