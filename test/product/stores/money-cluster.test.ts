// Runs the money suites on a Redis Cluster of three masters.

import { describe } from "bun:test";
import { shared } from "../../support/shared.ts";
import { startCluster } from "../../support/stores/services.ts";
import { openWorld } from "../../support/stores/world.ts";
import { accessSuite } from "../../unit/actors/suites/access.ts";
import { moneySuites } from "../../unit/actors/suites/all.ts";
import { hydrationSuite } from "../../unit/actors/suites/hydration.ts";
import { processSuite } from "../../unit/actors/suites/processes.ts";
import { randomWindowSuite } from "../../unit/actors/suites/window.ts";
import type { WorldFactory } from "../../unit/actors/suites/world-factory.ts";

const cluster = await shared(startCluster());

const open: WorldFactory = (options) => openWorld({ ...options, redisUrl: cluster.urls.join(",") });

describe("on a cluster", () => {
  moneySuites(open);
  accessSuite(open);
  processSuite(open);
  hydrationSuite(open);
  randomWindowSuite(open);
});
