// Tests our requests to Stripe, and the sandbox's answers in its place, against Stripe's own
// OpenAPI document and stripe-mock, which is made from it. Needs Go, once: `npm run contracts`.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import type { ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { isCi } from "../../support/product/toolchains.ts";
import { CALLS, NEWER_FIELDS, NEWER_PARAMETERS } from "./contract/contract-rules.ts";
import { type PlayedPayments, playPayments } from "./contract/played-payments.ts";
import {
  preparedStripeMock,
  type RunningMock,
  type StripeMock,
  startStripeMock,
} from "./contract/stripe-mock.ts";
import { type StripeDocument, StripeSchemas } from "./contract/stripe-schemas.ts";

setDefaultTimeout(300_000);

const PROVIDERS = join(PROJECT, "src/payments/providers");
const found = preparedStripeMock();

test("each call of Stripe's library in our code has its endpoint in the list", () => {
  const sources = readdirSync(PROVIDERS).filter((name) => /^stripe-.*\.ts$/.test(name));
  const calls = sources.flatMap((name) => {
    const text = readFileSync(join(PROVIDERS, name), "utf8");
    return [...text.matchAll(/\bstripe\s*\.((?:\w+\.)+\w+)\(/g)].map(([, call = ""]) => call);
  });
  const asked = new Set(calls.filter((call) => !call.startsWith("webhooks.")));
  expect([...asked].toSorted()).toEqual(Object.keys(CALLS).toSorted());
});

if ("missing" in found) {
  test.skipIf(!isCi())(`the contract with Stripe is not checked: ${found.missing}`, () => {
    throw new Error(found.missing);
  });
} else {
  describe("the contract with Stripe", () => contract(found));
}

function contract(stripeMock: StripeMock): void {
  const { mock, played, schemas } = prepared(stripeMock);

  test("every endpoint that our code uses was called", () => {
    const asked = played().exchanges.map(({ request }) => endpointOf(schemas, request));
    expect([...new Set(asked)].toSorted()).toEqual(Object.values(CALLS).toSorted());
  });

  test("stripe-mock takes every request of our code", async () => {
    const refused = new Set<string>();
    for (const { request } of played().exchanges) {
      const endpoint = endpointOf(schemas, request);
      const { status, text } = await mock().ask(replayed(withoutNewer(endpoint, request)));
      if (status !== 200) refused.add(`${endpoint}: ${status} ${text}`);
    }
    expect([...refused]).toEqual([]);
  });

  test("each newer parameter is still unknown to stripe-mock", async () => {
    for (const { endpoint, parameter } of NEWER_PARAMETERS) {
      const asked = played().exchanges.find(
        ({ request }) =>
          endpointOf(schemas, request) === endpoint && request.body.includes(parameter),
      );
      if (asked === undefined) throw new Error(`Nothing sends ${parameter}`);
      expect((await mock().ask(replayed(asked.request))).status).toBe(400);
    }
    expect(NEWER_PARAMETERS).toHaveLength(1);
  });

  test("stripe-mock refuses a parameter that does not exist", async () => {
    const path = "/v1/customers";
    const refused = await mock().ask({ method: "POST", path, body: "colour=red" });
    expect(refused.status).toBe(400);
  });

  test("every answer of the sandbox has the form of its endpoint", () => {
    const differences = played().exchanges.flatMap(({ request, answer }) =>
      schemas.answerDifferences(request.method, request.path, answer.status, answer.body),
    );
    expect([...new Set(differences)]).toEqual([...NEWER_FIELDS]);
  });

  test("every object and event of the sandbox has the form of its kind", () => {
    const { objects } = played();
    const told = objects.flatMap((object) => {
      const { data } = object as { readonly data?: { readonly object: { object: string } } };
      return [object, ...(data === undefined ? [] : [data.object])];
    });
    expect(new Set(told.map(({ object }) => object)).size).toBe(13);
    const differences = told.flatMap((object) => schemas.differences(object));
    expect([...new Set(differences)]).toEqual([...NEWER_FIELDS]);
  });

  test("the schemas name a made-up field, a missing one, and one of another type", () => {
    const [refund] = played().objects.filter(({ object }) => object === "refund");
    const { currency, ...rest } = { ...refund, object: "refund" } as Record<string, unknown>;
    const wrong = { ...rest, object: "refund", amount: "five", colour: "red" };
    expect(currency).toBe("usd");
    expect(schemas.differences(wrong)).toEqual([
      "refund.amount: must be integer",
      "refund: made-up field colour",
      "refund: must have required property 'currency'",
    ]);
  });
}

function prepared(stripeMock: StripeMock) {
  const state: { mock?: RunningMock; played?: PlayedPayments } = {};
  beforeAll(async () => {
    const starting = startStripeMock(stripeMock);
    state.played = await playPayments();
    state.mock = await starting;
  });
  afterAll(() => state.mock?.[Symbol.asyncDispose]());
  const document = JSON.parse(readFileSync(stripeMock.document, "utf8")) as StripeDocument;
  const ready = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("The test was not prepared");
    return value;
  };
  return {
    schemas: new StripeSchemas(document),
    mock: () => ready(state.mock),
    played: () => ready(state.played),
  };
}

function endpointOf(schemas: StripeSchemas, { method, path }: ApiRequest): string {
  return `${method} ${schemas.endpointOf(path)}`;
}

function replayed({ method, path, query, body }: ApiRequest) {
  const search = query.toString();
  return { method, path: search === "" ? path : `${path}?${search}`, body };
}

/** The request without the parameters that are newer than the document. */
function withoutNewer(endpoint: string, request: ApiRequest): ApiRequest {
  const newer = NEWER_PARAMETERS.filter((known) => known.endpoint === endpoint);
  const form = new URLSearchParams(request.body);
  const kept = [...form].filter(
    ([name]) => !newer.some(({ parameter }) => name.split("[")[0] === parameter),
  );
  return { ...request, body: new URLSearchParams(kept).toString() };
}
