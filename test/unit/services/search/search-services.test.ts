// Tests the wire of each search service: the request, and the reading of its documented reply.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  candidateOf,
  cleanResults,
} from "../../../../src/services/search/providers/clean-result.ts";
import type { SearchRequest } from "../../../../src/services/search/providers/provider.ts";
import { brave } from "../../../../src/services/search/providers/remote/brave.ts";
import { exa } from "../../../../src/services/search/providers/remote/exa.ts";
import {
  queryStringOf,
  type ServiceKind,
} from "../../../../src/services/search/providers/remote/kind.ts";
import { searxng } from "../../../../src/services/search/providers/remote/searxng.ts";
import { serper } from "../../../../src/services/search/providers/remote/serper.ts";
import { tavily } from "../../../../src/services/search/providers/remote/tavily.ts";
import { toSearchRequest } from "../../../../src/services/search/search-request.ts";
import { SearchBody } from "../../../../src/services/search/search-schema.ts";
import { misfit } from "../../../support/api/contract.ts";
import { REPLIES, type ServiceName } from "../../../support/fakes/search-replies.ts";
import { searchFor } from "../../../support/fakes/search-servers.ts";

const SERVICES: Readonly<Record<ServiceName, ServiceKind>> = {
  searxng,
  brave,
  tavily,
  serper,
  exa,
};
const NAMES = Object.keys(SERVICES) as ServiceName[];
const NOW_MS = Date.UTC(2026, 10, 21, 12);

function sent(name: ServiceName, fields: Partial<SearchRequest> = {}, page = 1) {
  const kind = SERVICES[name];
  const { method, path } = kind;
  const headers = kind.headersWith("secret-key");
  const parameters = kind.parametersOf(searchFor("fares", fields), { page, nowMs: NOW_MS });
  const isJson = headers["content-type"] === "application/json";
  const values: unknown = isJson
    ? JSON.parse(parameters)
    : Object.fromEntries(new URLSearchParams(parameters));
  return { method, path, headers, values };
}

const EVERYTHING = {
  maxResults: 20,
  country: "DE",
  language: "de",
  freshness: "week",
  safesearch: "strict",
  includeDomains: ["example.org", "example.com"],
  excludeDomains: ["bad.example.com"],
} as const satisfies Partial<SearchRequest>;
const OPERATORS = "fares (site:example.org OR site:example.com) -site:bad.example.com";

test("queryOf() writes the text of URLSearchParams", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme-ascii" }));
  const value = fc.oneof(fc.constant(null), fc.integer(), text);
  fc.assert(
    fc.property(fc.record({ q: value, page_no: value, format: value }), (values) => {
      const parameters = new URLSearchParams();
      for (const [name, one] of Object.entries(values)) {
        if (one !== null) parameters.set(name, String(one));
      }
      expect(queryStringOf(values)).toBe(parameters.toString());
    }),
    { numRuns: 5_000 },
  );
  expect(queryStringOf({ q: "half \ud800 a pair" })).toBe("q=half+%EF%BF%BD+a+pair");
});

