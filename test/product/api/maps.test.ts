import { beforeEach, describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { ACTIONS, type MapsAction } from "../../../src/services/maps/actions.ts";
import { EXAMPLES } from "../../../src/services/maps/maps-examples.ts";
import { errorOf, until } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { ATTRIBUTION } from "../../support/fakes/scripted-maps.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "../../support/stores/accounts.ts";

const PAYING: AccountTerms = { scopes: ["maps"], paid: "100", paidAt: daysAgo(10) };
const STANDARD = 50_000n as NanoUsd;
const TILES = 5_000n as NanoUsd;

let account: TestAccount;

const api = await sharedApi();
beforeEach(async () => {
  account = await api.account(PAYING);
});

const ask = (query: string, by: TestAccount = account) => api.get(`/v1/maps?${query}`, by);
const spent = async () => (await api.view(account)).monthSpent;

describe("a maps call", () => {
  for (const action of Object.keys(ACTIONS) as MapsAction[]) {
    const price = ACTIONS[action].category === "tiles" ? TILES : STANDARD;
    const digits = ACTIONS[action].category === "tiles" ? "0.000005" : "0.00005";
    test(`of ${action} costs its exact price, by header, body and ledger`, async () => {
      const response = await ask(`action=${action}&${EXAMPLES[action].query}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-svc-cost-usd")).toBe(digits);
      expect(response.headers.get("cache-control")).toBe("no-store");
      const text = await response.text();
      expect(text).toContain(`"cost_usd":${digits},`);
      expect(JSON.parse(text)).toEqual({
        object: "maps.result",
        action,
        data: EXAMPLES[action].data,
        attribution: ATTRIBUTION,
        provider: "scripted",
        svc: {
          request_id: response.headers.get("x-request-id"),
          cost_usd: Number(digits),
          free_credit_usd: 0,
        },
      });
      expect(await spent()).toBe(price);
      const [entry] = await api.journal(account);
      expect(entry).toMatchObject({
        type: "call",
        request: response.headers.get("x-request-id"),
        metadata: { endpoint: "/v1/maps", service: "maps", model: action },
      });
    });
  }

  test("with format=png returns the picture, with its cost in the header", async () => {
    const response = await ask("action=site_image&lat=1&lon=2&format=png");
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("x-svc-cost-usd")).toBe("0.000005");
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.toBase64()).toBe(EXAMPLES.site_image.data.image.url.split(",")[1] ?? "");
  });

  test("is never paid by free credit", async () => {
    const free = await api.account({ ...PAYING, paid: "100", ownCap: "50", free: "5" });
    await ask("action=geocode&query=x", free);
    const view = await api.view(free);
    expect(view.free as bigint).toBe(5_000_000_000n);
    expect(view.paid as bigint).toBe(100_000_000_000n - STANDARD);
  });

  test("that no server answers costs nothing", async () => {
    const failure = new ApiError("upstream_unreachable", "Nobody answers");
    api.maps.answer = () => Promise.reject(failure);
    const response = await ask("action=geocode&query=x");
    expect(response.status).toBe(502);
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect(await spent()).toBe(0n as NanoUsd);
    expect(await api.holdRecords(account)).toEqual([]);
  });

  test("whose caller leaves early costs nothing, and its provider's request ends", async () => {
    let heard = false;
    api.maps.answer = (_action, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          heard = true;
          reject(signal.reason);
        });
      });
    const leave = new AbortController();
    const headers = { authorization: `Bearer ${account.key}` };
    const url = `${api.parts.url}/v1/maps?action=geocode&query=x`;
    const answer = fetch(url, { headers, signal: leave.signal }).catch(() => null);
    await until(async () => (await api.holdRecords(account)).length > 0, "a hold was taken");
    leave.abort();
    await answer;
    await until(async () => (await api.holdRecords(account)).length === 0, "it was given back");
    expect(heard).toBe(true);
    expect(await spent()).toBe(0n as NanoUsd);
    expect((await api.journal(account))[0]?.outcome).toContain("client_disconnected");
  });

  test("needs the scope, a tier that has maps, and its exact price", async () => {
    const query = "action=geocode&query=x";
    const cases: readonly (readonly [string, AccountTerms])[] = [
      ["insufficient_scope", { ...PAYING, scopes: ["models"] }],
      ["tier_required", { scopes: ["maps"] }],
      ["key_budget_exceeded", { ...PAYING, monthlyLimit: "0.000049" }],
      ["monthly_limit_reached", { ...PAYING, ownCap: "0.000049" }],
    ];
    for (const [code, options] of cases) {
      const response = await ask(query, await api.account(options));
      expect((await errorOf(response)).code).toBe(code);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    }
    const exact = await api.account({ ...PAYING, monthlyLimit: "0.00005" });
    expect((await ask(query, exact)).status).toBe(200);
    expect((await errorOf(await ask(query, exact))).code).toBe("key_budget_exceeded");
  });
});

describe("a maps call is refused, counted and charged nothing", () => {
  const cases: readonly (readonly [query: string, code: string, names: string])[] = [
    ["", "invalid_action", "action is missing"],
    ["action=", "invalid_action", "action is missing"],
    ["action=site_imagex", "invalid_action", "action is not known"],
    ["action=GEOCODE&query=x", "invalid_action", "action is not known"],
    ["action=__proto__", "invalid_action", "action is not known"],
    ["action=constructor", "invalid_action", "action is not known"],
    ["action=ip_geolocation", "invalid_action", "sessions only"],
    ["action=live_flights", "invalid_action", "sessions only"],
    ["action=geocode&action=reverse&query=x", "invalid_parameter", "action stands more than once"],
    ["action=geocode", "invalid_parameter", "query is missing"],
    ["action=geocode&query=", "invalid_parameter", "query must be"],
    ["action=geocode&query=%20%20", "invalid_parameter", "query must be"],
    ["action=geocode&query=x&query=y", "invalid_parameter", "query stands more than once"],
    ["action=geocode&query=%zz", "invalid_parameter", "query is not percent-encoded"],
    ["action=geocode&query=%ff", "invalid_parameter", "query is not percent-encoded"],
    ["action=geocode&query=a%00b", "invalid_parameter", "query must be"],
    [`action=geocode&query=${"x".repeat(201)}`, "invalid_parameter", "query must be"],
    ["action=geocode&query=x&limit=0", "invalid_parameter", "limit must be"],
    ["action=geocode&query=x&limit=1.5", "invalid_parameter", "limit must be"],
    ["action=geocode&query=x&country=GER", "invalid_parameter", "country must be"],
    ["action=geocode&query=x&lang=not_a_tag", "invalid_parameter", "lang must be"],
    ["action=geocode&query=x&lat=1", "invalid_parameter", "lon is missing beside lat"],
    ["action=geocode&query=x&zoom=1", "invalid_parameter", "zoom is no parameter of geocode"],
    ["action=geocode&query=x&__proto__=1", "invalid_parameter", "is no parameter of geocode"],
    ["action=reverse&lat=91&lon=0", "invalid_parameter", "lat must be"],
    ["action=reverse&lat=0&lon=181", "invalid_parameter", "lon must be"],
    ["action=reverse&lat=1e999&lon=0", "invalid_parameter", "lat must be"],
    ["action=reverse&lat=NaN&lon=0", "invalid_parameter", "lat must be"],
    ["action=reverse&lat=&lon=0", "invalid_parameter", "lat must be"],
    ["action=reverse&lat=0x10&lon=0", "invalid_parameter", "lat must be"],
    ["action=route&from=1,2&to=3", "invalid_parameter", "to must be"],
    ["action=route&from=1,2&to=3,4&mode=CAR", "invalid_parameter", "mode must be"],
    ["action=closures", "invalid_parameter", "bbox is missing"],
    ["action=closures&bbox=5,5,1,1", "invalid_parameter", "bbox must be"],
    ["action=closures&bbox=1,1,2,2&lat=1&lon=1", "invalid_parameter", "lat cannot stand beside"],
    ["action=closures&radius=10", "invalid_parameter", "lat is missing"],
    ["action=departures&stop_id=..%2F", "invalid_parameter", "stop_id must be"],
    ["action=journey&from=1,2&to=3,4&time=2026-02-30T00:00:00Z", "invalid_parameter", "time must"],
    ["action=journey&from=1,2&to=3,4&time=2026-02-03T00:00:00", "invalid_parameter", "time must"],
    ["action=poi&lat=1&lon=1&category=__proto__", "invalid_parameter", "category must be"],
    ["action=weather&lat=1&lon=1&days=15", "invalid_parameter", "days must be"],
    ["action=site_image&lat=1&lon=1&format=gif", "invalid_parameter", "format must be"],
  ];
  for (const [query, code, names] of cases) {
    test(`${code} for ${query.slice(0, 60) || "no query"}`, async () => {
      const response = await ask(query);
      expect(response.status).toBe(400);
      const error = await errorOf(response);
      expect(error.code).toBe(code);
      expect(error.message).toContain(names);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
      expect(await spent()).toBe(0n as NanoUsd);
      expect((await api.journal(account))[0]).toMatchObject({ type: "refused" });
    });
  }

  test("maps_unavailable while maps is paused, or no server serves the action", async () => {
    api.paused.add("maps");
    expect((await errorOf(await ask("action=geocode&query=x"))).code).toBe("maps_unavailable");
    api.paused.clear();
    api.maps.refusal = new ApiError("maps_unavailable", "Nobody");
    const response = await ask("action=geocode&query=x");
    expect(response.status).toBe(503);
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect(await spent()).toBe(0n as NanoUsd);
  });

  test("its parameters are checked before the question if a server serves it", async () => {
    api.paused.add("maps");
    expect((await errorOf(await ask("action=reverse&lat=91&lon=0"))).code).toBe(
      "invalid_parameter",
    );
    expect((await errorOf(await ask("action=nothing"))).code).toBe("invalid_action");
  });

  test("a key in the query, where no key may be", async () => {
    await api.forgetAnonymous();
    const response = await api.get(`/v1/maps?action=geocode&query=x&api_key=${account.key}`);
    expect((await errorOf(response)).code).toBe("missing_api_key");
  });

  test("a HEAD request, which would be paid for and return nothing", async () => {
    const url = `${api.parts.url}/v1/maps?action=geocode&query=x`;
    const headers = { authorization: `Bearer ${account.key}` };
    const response = await fetch(url, { method: "HEAD", headers });
    expect(response.status).toBe(405);
    expect(await spent()).toBe(0n as NanoUsd);
  });
});

test("the longest query of any script is accepted, by its code points", async () => {
  const query = "🗺".repeat(200);
  expect((await ask(`action=geocode&query=${encodeURIComponent(query)}`)).status).toBe(200);
  const longer = encodeURIComponent(`${query}x`);
  expect((await ask(`action=geocode&query=${longer}`)).status).toBe(400);
});

test("queries that look like attacks are only text", async () => {
  for (const query of ["' ; --", "../", "🗺️", '"*" OR NEAR(', "{{7*7}}", "Ünïcödé 東京"]) {
    const response = await ask(`action=geocode&query=${encodeURIComponent(query)}`);
    expect(response.status).toBe(200);
    expect(api.maps.asked.at(-1)?.parameters).toMatchObject({ query });
  }
});
