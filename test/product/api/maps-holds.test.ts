// Tests the hold of a maps call, in front of a real server over HTTP: it ends, whatever the server
// does.

import { beforeEach, expect, test } from "bun:test";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { MAPS_PRICES } from "../../../src/services/maps/prices.ts";
import { createMapsProvider } from "../../../src/services/maps/providers/maps-provider.ts";
import { remoteServers } from "../../../src/services/maps/providers/remote/remote-servers.ts";
import { readParameters } from "../../../src/services/maps/read-parameters.ts";
import { errorOf, until } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { bytesOf, CASES, serverOf } from "../../support/fakes/maps-cases.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { upstreamFetch } from "../../support/fakes/upstream-fetch.ts";
import { shared } from "../../support/shared.ts";
import { daysAgo, type TestAccount } from "../../support/stores/accounts.ts";
import { type Behaviour, FakeMapServer } from "../../unit/services/maps/remote/fake-map-server.ts";

const TIMEOUT_MS = 100;
const QUERY = "query=Museum&lat=52.5&lon=13.4";
const PAID = 100_000_000_000n;
const PRICE = 50_000n;

const api = await sharedApi();
const server = await shared(FakeMapServer.start());

/** The provider as the product opens it, with one server. */
function providerOf(timeoutMs: number) {
  const servers = new Map([["photon", serverOf("photon", server.baseUrl, { timeoutMs })]]);
  const providers = new Map([["geocode", ["photon"]] as const]);
  return createMapsProvider({
    config: () => ({ prices: MAPS_PRICES, servers, providers }),
    embedded: {},
    connect: remoteServers({ now: Date.now }),
    fetch: upstreamFetch,
    clock: realClock,
    log: silent,
  });
}

let account: TestAccount;
let timeoutMs = TIMEOUT_MS;
let query = QUERY;
beforeEach(async () => {
  account = await api.account({ scopes: ["maps"], paid: "100", paidAt: daysAgo(10) });
  query = QUERY;
  // In each test the server counts as healthy at first.
  let provider: ReturnType<typeof providerOf> | null = null;
  api.maps.answer = (action, options) => {
    if (action !== "geocode") throw new Error(`${action} is not served`);
    provider ??= providerOf(timeoutMs);
    const parameters = readParameters("geocode", new Map(new URLSearchParams(query)));
    return provider.ask(action, parameters as never, options);
  };
});

/** The account's balance, and its held amounts. */
async function balances(): Promise<readonly unknown[]> {
  const { paid, heldPaid } = await api.view(account);
  return [paid, heldPaid, await api.holdRecords(account)];
}

const FAULTS: Readonly<Record<string, Behaviour>> = {
  "has an error": { status: 500, body: "{}" },
  "refuses us": { status: 401, body: "{}" },
  "sends no JSON": { status: 200, body: "<html>" },
  "sends another shape": { status: 200, body: '{"features":[5]}' },
  "hangs up": { mood: "reset" },
  "hangs up in its reply": { mood: "reset in body" },
  "never answers": { mood: "hang" },
  "never ends its reply": { mood: "hang in body" },
  "sends without end": { mood: "flood" },
};

for (const [name, behaviour] of Object.entries(FAULTS)) {
  test(`is given back whole if the server ${name}`, async () => {
    timeoutMs = name.startsWith("never") ? TIMEOUT_MS : 10_000;
    server.behaviour = behaviour;
    const response = await api.get(`/v1/maps?action=geocode&${QUERY}`, account);
    expect(response.status).toBe(502);
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect((await errorOf(response)).type).toBe("server_error");
    expect(await balances()).toEqual([PAID, 0n, []]);
    const end = { status: 502, errorCode: "upstream_unreachable" };
    expect(await api.journal(account)).toMatchObject([{ type: "call", end }]);
  });
}

test("is given back whole if the server reports that it cannot serve a parameter", async () => {
  query = `${QUERY}&lang=eo`;
  server.behaviour = { status: 400, body: '{"message":"language eo is not supported"}' };
  const response = await api.get(`/v1/maps?action=geocode&${query}`, account);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({
    code: "invalid_parameter",
    message: "lang must be a language of the names here",
  });
  expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  expect(await balances()).toEqual([PAID, 0n, []]);
  const end = { status: 400, errorCode: "invalid_parameter" };
  expect(await api.journal(account)).toMatchObject([{ type: "call", end }]);
});

test("is given back whole if the caller leaves, and the server's request ends", async () => {
  timeoutMs = 10_000;
  server.behaviour = { mood: "hang" };
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${account.key}` };
  const url = `${api.parts.url}/v1/maps?action=geocode&${QUERY}`;
  const asked = server.asked.length;
  const answer = fetch(url, { headers, signal: leave.signal }).catch(() => null);
  await until(async () => server.asked.length > asked, "the server is asked");
  expect((await balances()).slice(0, 2)).toEqual([PAID - PRICE, PRICE]);
  leave.abort();
  await answer;
  await until(async () => server.last().isGone, "the server hears of it");
  await until(async () => (await api.holdRecords(account)).length === 0, "it is given back");
  expect(await balances()).toEqual([PAID, 0n, []]);
});

test("is settled to its price, and no part of it stays held", async () => {
  const one = CASES.find(({ kind, action }) => kind === "photon" && action === "geocode");
  server.behaviour = { status: 200, body: bytesOf(one?.reply ?? {}) };
  const response = await api.get(`/v1/maps?action=geocode&${QUERY}`, account);
  expect(response.status).toBe(200);
  const left: unknown = (PAID - PRICE) as NanoUsd;
  expect(await balances()).toEqual([left, 0n, []]);
});