describe("the request", () => {
  test("to SearXNG: a form, with the region in the language", () => {
    expect(sent("searxng", EVERYTHING, 2)).toEqual({
      method: "POST",
      path: "/search",
      headers: {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded",
        authorization: "Bearer secret-key",
      },
      values: {
        q: OPERATORS,
        format: "json",
        pageno: "2",
        language: "de-DE",
        time_range: "week",
        safesearch: "2",
      },
    });
  });

  test("to SearXNG: no word of a caller as a command", () => {
    const q = (query: string) => {
      const parameters = searxng.parametersOf(searchFor(query), { page: 1, nowMs: NOW_MS });
      return new URLSearchParams(parameters).get("q");
    };
    expect(q("!!g fares")).toBe("g fares");
    expect(q("!wp\u001f:de\u0085<60 \t!:<!images a")).toBe("wp\u001fde\u008560 \timages a");
    expect(q("!!")).toBe("!");
    const harmless = "a < b and c: what?! std::vector x<y";
    expect(q(harmless)).toBe(harmless);
  });

  test("to Brave: a query, its page as an offset", () => {
    expect(sent("brave", { ...EVERYTHING, page: 3 })).toEqual({
      method: "GET",
      path: "/res/v1/web/search",
      headers: { accept: "application/json", "x-subscription-token": "secret-key" },
      values: {
        q: OPERATORS,
        count: "20",
        offset: "2",
        country: "DE",
        search_lang: "de",
        safesearch: "strict",
        freshness: "pw",
        text_decorations: "false",
        result_filter: "web",
      },
    });
  });

  test("to Tavily: the end of the page as the number of results, the country by its name", () => {
    const fields = { ...EVERYTHING, maxResults: 5, page: 3, language: null, safesearch: null };
    expect(sent("tavily", fields)).toMatchObject({
      method: "POST",
      path: "/search",
      headers: { authorization: "Bearer secret-key" },
      values: {
        query: "fares",
        max_results: 15,
        country: "germany",
        time_range: "week",
        include_domains: ["example.org", "example.com"],
        exclude_domains: ["bad.example.com"],
      },
    });
  });

  test("to Serper: Google's own codes", () => {
    expect(sent("serper", { ...EVERYTHING, page: 2, safesearch: null })).toMatchObject({
      method: "POST",
      path: "/search",
      headers: { "x-api-key": "secret-key" },
      values: { q: OPERATORS, num: 20, page: 2, gl: "de", hl: "de", tbs: "qdr:w" },
    });
  });

  test("to Exa: freshness as a date, safesearch as moderation", () => {
    expect(sent("exa", { ...EVERYTHING, page: 2, language: null })).toMatchObject({
      method: "POST",
      path: "/search",
      headers: { "x-api-key": "secret-key" },
      values: {
        query: "fares",
        numResults: 40,
        userLocation: "DE",
        startPublishedDate: "2026-11-14T12:00:00.000Z",
        moderation: true,
        includeDomains: ["example.org", "example.com"],
        excludeDomains: ["bad.example.com"],
      },
    });
  });

  for (const name of NAMES) {
    test(`to ${name}: no field that a caller left open`, () => {
      const { values } = sent(name);
      const text = JSON.stringify(values);
      expect(text).not.toMatch(/country|lang|fresh|range|safe|moderation|domain|site:|null|tbs/i);
    });
  }
});

describe("the reply", () => {
  for (const name of NAMES) {
    test(`${name}: its documented reply, in one form`, () => {
      const found = SERVICES[name].toResults(REPLIES[name]) ?? [];
      expect(found).toHaveLength(3);
      const candidates = found.flatMap((result) => candidateOf(result) ?? []);
      const [first, second, third] = cleanResults(candidates, NOW_MS, SERVICES[name].textForm);
      expect(first).toMatchObject({
        title: "Fares & tickets",
        url: "https://docs.example.org/fares",
        snippet: "How fares are paid before the ride.",
        date: "2026-03-05",
        source: "docs.example.org",
      });
      expect(second).toMatchObject({ title: "The ride", snippet: "", date: null });
      expect(third).toBeUndefined();
    });

    test(`${name}: any other text is not a reply`, () => {
      for (const body of [null, 1, "x", [], {}, { results: 1 }, { web: null }, { organic: {} }]) {
        expect(SERVICES[name].toResults(body)).toBeNull();
      }
    });
  }

  for (const [name, sent, text] of [
    ...NAMES.filter((name) => name !== "brave").flatMap(
      (name) =>
        [
          [name, "std::vector<int> reference", "std::vector<int> reference"],
          [name, "Escape &amp; as &amp;amp; in <b>", "Escape &amp; as &amp;amp; in <b>"],
          [name, "<script>alert(1)</script>", "<script>alert(1)</script>"],
          [name, "a\u0000b\u202e\n c", "ab c"],
        ] as const,
    ),
    ["brave", "std::vector&lt;int&gt; <strong>reference</strong>", "std::vector<int> reference"],
    ["brave", "Escape &amp;amp; in <b>bold</b>", "Escape &amp; in bold"],
  ] as const) {
    test(`${name}: ${JSON.stringify(sent)} is text of the form that it sends`, () => {
      const found = {
        title: sent,
        url: "https://a.example/x?a=1&amp;b=<2>",
        snippet: sent,
        date: "2026-03-05",
      };
      const candidate = candidateOf(found);
      const cleaned = cleanResults(candidate ? [candidate] : [], NOW_MS, SERVICES[name].textForm);
      expect(cleaned).toMatchObject([
        { title: text, snippet: text, url: "https://a.example/x?a=1&amp;b=%3C2%3E" },
      ]);
    });
  }

  test("brave: a query without hits has no section", () => {
    expect(brave.toResults({ type: "search", query: { original: "x" } })).toEqual([]);
  });
});

