// Tests that the sandbox's pages are only for browsers of this machine: it turns test cards into
// credit.

import { describe, expect, test } from "bun:test";
import { startSandbox } from "../../../src/annexes/stripe-sandbox/sandbox-server.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";

const SECRET = "sk_sandbox_of_this_test";
const sandbox = startSandbox({
  port: 0,
  file: null,
  secretKey: SECRET,
  now: Date.now,
  random,
  webhook: { url: "http://127.0.0.1:1", secret: "whsec" },
  after: realClock.after,
  log: silent,
});
await shared(Promise.resolve({ [Symbol.asyncDispose]: () => sandbox.stop() }));
const { host, origin } = new URL(sandbox.url);

const ask = async (path: string, init: RequestInit) =>
  (await fetch(sandbox.url + path, { ...init, redirect: "manual" })).status;

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const act = (headers: Record<string, string>) =>
  ask("/act", { method: "POST", headers: { ...FORM, ...headers }, body: "do=behave&status=ok" });
const look = (headers: Record<string, string>) => ask("/", { headers });
const callApi = (headers: Record<string, string>) =>
  ask("/v1/events", { headers: { ...headers, authorization: `Bearer ${SECRET}` } });

describe("the sandbox answers", () => {
  test.each([
    ["a program", {}],
    ["a page of its own", { origin, host }],
    ["a name of this machine", { host: `localhost:${sandbox.url.split(":").pop()}` }],
  ])("%s", async (_, headers) => {
    expect([await act(headers), await look(headers), await callApi(headers)]).toEqual([
      303, 200, 200,
    ]);
  });
});

describe("the sandbox refuses", () => {
  test.each([
    ["a form of a foreign page", { origin: "https://evil.example" }],
    ["a form of a page without an origin", { origin: "null" }],
    ["a form of another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["a name that its owner leads here", { host: "evil.example" }],
    [
      "a name that its owner leads here, from its own page",
      { host: "evil.example", origin: "http://evil.example" },
    ],
    ["what a proxy hands on", { "x-forwarded-for": "203.0.113.7" }],
    ["what a tunnel hands on", { "cf-connecting-ip": "203.0.113.7" }],
  ])("%s", async (_, headers) => {
    expect([await act(headers), await look(headers), await callApi(headers)]).toEqual([
      403, 403, 403,
    ]);
  });
});
