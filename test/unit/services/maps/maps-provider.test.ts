import { expect, test } from "bun:test";
import type { ApiError } from "../../../../src/core/errors.ts";
import type { ParametersOf } from "../../../../src/services/maps/actions.ts";
import { MAPS_PRICES } from "../../../../src/services/maps/prices.ts";
import { createMapsProvider } from "../../../../src/services/maps/providers/maps-provider.ts";
import {
  type MapsReply,
  refusalFor,
  type Services,
} from "../../../../src/services/maps/providers/provider.ts";
import { readParameters } from "../../../../src/services/maps/read-parameters.ts";
import { MAPS_SERVER_DEFAULTS, type MapsConfig } from "../../../../src/services/maps/servers.ts";
import { RouteFailure, UnableFailure } from "../../../../src/upstream/route-failure.ts";
import { FakeClock } from "../../../support/fakes/fake-clock.ts";

const ACCOUNT = "acct_1";

const GEOCODE = readParameters("geocode", new Map([["query", "x"]]));
const nothing = { data: { places: [] }, attribution: [] };
const serving: Services = { geocode: { ask: async () => nothing } };
const failing = (error: Error): Services => ({ geocode: { ask: () => Promise.reject(error) } });
const unable: Services = {
  geocode: {
    unable: () => ({ parameter: "lang", problem: "must be left out" }),
    ask: () => Promise.reject(new Error("It was asked what it cannot honour")),
  },
};

/** A provider whose servers serve these services, in this order. */
function over(servers: Readonly<Record<string, Services>>, embedded: Services = serving) {
  const logged: unknown[] = [];
  let connections = 0;
  let names: readonly string[] = Object.keys(servers);
  const config: MapsConfig = {
    prices: MAPS_PRICES,
    servers: new Map(
      Object.keys(servers)
        .filter((name) => name !== "embedded")
        .map((name) => [
          name,
          {
            ...MAPS_SERVER_DEFAULTS,
            name,
            kind: "photon",
            baseUrl: `http://${name}`,
            apiKey: null,
          },
        ]),
    ),
    get providers() {
      return new Map([["geocode", names] as const]);
    },
  };
  const provider = createMapsProvider({
    config: () => config,
    embedded,
    connect: ({ name }) => {
      connections += 1;
      return servers[name] ?? {};
    },
    fetch: () => Promise.reject(new Error("Nothing is sent")),
    clock: new FakeClock(),
    log: { info: () => {}, warn: (...line) => void logged.push(line), error: () => {} },
  });
  const ask = (parameters: ParametersOf<"geocode"> = GEOCODE) =>
    provider.ask("geocode", parameters, { account: ACCOUNT, signal: new AbortController().signal });
  return {
    provider,
    ask,
    logged,
    connections: () => connections,
    reorder: (...order: string[]) => {
      names = order;
    },
  };
}

async function errorOf(reply: Promise<MapsReply<"geocode">>): Promise<ApiError> {
  return (await reply.catch((error: unknown) => error)) as ApiError;
}

test("the first that answers serves, and a failure before it is only logged", async () => {
  const { ask, logged } = over({ a: failing(new RouteFailure("Not now")), b: serving });
  expect(await ask()).toEqual({ ...nothing, provider: "photon" });
  expect(logged).toHaveLength(1);
});

test("the order and the embedded provider can change between two calls", async () => {
  const { ask, reorder, connections } = over({ a: serving });
  expect((await ask()).provider).toBe("photon");
  reorder("embedded", "a");
  expect((await ask()).provider).toBe("embedded");
  reorder("a");
  await ask();
  expect(connections()).toBe(1);
});

test("a server that cannot honour a parameter is skipped without a request", async () => {
  const { ask, logged } = over({ a: unable, b: serving });
  expect((await ask()).data).toEqual(nothing.data);
  expect(logged).toEqual([]);
});

test("if no server can honour a parameter, the refusal names it", async () => {
  const { ask, provider } = over({ a: unable });
  expect(await errorOf(ask())).toMatchObject({
    code: "invalid_parameter",
    message: "lang must be left out",
  });
  expect(() => provider.check("geocode", GEOCODE)).toThrow("lang must be left out");
});

test("if no server answers, the refusal says only that", async () => {
  const { ask } = over({ a: failing(new RouteFailure("Secret of a server")) });
  const error = await errorOf(ask());
  expect(error.code).toBe("upstream_unreachable");
  expect(error.message).not.toContain("Secret");
});

const tooFar = (parameter: string) =>
  failing(new UnableFailure(refusalFor({ parameter, problem: "must be nearer" })));

test("if every reply names a parameter the server cannot serve, the refusal names it", async () => {
  const { ask } = over({ a: tooFar("lat"), b: unable, c: tooFar("lon") });
  expect(await errorOf(ask())).toMatchObject({
    code: "invalid_parameter",
    message: "lat must be nearer",
  });
});

test("one server's limit is no refusal if another server failed or serves", async () => {
  const failed = over({ a: tooFar("lat"), b: failing(new RouteFailure("Not now")) });
  expect((await errorOf(failed.ask())).code).toBe("upstream_unreachable");
  expect((await over({ a: tooFar("lat"), b: serving }).ask()).data).toEqual(nothing.data);
});

test("an action that no server serves names its setting", async () => {
  const { provider, ask, reorder } = over({ a: serving });
  reorder();
  expect((await errorOf(ask())).code).toBe("maps_unavailable");
  expect(() => provider.check("geocode", GEOCODE)).toThrow("maps.actions.geocode");
});
