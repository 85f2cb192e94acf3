// Tests POST /v1/search and /v1/search/batch over HTTP: checks, charges, log and answers.

import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import { usd } from "../../../src/core/money/money.ts";
import { errorOf, until } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { eventLoopTurns } from "../../support/eventually.ts";
import { replyOf } from "../../support/fakes/scripted-search.ts";
import { searchFor } from "../../support/fakes/search-servers.ts";
import { closedGate } from "../../support/gate.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "../../support/stores/accounts.ts";

const ONE = "/v1/search";
const BATCH = "/v1/search/batch";

const api = await sharedApi();

/** An account of the tier Starter that can pay for 1,000 results. */
function payer(options: AccountTerms = {}): Promise<TestAccount> {
  return api.account({ paid: "5", scopes: ["search"], ...options });
}

interface SearchJson {
  readonly id: string;
  readonly object: string;
  readonly query: string;
  readonly results: readonly Record<string, unknown>[];
  readonly results_count: number;
  readonly provider: string;
  readonly svc: {
    readonly request_id: string;
    readonly cost_usd: number;
    readonly free_credit_usd: number;
  };
}

type Item = SearchJson & { readonly error?: { readonly code: string; readonly message: string } };

async function found(response: Response): Promise<SearchJson> {
  expect(response.status).toBe(200);
  return (await response.json()) as SearchJson;
}

async function items(response: Response): Promise<Item[]> {
  expect(response.status).toBe(200);
  return (await response.json()) as Item[];
}

async function refusedWith(response: Response, code: string): Promise<string> {
  const error = await errorOf(response);
  expect(error.code).toBe(code);
  expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  return error.message;
}

describe("one search", () => {
  test("answers in the documented shape, and costs the returned results", async () => {
    const account = await payer();
    api.search.reply = () => Promise.resolve(replyOf(3, "Fare"));
    const response = await api.postTo(ONE, account, { query: "fares", max_results: 7 });
    const body = await found(response);
    expect(Object.keys(body)).toEqual([
      "id",
      "object",
      "query",
      "results",
      "results_count",
      "provider",
      "svc",
    ]);
    expect(body).toMatchObject({
      object: "search",
      query: "fares",
      results_count: 3,
      provider: "embedded",
      svc: { cost_usd: 0.0015, free_credit_usd: 0 },
    });
    expect(body.results[1]).toEqual({
      title: "Fare 2",
      url: "https://docs.example.org/fare%202",
      snippet: "About Fare 2",
      date: "2026-11-20",
      last_updated: null,
      source: "docs.example.org",
      score: 0.5,
      position: 2,
    });
    expect(body.id).toBe(body.svc.request_id.replace("req_", "search_"));
    expect(response.headers.get("x-svc-cost-usd")).toBe("0.0015");
    expect(response.headers.get("x-request-id")).toBe(body.svc.request_id);
    expect((await api.view(account)).paid).toBe(usd("4.9985"));
  });

  test("holds max_results times the price, no more and no less", async () => {
    const exactly = await payer({ paid: "5", monthlyLimit: "0.0035" });
    expect((await api.postTo(ONE, exactly, { query: "x", count: 7 })).status).toBe(200);
    const short = await payer({ paid: "5", monthlyLimit: "0.003499999" });
    const refused = await api.postTo(ONE, short, { query: "x", num_results: 7 });
    await refusedWith(refused, "key_budget_exceeded");
    expect(api.search.requests).toHaveLength(1);
  });

  test("free credit never pays for it", async () => {
    const account = await payer({ contract: "enterprise", paid: "0.001", free: "5" });
    const message = await refusedWith(
      await api.postTo(ONE, account, { query: "x", max_results: 3 }),
      "insufficient_credits",
    );
    expect(message).toContain("0.001");
    const paid = await found(await api.postTo(ONE, account, { query: "x", max_results: 2 }));
    expect(paid.svc).toMatchObject({ cost_usd: 0.001, free_credit_usd: 0 });
    expect((await api.view(account)).free).toBe(usd("5"));
  });

  test("no results cost nothing", async () => {
    const account = await payer();
    api.search.reply = () => Promise.resolve(replyOf(0));
    const response = await api.postTo(ONE, account, { query: "x" });
    expect(await found(response)).toMatchObject({ results: [], svc: { cost_usd: 0 } });
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect((await api.view(account)).paid).toBe(usd("5"));
  });

  test("a provider that fails is a 502 that costs nothing and leaves no hold", async () => {
    const account = await payer();
    const cause = new Error("the provider is down");
    api.search.reply = () =>
      Promise.reject(new ApiError("upstream_unreachable", "Nobody answers", { cause }));
    await refusedWith(await api.postTo(ONE, account, { query: "x" }), "upstream_unreachable");
    expect((await api.view(account)).paid).toBe(usd("5"));
    expect(await api.holdRecords(account)).toEqual([]);
  });

  test("a caller who leaves pays nothing, and ends the provider's work", async () => {
    const account = await payer();
    let aborted = false;
    api.search.reply = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted = true;
          reject(new Error("The caller left"));
        });
      });
    const leave = new AbortController();
    const asked = api.postTo(ONE, account, { query: "x" }, { signal: leave.signal });
    await until(() => api.openCalls === 1, "the call is open");
    leave.abort();
    await asked.catch(() => {});
    await until(() => api.openCalls === 0, "the call is over");
    expect(aborted).toBe(true);
    expect((await api.view(account)).paid).toBe(usd("5"));
  });
});