describe("the fields that a service lacks", () => {
  const lacks = (name: ServiceName, fields: Partial<SearchRequest>) =>
    SERVICES[name].lacks(searchFor("fares", fields));

  test("SearXNG: a country without a language, and results far down", () => {
    expect(lacks("searxng", { country: "DE" })).toEqual(["country"]);
    expect(lacks("searxng", { country: "DE", language: "de" })).toEqual([]);
    expect(lacks("searxng", { maxResults: 10, page: 5 })).toEqual([]);
    expect(lacks("searxng", { maxResults: 10, page: 6 })).toEqual(["page"]);
  });

  test("Brave: some countries and languages, and long queries", () => {
    expect(lacks("brave", { country: "IS", language: "is" })).toEqual(["country"]);
    expect(lacks("brave", { language: "cy" })).toEqual(["language"]);
    for (const language of ["ja", "pt", "zh", "no", "en"]) {
      expect(lacks("brave", { language })).toEqual([]);
    }
    expect(brave.lacks(searchFor("a ".repeat(50).trim()))).toEqual([]);
    expect(brave.lacks(searchFor("a ".repeat(51).trim()))).toEqual(["query"]);
    const long = searchFor("x".repeat(390), { includeDomains: ["example.org"] });
    expect(brave.lacks(long)).toEqual(["include_domains"]);
  });

  test("Tavily: languages, safesearch, and more than 20 results", () => {
    expect(lacks("tavily", { language: "de", safesearch: "off" })).toEqual([
      "language",
      "safesearch",
    ]);
    expect(lacks("tavily", { country: "LI" })).toEqual(["country"]);
    expect(lacks("tavily", { maxResults: 10, page: 2 })).toEqual([]);
    expect(lacks("tavily", { maxResults: 10, page: 3 })).toEqual(["page"]);
  });

  test("Serper: safesearch. Exa: languages, and more than 100 results", () => {
    expect(lacks("serper", EVERYTHING)).toEqual(["safesearch"]);
    expect(lacks("exa", EVERYTHING)).toEqual(["language"]);
    expect(lacks("exa", { maxResults: 20, page: 6 })).toEqual(["page"]);
  });
});

test("every domain that the schema allows is accepted, and no other", () => {
  const schema = SearchBody.properties.exclude_domains;
  const part = fc.stringMatching(/^[A-Za-z0-9-]{1,10}$/);
  const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("."));
  const other = fc.constantFrom(
    "127.0.0.1",
    "a.0x7f",
    "-a.example",
    "a.example.",
    " a.example",
    "",
  );
  const excluded = (domain: string) => toSearchRequest({ query: "x", exclude_domains: [domain] });
  fc.assert(
    fc.property(fc.oneof(name, other), (domain) => {
      // Invalid Punycode is refused only by its conversion.
      fc.pre(!/xn--/i.test(domain));
      const isTaken = misfit(schema, [domain]) === null;
      if (isTaken) expect(excluded(domain).excludeDomains).toHaveLength(1);
      else expect(() => excluded(domain)).toThrow("exclude_domains[0] must be a domain");
    }),
    { numRuns: 5_000 },
  );
});
