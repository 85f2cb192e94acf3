// Runs the money suites on one Redis server.

import { describe } from "bun:test";
import { accessSuite } from "./suites/access.ts";
import { moneySuites } from "./suites/all.ts";
import { hydrationSuite } from "./suites/hydration.ts";
import { processSuite } from "./suites/processes.ts";
import { randomWindowSuite } from "./suites/window.ts";
import { SINGLE_SERVER } from "./suites/world-factory.ts";

describe("on one server", () => {
  moneySuites(SINGLE_SERVER.open);
  accessSuite(SINGLE_SERVER);
  processSuite(SINGLE_SERVER);
  hydrationSuite(SINGLE_SERVER);
  randomWindowSuite(SINGLE_SERVER.open);
});
