import { expect, test } from "bun:test";
import { openEmbeddedMaps } from "../../../../src/services/maps/providers/embedded/embedded-maps.ts";
import { remoteServers } from "../../../../src/services/maps/providers/remote/remote-servers.ts";
import {
  EMBEDDED_ACTIONS,
  KIND_ACTIONS,
  MAPS_KINDS,
  MAPS_SERVER_DEFAULTS,
} from "../../../../src/services/maps/servers.ts";
import { realClock } from "../../../support/fakes/fake-clock.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { upstreamFetch } from "../../../support/fakes/upstream-fetch.ts";
import { testDataDirectory } from "../../../support/stores/services.ts";

test("every kind of server serves exactly the actions that the configuration lets it serve", () => {
  const connect = remoteServers({ now: () => 0 });
  for (const kind of MAPS_KINDS) {
    const baseUrl = "http://127.0.0.1:1";
    const server = { ...MAPS_SERVER_DEFAULTS, name: kind, kind, baseUrl, apiKey: null };
    const served = Object.keys(connect(server, { fetch: upstreamFetch }));
    expect([kind, ...served.sort()]).toEqual([kind, ...[...KIND_ACTIONS[kind]].sort()]);
  }
});

test("the embedded provider serves exactly the actions that are listed for it", () => {
  const directory = testDataDirectory();
  using embedded = openEmbeddedMaps({ directory, clock: realClock, log: silent });
  expect(Object.keys(embedded.services).sort()).toEqual([...EMBEDDED_ACTIONS].sort());
});
