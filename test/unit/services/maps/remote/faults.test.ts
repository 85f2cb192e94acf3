// Tests that after any upstream failure the next provider can be used, and no secret is revealed.

import { describe, expect, test } from "bun:test";
import { RouteFailure } from "../../../../../src/upstream/route-failure.ts";
import { eventually } from "../../../../support/eventually.ts";
import { UPSTREAM_SECRET } from "../../../../support/fakes/fake-upstream.ts";
import {
  askServer,
  bytesOf,
  CASES,
  type Case,
  KEY,
  parametersOf,
  serverOf,
} from "../../../../support/fakes/maps-cases.ts";
import { shared } from "../../../../support/shared.ts";
import { type Behaviour, FakeMapServer, type Mood } from "./fake-map-server.ts";

const fake = await shared(FakeMapServer.start());
const { baseUrl } = fake;

const TIMEOUT_MS = 60;

/** The error of a case while the server behaves like this. */
async function failure(
  { kind, action, query }: Case,
  behaviour: Behaviour,
  { timeoutMs = 10_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<unknown> {
  fake.behaviour = behaviour;
  const server = serverOf(kind, baseUrl, { timeoutMs });
  try {
    await askServer({ server, action, query, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    return error;
  }
  throw new Error("It was served");
}

/** Requires a RouteFailure without any text that a log must not hold. */
function expectRouteFailure(error: unknown, one: Case, blames: RouteFailure["blames"]): void {
  expect(error).toBeInstanceOf(RouteFailure);
  if (!(error instanceof RouteFailure)) return;
  expect(error.blames).toBe(blames);
  expect(error.cause).toBeUndefined();
  const told = `${error.message} ${JSON.stringify(error)}`;
  const values = [...new URLSearchParams(one.query).values()].flatMap((value) => value.split(","));
  const telling = values.filter((value) => /\d./.test(value) || value === "Museum");
  for (const secret of [KEY, UPSTREAM_SECRET, baseUrl, ...telling]) {
    expect(told).not.toContain(secret);
  }
}

const STATUSES: readonly (readonly [status: number, blames: RouteFailure["blames"]])[] = [
  [204, "server"],
  [400, "nobody"],
  [401, "server"],
  [403, "nobody"],
  [404, "nobody"],
  [413, "nobody"],
  [422, "nobody"],
  [429, "nobody"],
  [500, "server"],
  [503, "server"],
];

/** Bodies with status 200 that the upstream never sends. */
const WRONG_BODIES: Readonly<Record<string, string>> = {
  "nothing at all": "",
  "a page": `<html>${UPSTREAM_SECRET}</html>`,
  "cut off JSON": '{"features":[{"lat":"52.5"',
  null: "null",
  "a number": "5",
  "a text": JSON.stringify(UPSTREAM_SECRET),
  "an object without what it needs": JSON.stringify({ error: UPSTREAM_SECRET }),
  "a list of junk": JSON.stringify([null, 5, UPSTREAM_SECRET, []]),
  "an object of junk": JSON.stringify(
    Object.fromEntries(
      "features elements routes trip stopTimes itineraries incidents stations current daily"
        .split(" ")
        .map((name) => [name, [UPSTREAM_SECRET, null]]),
    ),
  ),
  "deep nesting": `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
};

for (const one of CASES) {
  describe(`${one.kind}, asked for ${one.action}, does not serve`, () => {
    for (const [status, blames] of STATUSES) {
      test(`with status ${status}, in any form`, async () => {
        const message = `${UPSTREAM_SECRET} ${one.query}`;
        const json = JSON.stringify({ message, detailedError: message });
        for (const body of [message, json, message.padEnd(100_000)]) {
          expectRouteFailure(await failure(one, { status, body }), one, blames);
        }
      });
    }

    for (const [name, body] of Object.entries(WRONG_BODIES)) {
      test(`by answering ${name}`, async () => {
        expectRouteFailure(await failure(one, { status: 200, body }), one, "server");
      });
    }

    for (const mood of ["hang", "hang in body"] satisfies Mood[]) {
      test(`by a ${mood}, once its time is up`, async () => {
        const error = await failure(one, { mood }, { timeoutMs: TIMEOUT_MS });
        expectRouteFailure(error, one, "server");
        expect(String(error)).toContain("in time");
      });
    }

    for (const [mood, blames] of [
      ["reset", "server"],
      ["reset in body", "server"],
    ] as const satisfies [Mood, string][]) {
      test(`by a ${mood}`, async () => {
        expectRouteFailure(await failure(one, { mood }), one, blames);
      });
    }

    test("by a flood, which is cut off", async () => {
      const error = await failure(one, { mood: "flood" });
      expectRouteFailure(error, one, "server");
      expect(String(error)).toContain("larger");
      const asked = fake.last();
      await eventually("the server is hung up on", () => asked.isGone);
    });

    test("by a redirect, which is not followed", async () => {
      const before = fake.asked.length;
      const headers = { location: `${baseUrl}/elsewhere` };
      const error = await failure(one, { status: 302, body: "", headers });
      expectRouteFailure(error, one, "server");
      expect(fake.asked.length - before).toBe(1);
    });

    test("a caller who has gone: the request ends, and no server is blamed", async () => {
      const caller = new AbortController();
      const before = fake.asked.length;
      const failed = failure(one, { mood: "hang" }, { signal: caller.signal });
      await eventually("the server is asked", () => fake.asked.length > before);
      const reason = new Error("The caller has gone");
      caller.abort(reason);
      expect(await failed).toBe(reason);
      const asked = fake.last();
      await eventually("the server is hung up on", () => asked.isGone);
    });
  });
}

test("an unreachable server does not serve, and its address is not revealed", async () => {
  const [one] = CASES;
  if (one === undefined) throw new Error("There is no case");
  const server = serverOf(one.kind, "http://127.0.0.1:1");
  const asked = askServer({ server, action: one.action, query: one.query });
  const error = await asked.catch((thrown: unknown) => thrown);
  expectRouteFailure(error, one, "connection");
  expect(String(error)).not.toContain("127.0.0.1");
});

test("every key goes to the place that the kind wants, and nowhere without a key", async () => {
  const carriers: Record<string, string> = {};
  for (const one of CASES) {
    fake.behaviour = { status: 200, body: bytesOf(one.reply) };
    const { action, query } = one;
    await askServer({ server: serverOf(one.kind, baseUrl), action, query });
    const { target, headers } = fake.last();
    const isBearer = headers.authorization === `Bearer ${KEY}`;
    carriers[one.kind] = isBearer
      ? "bearer"
      : (/[?&](\w+)=key-7f31/.exec(target)?.[1] ?? "nowhere");
    await askServer({ server: serverOf(one.kind, baseUrl, { apiKey: null }), action, query });
    const without = fake.last();
    expect(`${without.target} ${without.headers.authorization}`).not.toContain("key-7f31");
  }
  expect(carriers).toEqual({
    nominatim: "bearer",
    photon: "bearer",
    overpass: "bearer",
    osrm: "bearer",
    valhalla: "bearer",
    motis: "bearer",
    "open-meteo": "apikey",
    tomtom: "key",
    tankerkoenig: "apikey",
    panoramax: "bearer",
    "tileserver-gl": "key",
    "static-map": "key",
  });
});

test("the cases have checked parameters of every action that they request", () => {
  for (const { action, query } of CASES) expect(parametersOf(action, query)).toBeObject();
});
