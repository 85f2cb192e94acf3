import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { ApiError } from "../../../../src/core/errors.ts";
import type {
  SearchRequest,
  SearchResult,
} from "../../../../src/services/search/providers/provider.ts";
import type { EmbeddedSearch } from "../../../../src/services/search/providers/search-provider.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  BAD_MOODS,
  type FakeSearch,
  SERVICE_SECRET,
  startFakeSearch,
} from "../../../support/fakes/fake-search.ts";
import { replyWith, type ServiceName } from "../../../support/fakes/search-replies.ts";
import {
  SEARCH_KEY,
  searchFor,
  searchOver,
  serverAt,
} from "../../../support/fakes/search-servers.ts";

const QUERY = "the canary of the query";
const NAMES: readonly ServiceName[] = ["searxng", "brave", "tavily", "serper", "exa"];

const fakes = new Map<ServiceName, FakeSearch>(NAMES.map((name) => [name, startFakeSearch(name)]));
const fake = (name: ServiceName) => fakes.get(name) ?? startFakeSearch(name);
const at = (name: ServiceName, fields = {}) => serverAt(name, fake(name).baseUrl, fields);
/** The service in a mood; the search waits long, except for a mood that ends no reply. */
const moody = (name: ServiceName, mood: string) => {
  fake(name).mood = mood;
  return at(name, ["hang", "stall"].includes(mood) ? { timeoutMs: 250 } : {});
};

afterAll(() => Promise.all([...fakes.values()].map((one) => one[Symbol.asyncDispose]())));
beforeEach(() => {
  for (const one of fakes.values()) {
    one.mood = "ok";
    one.answer = null;
    one.questions.length = 0;
  }
});

let asked = 0;

/** Failures of few accounts say little about a server: these are four in turn. */
const open = () => {
  asked += 1;
  return { account: `acct_${asked % 4}`, signal: new AbortController().signal };
};

function ask(servers: ReturnType<typeof searchOver>, fields: Partial<SearchRequest> = {}) {
  return servers.search.search(searchFor(QUERY, fields), open());
}

/** Replies of each service without results that report a failure. */
const FAILURES: Readonly<Record<ServiceName, readonly object[]>> = {
  searxng: [
    { suggestions: [], unresponsive_engines: [["google", "Suspended: CAPTCHA"]] },
    { suggestions: [], unresponsive_engines: ["google"] },
    { error: "search error" },
  ],
  brave: [
    { type: "search", web: { results: [] }, error: { code: "RATE_LIMITED", status: 429 } },
    { type: "ErrorResponse", web: undefined, error: { code: "QUOTA_LIMITED" } },
  ],
  tavily: [{ detail: { error: "This request exceeds your plan's set usage limit" } }],
  serper: [{ message: "Not enough credits", statusCode: 400 }, { success: false }],
  exa: [
    { error: "The search engine timed out", tag: "INTERNAL_ERROR" },
    { statuses: [{ id: "https://a.example/", status: "error", error: { tag: "CRAWL_TIMEOUT" } }] },
  ],
};

const placesOf = (results: readonly SearchResult[]) => results.map(({ position }) => position);

async function failureOf(asked: Promise<unknown>): Promise<ApiError> {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`It was no ApiError: ${Bun.inspect(error)}`);
}