describe("the request to the provider", () => {
  test("has every field, under its name or another one", async () => {
    const account = await payer();
    const ask = async (body: object) => {
      await found(await api.postTo(ONE, account, body));
      return api.search.requests.at(-1);
    };
    expect(await ask({ query: "fares" })).toEqual(searchFor("fares"));
    expect(
      await ask({
        query: "fares",
        num_results: 3,
        page: 2,
        country: "de",
        language: "EN",
        time_range: "week",
        safesearch: "strict",
        search_domain_filter: ["Docs.Example.org", "-bad.example", "bücher.example"],
        exclude_domains: ["worse.example"],
        api_base: "http://evil.example",
      }),
    ).toEqual({
      query: "fares",
      maxResults: 3,
      page: 2,
      country: "DE",
      language: "en",
      freshness: "week",
      safesearch: "strict",
      includeDomains: ["docs.example.org", "xn--bcher-kva.example"],
      excludeDomains: ["bad.example", "worse.example"],
    });
    expect(await ask({ query: "x", max_results: null, count: 4, page: null })).toMatchObject({
      maxResults: 4,
      page: 1,
    });
    expect(await ask({ query: "x", max_results: 4, count: 4 })).toMatchObject({ maxResults: 4 });
    expect(await ask({ query: "🎈".repeat(400) })).toMatchObject({ query: "🎈".repeat(400) });
  });

  for (const [body, field] of [
    [{}, "query"],
    [{ query: null }, "query"],
    [{ query: 7 }, "query"],
    [{ query: ["a", "b"] }, "query"],
    [{ query: "" }, "query"],
    [{ query: " \n\t" }, "query"],
    [{ query: "x".repeat(401) }, "query"],
    [{ query: "\ud800" }, "query"],
    [{ query: "x", max_results: 0 }, "max_results"],
    [{ query: "x", max_results: 21 }, "max_results"],
    [{ query: "x", max_results: 1.5 }, "max_results"],
    [{ query: "x", count: "10" }, "count"],
    [{ query: "x", num_results: -1 }, "num_results"],
    [{ query: "x", max_results: 3, count: 4 }, "count"],
    [{ query: "x", page: 0 }, "page"],
    [{ query: "x", page: 11 }, "page"],
    [{ query: "x", country: "Germany" }, "country"],
    [{ query: "x", country: "D1" }, "country"],
    [{ query: "x", language: "de-DE" }, "language"],
    [{ query: "x", freshness: "hour" }, "freshness"],
    [{ query: "x", freshness: "day", time_range: "week" }, "time_range"],
    [{ query: "x", safesearch: true }, "safesearch"],
    [{ query: "x", include_domains: "a.example" }, "include_domains"],
    [{ query: "x", include_domains: ["https://a.example"] }, "include_domains[0]"],
    [{ query: "x", exclude_domains: ["a.example", "127.0.0.1"] }, "exclude_domains[1]"],
    [{ query: "x", exclude_domains: ["a.example/path"] }, "exclude_domains[0]"],
    [{ query: "x", include_domains: ["a b.example"] }, "include_domains[0]"],
    [{ query: "x", exclude_domains: ["example"] }, "exclude_domains[0]"],
    [{ query: "x", exclude_domains: [""] }, "exclude_domains[0]"],
    [{ query: "x", include_domains: Array(21).fill("a.example") }, "include_domains"],
    [{ query: "x", search_after_date_filter: "1/1/2026" }, "search_after_date_filter"],
  ] as const) {
    test(`400 that names ${field}: ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const account = await payer();
      const message = await refusedWith(await api.postTo(ONE, account, body), "invalid_parameter");
      expect(message).toStartWith(`${field} `);
      expect(api.search.requests).toEqual([]);
    });
  }

  for (const [text, code] of [
    ["", "invalid_json"],
    ["{", "invalid_json"],
    ["[]", "invalid_json"],
    ["null", "invalid_json"],
    ['"x"', "invalid_json"],
    [`{"query":"x","a":${"[".repeat(70)}${"]".repeat(70)}}`, "invalid_json"],
    [`{"query":"x","pad":"${"x".repeat(64 * 1024)}"}`, "body_too_large"],
    ['{"query":"x","__proto__":{"max_results":20},"constructor":{"prototype":{}}}', "none"],
  ] as const) {
    test(`a body that is ${JSON.stringify(text.slice(0, 30))}: ${code}`, async () => {
      const response = await api.postTo(ONE, await payer(), text);
      if (code === "none") expect((await found(response)).results_count).toBe(10);
      else await refusedWith(response, code);
    });
  }
});

describe("the order of refusals", () => {
  const bad = { query: 7 };

  test("key, account, scope and tier come before the body", async () => {
    await refusedWith(await api.postTo(ONE, null, bad), "missing_api_key");
    await refusedWith(
      await api.postTo(ONE, await payer({ state: "suspended" }), bad),
      "account_inactive",
    );
    await refusedWith(
      await api.postTo(ONE, await payer({ scopes: ["maps"] }), bad),
      "insufficient_scope",
    );
    const free = await api.account({ scopes: ["search"] });
    await refusedWith(await api.postTo(ONE, free, bad), "tier_required");
    await refusedWith(await api.postTo(BATCH, free, Array(11).fill(bad)), "tier_required");
  });

  test("the body comes first, then unserved fields, then a pause, then money", async () => {
    const poor = await payer({ ownCap: "0" });
    const unable = new ApiError("invalid_parameter", "country cannot be served");
    api.search.refusal = () => unable;
    api.paused.add("search");
    expect(await refusedWith(await api.postTo(ONE, poor, bad), "invalid_parameter")).toStartWith(
      "query",
    );
    const asked = { query: "x" };
    expect(await refusedWith(await api.postTo(ONE, poor, asked), "invalid_parameter")).toStartWith(
      "country",
    );
    api.search.refusal = () => null;
    await refusedWith(await api.postTo(ONE, poor, asked), "search_unavailable");
    api.paused.clear();
    await refusedWith(await api.postTo(ONE, poor, asked), "monthly_limit_reached");
    expect(api.search.requests).toEqual([]);
  });

  test("an index that is being opened is a 503 with a time to try again", async () => {
    const account = await payer();
    api.search.refusal = () =>
      new ApiError("search_unavailable", "It is being opened", { retryAfterSeconds: 2 });
    const response = await api.postTo(ONE, account, { query: "x" });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("2");
    await refusedWith(response, "search_unavailable");
  });

  test("pausing chat does not pause search", async () => {
    api.paused.add("chat");
    expect((await api.postTo(ONE, await payer(), { query: "x" })).status).toBe(200);
  });

  test("the window comes before a fault of the body; a batch counts once", async () => {
    const account = await payer();
    const batch = [{ query: "a" }, { query: "b" }];
    const first = await api.postTo(BATCH, account, batch);
    expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("59");
    for (let times = 1; times < 60; times += 1) await api.postTo(ONE, account, bad);
    await refusedWith(await api.postTo(ONE, account, bad), "rate_limit_exceeded");
  });
});

describe("a batch", () => {
  test("answers each query in its place, with its own cost; the header is the sum", async () => {
    const account = await payer();
    const others = closedGate();
    let answered = 0;
    api.search.reply = async (request) => {
      // The first query is answered last.
      if (request.query === "a") await others.pass();
      else if (++answered === 2) others.open();
      return replyOf(request.query === "c" ? 0 : request.maxResults, request.query);
    };
    const batch = ["a", "b", "c"].map((query, at) => ({ query, max_results: at + 1 }));
    const response = await api.postTo(BATCH, account, batch);
    const answers = await items(response);
    expect(answers.map(({ query }) => query)).toEqual(["a", "b", "c"]);
    expect(answers.map(({ results }) => results[0]?.title)).toEqual(["a 1", "b 1", undefined]);
    expect(answers.map(({ svc }) => svc.cost_usd)).toEqual([0.0005, 0.001, 0]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(3);
    expect(response.headers.get("x-svc-cost-usd")).toBe("0.0015");
    expect((await api.view(account)).paid).toBe(usd("4.9985"));
  });

  for (const [when, fail] of [
    ["later", (error: ApiError) => Promise.reject(error)],
    [
      "at once",
      (error: ApiError) => {
        throw error;
      },
    ],
  ] as const) {
    test(`a query that fails ${when} is an error in its place that costs nothing`, async () => {
      const account = await payer();
      api.search.reply = (request) =>
        request.query === "b"
          ? fail(new ApiError("upstream_unreachable", "Nobody answers"))
          : Promise.resolve(replyOf(2));
      const batch = ["a", "b", "c"].map((query) => ({ query }));
      const response = await api.postTo(BATCH, account, batch);
      const [first, second, third] = await items(response);
      expect(second?.error).toMatchObject({ code: "upstream_unreachable" });
      expect(second?.svc.cost_usd).toBe(0);
      expect([first?.results_count, third?.results_count]).toEqual([2, 2]);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0.002");
    });
  }

  test("one mistake refuses all queries before any request, named by its index", async () => {
    const account = await payer();
    const batch = [{ query: "a" }, { query: "b", page: 0 }];
    const message = await refusedWith(await api.postTo(BATCH, account, batch), "invalid_parameter");
    expect(message).toStartWith("[1].page ");
    api.search.refusal = ({ query }) =>
      query === "b" ? new ApiError("invalid_parameter", "country cannot be served") : null;
    const good = [{ query: "a" }, { query: "b" }];
    expect(
      await refusedWith(await api.postTo(BATCH, account, good), "invalid_parameter"),
    ).toStartWith("[1]: country");
    expect(api.search.requests).toEqual([]);
    expect((await api.view(account)).paid).toBe(usd("5"));
  });

  for (const [name, options, most] of [
    ["starter", { paid: "5" }, 10],
    ["build", { paid: "50", paidAt: daysAgo(8) }, 50],
    ["scale", { paid: "250", paidAt: daysAgo(15) }, 100],
    ["enterprise", { contract: "enterprise", paid: "5" }, 100],
  ] as const) {
    test(`of the tier ${name} has at most ${most} queries`, async () => {
      const account = await payer(options);
      const batch = (size: number) => Array(size).fill({ query: "x", max_results: 1 });
      expect(await items(await api.postTo(BATCH, account, batch(most)))).toHaveLength(most);
      const over = await api.postTo(BATCH, account, batch(most + 1));
      const message = await refusedWith(over, "batch_too_large");
      expect(message).toContain(`at most ${most} `);
    });
  }

  for (const [text, code] of [
    ["[]", "invalid_parameter"],
    ["{}", "invalid_json"],
    ['{"query":"x"}', "invalid_json"],
    ["null", "invalid_json"],
    ['[[{"query":"x"}]]', "invalid_parameter"],
    ["[null]", "invalid_parameter"],
    ['["x"]', "invalid_parameter"],
    [`[{"query":"x","pad":"${"x".repeat(1024 * 1024)}"}]`, "body_too_large"],
  ] as const) {
    test(`that is ${text.slice(0, 30)}: ${code}`, async () => {
      await refusedWith(await api.postTo(BATCH, await payer(), text), code);
    });
  }

  test("takes one hold for all, or none", async () => {
    const account = await payer({ ownCap: "0.0149" });
    const batch = Array(3).fill({ query: "x" });
    await refusedWith(await api.postTo(BATCH, account, batch), "monthly_limit_reached");
    expect(api.search.requests).toEqual([]);
    expect((await api.postTo(BATCH, account, batch.slice(1))).status).toBe(200);
  });

  test("is sent a few at a time", async () => {
    const account = await payer();
    const gate = closedGate();
    let underWay = 0;
    let most = 0;
    api.search.reply = async () => {
      most = Math.max(most, ++underWay);
      await gate.pass();
      underWay -= 1;
      return replyOf(1);
    };
    const asked = api.postTo(BATCH, account, Array(10).fill({ query: "x" }));
    await until(() => underWay === 8, "eight are asked at once");
    // A ninth would come now.
    await eventLoopTurns(50);
    gate.open();
    await items(await asked);
    expect(most).toBe(8);
  });

  test("whose caller leaves costs the results found by then, and sends no more", async () => {
    const account = await payer();
    api.search.reply = (request, { signal }) =>
      request.query === "fast"
        ? Promise.resolve(replyOf(2))
        : new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(new Error("The caller left")));
          });
    const leave = new AbortController();
    const batch = [{ query: "fast" }, ...Array(9).fill({ query: "slow" })];
    const asked = api.postTo(BATCH, account, batch, { signal: leave.signal });
    await until(() => api.search.requests.length === 9, "all that are asked at once are");
    leave.abort();
    await asked.catch(() => {});
    await until(() => api.openCalls === 0, "the call is over");
    expect((await api.view(account)).paid).toBe(usd("4.999"));
    expect(api.search.requests).toHaveLength(9);
    const [entry] = await api.journal(account);
    expect(entry?.end).toMatchObject({ status: 499, requests: 10 });
  });

  test("is one row of the log, with the number of its queries", async () => {
    const account = await payer();
    await api.postTo(BATCH, account, Array(4).fill({ query: "x", max_results: 1 }));
    await api.postTo(ONE, account, { query: "x", max_results: 1 });
    await api.postTo(BATCH, account, [{}]);
    const entries = await api.journal(account);
    expect(
      entries.map(({ type, metadata }) => [type, metadata?.endpoint, metadata?.service]),
    ).toEqual([
      ["call", BATCH, "search"],
      ["call", ONE, "search"],
      ["refused", BATCH, "search"],
    ]);
    expect(entries.slice(0, 2).map(({ end }) => end?.requests)).toEqual([4, 1]);
    expect(entries[2]?.outcome).toStartWith("invalid_parameter ");
  });
});

test("our own fault after the admission leaves no hold", async () => {
  const account = await payer();
  api.search.reply = () => Promise.resolve({ ...replyOf(1), results: null as never });
  await refusedWith(await api.postTo(BATCH, account, [{ query: "x" }]), "internal_error");
  await refusedWith(await api.postTo(ONE, account, { query: "x" }), "internal_error");
  expect(api.openCalls).toBe(0);
  expect((await api.view(account)).heldPaid).toBe(usd("0"));
});

test("GET is not a method of search", async () => {
  const response = await api.get(ONE, await payer());
  expect(response.headers.get("allow")).toBe("POST");
  await refusedWith(response, "method_not_allowed");
});
