// Runs the money suites on one Redis server.

import { describe } from "bun:test";
import { openWorld } from "../../support/stores/world.ts";
import { accessSuite } from "./suites/access.ts";
import { moneySuites } from "./suites/all.ts";
import { hydrationSuite } from "./suites/hydration.ts";
import { processSuite } from "./suites/processes.ts";
import { randomWindowSuite } from "./suites/window.ts";

describe("on one server", () => {
  moneySuites(openWorld);
  accessSuite(openWorld);
  processSuite(openWorld);
  hydrationSuite(openWorld);
  randomWindowSuite(openWorld);
});