for (const name of NAMES) {
  describe(name, () => {
    test("answers in one form, over HTTP, under its name", async () => {
      const reply = await ask(searchOver([at(name)]));
      expect(reply.provider).toBe(name);
      expect(reply.results.map(({ url }) => url)).toEqual([
        "https://docs.example.org/fares",
        "https://news.example.com/ride",
      ]);
      expect(placesOf(reply.results)).toEqual([1, 2]);
      const [question] = fake(name).questions;
      expect(Object.values({ ...question?.parameters, ...question?.json })).toContain(QUERY);
      expect(JSON.stringify([...(question?.headers ?? [])])).toContain(SEARCH_KEY);
    });

    for (const mood of BAD_MOODS.split(" ")) {
      test(`${mood}: the next provider answers`, async () => {
        const spare = name === "tavily" ? "exa" : "tavily";
        const servers = searchOver([moody(name, mood), at(spare)]);
        expect((await ask(servers)).provider).toBe(spare);
        expect(servers.logged).toHaveLength(1);
      });

      test(`${mood}: without another provider it is a 502 that quotes no server`, async () => {
        const servers = searchOver([moody(name, mood)]);
        const error = await failureOf(ask(servers));
        expect(error.code).toBe("upstream_unreachable");
        const said = `${error.message} ${Bun.inspect(error.cause)} ${servers.logged}`;
        for (const secret of [QUERY, QUERY.replaceAll(" ", "+"), SEARCH_KEY, SERVICE_SECRET]) {
          expect(said).not.toContain(secret);
        }
      });
    }

    test("that no server serves is treated like one that fails", async () => {
      const servers = searchOver([serverAt(name, "http://127.0.0.1:9")]);
      expect((await failureOf(ask(servers))).code).toBe("upstream_unreachable");
      expect(servers.logged.join()).not.toContain("canary");
    });

    test("without any hit is a reply, not a failure", async () => {
      fake(name).mood = "none";
      expect((await ask(searchOver([at(name)]))).results).toEqual([]);
    });

    for (const failure of FAILURES[name]) {
      test(`no results and ${JSON.stringify(failure)} with status 200 are a failure`, async () => {
        const spare = name === "tavily" ? "exa" : "tavily";
        fake(name).answer = () => Response.json({ ...replyWith(name, []), ...failure });
        const servers = searchOver([at(name), at(spare)]);
        expect((await ask(servers)).provider).toBe(spare);
        const alone = await failureOf(ask(searchOver([at(name)])));
        expect(alone.code).toBe("upstream_unreachable");
      });
    }

    test("never returns more results than requested, each URL once", async () => {
      const urls = Array.from({ length: 40 }, (_, index) => `https://a.example/${index % 30}`);
      fake(name).answer = () => Response.json(replyWith(name, urls));
      const { results } = await ask(searchOver([at(name)]), { maxResults: 7 });
      expect(results.map(({ url }) => url)).toEqual(urls.slice(0, 7));
    });

    test("results outside the requested domains are dropped", async () => {
      const urls = [
        "https://example.org/1",
        "https://docs.example.org/2",
        "https://badexample.org/3",
        "https://old.docs.example.org/4",
        "https://example.org.evil.example/5",
      ];
      fake(name).answer = () => Response.json(replyWith(name, urls));
      const { results } = await ask(searchOver([at(name)]), {
        includeDomains: ["example.org"],
        excludeDomains: ["old.docs.example.org"],
      });
      expect(results.map(({ url }) => url)).toEqual(urls.slice(0, 2));
    });
  });
}

describe("pages", () => {
  const paged = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => `https://a.example/${from + index}`);

  test("SearXNG: as many of its pages as fill one of ours, and no more", async () => {
    fake("searxng").answer = ({ parameters }) =>
      Response.json(replyWith("searxng", paged((Number(parameters.pageno) - 1) * 8, 8)));
    const servers = searchOver([at("searxng")]);
    const { results } = await ask(servers, { maxResults: 10, page: 2 });
    expect(results.map(({ url }) => url)).toEqual(paged(10, 10));
    expect(placesOf(results)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(fake("searxng").questions.map(({ parameters }) => parameters.pageno)).toEqual([
      "1",
      "2",
      "3",
    ]);
  });

  test("SearXNG: results end before the page for which its engines fail", async () => {
    const failed = { suggestions: [], unresponsive_engines: [["google", "timeout"]] };
    const found = replyWith("searxng", ["https://a.example/1", "https://a.example/2"]);
    const none = { ...replyWith("searxng", []), ...failed };
    fake("searxng").answer = (_, index) => Response.json(index === 0 ? found : none);
    const reply = await ask(searchOver([at("searxng")]));
    expect(placesOf(reply.results)).toEqual([1, 2]);
    fake("searxng").questions.length = 0;
    const later = ask(searchOver([at("searxng")]), { maxResults: 2, page: 2 });
    expect((await failureOf(later)).code).toBe("upstream_unreachable");
  });

  test("SearXNG: the end of its results is the end of ours", async () => {
    fake("searxng").answer = ({ parameters }) =>
      Response.json(replyWith("searxng", parameters.pageno === "1" ? paged(0, 4) : []));
    const servers = searchOver([at("searxng")]);
    expect((await ask(servers)).results).toHaveLength(4);
    expect(fake("searxng").questions).toHaveLength(2);
  });

  for (const name of ["tavily", "exa"] as const) {
    test(`${name}: a later page is cut out of the first results`, async () => {
      fake(name).answer = () => Response.json(replyWith(name, paged(0, 20)));
      const { results } = await ask(searchOver([at(name)]), { maxResults: 5, page: 3 });
      expect(results.map(({ url }) => url)).toEqual(paged(10, 5));
      expect(placesOf(results)).toEqual([1, 2, 3, 4, 5]);
    });
  }
});

