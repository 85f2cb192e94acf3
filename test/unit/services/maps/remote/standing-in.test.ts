// Tests configured servers behind the provider of maps: one replaces another that fails.

import { expect, test } from "bun:test";
import type { MapsAction } from "../../../../../src/services/maps/actions.ts";
import { MAPS_PRICES } from "../../../../../src/services/maps/prices.ts";
import { createMapsProvider } from "../../../../../src/services/maps/providers/maps-provider.ts";
import { remoteServers } from "../../../../../src/services/maps/providers/remote/remote-servers.ts";
import type { MapsServer } from "../../../../../src/services/maps/servers.ts";
import { realClock } from "../../../../support/fakes/fake-clock.ts";
import { KEY, NOW_MS, parametersOf, serverOf } from "../../../../support/fakes/maps-cases.ts";
import { PHOTON_PLACES } from "../../../../support/fakes/maps-fixtures/geocoders.ts";
import {
  OSRM_ROUTE,
  VALHALLA_ROUTE,
} from "../../../../support/fakes/maps-fixtures/openstreetmap.ts";
import { upstreamFetch } from "../../../../support/fakes/upstream-fetch.ts";
import { shared } from "../../../../support/shared.ts";
import { FakeMapServer } from "./fake-map-server.ts";

const ACCOUNT = "acct_1";

const first = await shared(FakeMapServer.start());
const second = await shared(FakeMapServer.start());

/** A provider that uses two kinds in this order, the first of them at the first server. */
function providerOf(action: MapsAction, kinds: readonly MapsServer["kind"][]) {
  const logged: unknown[] = [];
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });
  const servers = kinds.map((kind, index) => serverOf(kind, [first, second][index]?.baseUrl ?? ""));
  const config = {
    servers: new Map(servers.map((server) => [server.name, server])),
    providers: new Map([[action, kinds]]),
    prices: MAPS_PRICES,
  };
  const provider = createMapsProvider({
    config: () => config,
    embedded: {},
    connect: remoteServers({ now: () => NOW_MS }),
    fetch: upstreamFetch,
    clock: realClock,
    log: { info: log, warn: log, error: log },
  });
  return { provider, logged };
}

const options = { account: ACCOUNT, signal: new AbortController().signal };

test("a server that fails is replaced by the next, and the log names no place", async () => {
  const { provider, logged } = providerOf("geocode", ["nominatim", "photon"]);
  const parameters = parametersOf("geocode", "query=Museum&lat=52.5162&lon=13.3777");
  second.behaviour = { status: 200, body: JSON.stringify(PHOTON_PLACES) };
  for (const status of [500, 429, 200]) {
    first.behaviour = { status, body: "Museum 52.5162" };
    const reply = await provider.ask("geocode", parameters, options);
    expect(reply).toMatchObject({ provider: "photon", data: { places: [{ name: "Berlin" }, {}] } });
  }
  expect(logged).toHaveLength(3);
  const told = Bun.inspect(logged, { depth: 10 });
  const secrets = ["Museum", "52.5162", KEY, first.baseUrl, second.baseUrl];
  for (const secret of secrets) expect(told).not.toContain(secret);
});

test("a server that cannot honour a parameter is skipped without a request", async () => {
  const { provider } = providerOf("route", ["osrm", "valhalla"]);
  first.behaviour = { status: 200, body: JSON.stringify(OSRM_ROUTE) };
  second.behaviour = { status: 200, body: JSON.stringify(VALHALLA_ROUTE) };
  const before = first.asked.length;
  const ends = "from=52.5,13.4&to=52.52,13.42";
  const byFoot = parametersOf("route", `${ends}&mode=foot`);
  expect(await provider.ask("route", byFoot, options)).toMatchObject({
    provider: "valhalla",
  });
  expect(first.asked).toHaveLength(before);
  const byCar = parametersOf("route", ends);
  expect(await provider.ask("route", byCar, options)).toMatchObject({ provider: "osrm" });
});

test("a parameter that no server honours is refused by name, without a request", () => {
  const { provider } = providerOf("road_classes", ["valhalla"]);
  const before = first.asked.length;
  const parameters = parametersOf("road_classes", "bbox=13.3,52.4,13.5,52.6");
  expect(() => provider.check("road_classes", parameters)).toThrow(/^bbox must /);
  expect(first.asked).toHaveLength(before);
});