describe("a field that a provider cannot serve", () => {
  test("makes it skipped, and the next one that can is used", async () => {
    const servers = searchOver([at("serper"), at("tavily"), at("exa")]);
    expect((await ask(servers, { safesearch: "strict" })).provider).toBe("exa");
    expect(fake("serper").questions).toEqual([]);
    expect(servers.logged).toEqual([]);
  });

  test("that no provider can serve is refused by its name", () => {
    const { search } = searchOver([at("tavily"), at("exa")]);
    const refusal = search.unsupportedError(searchFor(QUERY, { language: "de" }));
    expect(refusal?.code).toBe("invalid_parameter");
    expect(refusal?.message).toStartWith("language ");
    expect(search.unsupportedError(searchFor(QUERY, { country: "DE" }))).toBeNull();
  });

  test("that no provider can serve together is refused by both names", () => {
    const { search } = searchOver([at("serper"), at("exa")]);
    const refusal = search.unsupportedError(
      searchFor(QUERY, { language: "de", safesearch: "off" }),
    );
    expect(refusal?.message).toStartWith("safesearch, language cannot be served together");
  });
});

describe("the embedded index", () => {
  const index = (isReady: boolean): EmbeddedSearch => ({
    lacks: (request) => (request.country === null ? [] : ["country"]),
    isReady: () => isReady,
    search: () => Promise.resolve([]),
  });
  const embedded = serverAt("embedded", "");

  test("that is not open yet is search_unavailable, with a time to try again", () => {
    const { search } = searchOver([embedded], index(false));
    const refusal = search.unsupportedError(searchFor(QUERY));
    expect(refusal?.code).toBe("search_unavailable");
    expect(refusal?.retryAfterSeconds).toBeGreaterThan(0);
  });

  test("that is not open yet is skipped if another one serves", async () => {
    const servers = searchOver([embedded, at("exa")], index(false));
    expect(servers.search.unsupportedError(searchFor(QUERY))).toBeNull();
    expect((await ask(servers)).provider).toBe("exa");
  });

  test("serves without any request to the outside", async () => {
    const servers = searchOver([embedded, at("exa")], index(true));
    expect(await ask(servers)).toEqual({ results: [], provider: "embedded" });
    expect(fake("exa").questions).toEqual([]);
  });
});

test("five failures in a row, and a provider gets no request for ten seconds", async () => {
  fake("brave").mood = "500";
  const servers = searchOver([at("brave"), at("exa")]);
  for (let times = 0; times < 7; times += 1) await ask(servers);
  expect(fake("brave").questions).toHaveLength(5);
  fake("brave").mood = "ok";
  servers.clockMs += 10_001;
  expect((await ask(servers)).provider).toBe("brave");
});

test("a rate limit of one moment does not give a provider up", async () => {
  fake("brave").mood = "429";
  const servers = searchOver([at("brave"), at("exa")]);
  for (let times = 0; times < 7; times += 1) await ask(servers);
  expect(fake("brave").questions).toHaveLength(7);
});

test("a caller who leaves ends the provider's request, and no other one is tried", async () => {
  const leave = new AbortController();
  const servers = searchOver([{ ...moody("brave", "hang"), timeoutMs: 600_000 }, at("exa")]);
  const asked = servers.search.search(searchFor(QUERY), { ...open(), signal: leave.signal });
  await eventually("the first is asked", () => fake("brave").questions.length === 1);
  leave.abort();
  await expect(asked).rejects.toThrow();
  expect(fake("exa").questions).toEqual([]);
});

test("a full provider gives its queries to the next one", async () => {
  const servers = searchOver([{ ...moody("brave", "hang"), concurrencyMax: 1 }, at("exa")]);
  const replies = await Promise.all([ask(servers), ask(servers), ask(servers)]);
  expect(replies.map(({ provider }) => provider)).toEqual(["exa", "exa", "exa"]);
  expect(fake("brave").questions).toHaveLength(1);
});
