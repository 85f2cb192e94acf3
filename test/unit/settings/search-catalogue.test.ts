// Tests the section `search` of the configuration file.

import { describe, expect, test } from "bun:test";
import { price } from "../../../src/core/money/money.ts";
import { EMBEDDED_SEARCH } from "../../../src/services/search/search-catalogue.ts";
import { CatalogueError, parseCatalogue } from "../../../src/settings/catalogue-file.ts";

const ENV = { BRAVE_KEY: " brave-key ", LONG: "x".repeat(5_000) };

function read(search: unknown) {
  const text = JSON.stringify({ providers: {}, models: [], search }, null, 2);
  return parseCatalogue(text, ENV).search;
}

function refusalOf(search: unknown): string {
  try {
    read(search);
  } catch (error) {
    if (error instanceof CatalogueError) return error.message;
    throw error;
  }
  throw new Error("The file was not refused");
}

describe("the offer", () => {
  test("without the section: the embedded index, at $0.0005 a result", () => {
    expect(read(undefined)).toEqual(EMBEDDED_SEARCH);
    expect(read({})).toEqual(EMBEDDED_SEARCH);
    expect(EMBEDDED_SEARCH.pricePerResult).toBe(price("0.0005", 1));
  });

  test("with the section: servers in their order, with defaults for omitted fields", () => {
    const offer = read({
      usd_per_result: "0.001",
      providers: [
        { kind: "searxng", base_url: "http://10.0.0.6:8888/sub/" },
        { kind: "brave", name: "spare", api_key_env: "BRAVE_KEY", timeout_ms: 500, concurrency: 2 },
        { kind: "embedded" },
      ],
    });
    expect(offer.pricePerResult).toBe(price("0.001", 1));
    expect(offer.servers).toEqual([
      {
        name: "searxng",
        kind: "searxng",
        baseUrl: "http://10.0.0.6:8888/sub",
        apiKey: null,
        timeoutMs: 10_000,
        concurrencyMax: 64,
      },
      {
        name: "spare",
        kind: "brave",
        baseUrl: "https://api.search.brave.com",
        apiKey: "brave-key",
        timeoutMs: 500,
        concurrencyMax: 2,
      },
      ...EMBEDDED_SEARCH.servers,
    ]);
  });

  test("the tool for models is off; an object switches it on, with defaults", () => {
    expect(read({}).tool).toBeNull();
    expect(read({ tool: {} }).tool).toEqual({ searchesMax: 5, resultsEach: 5 });
    const tool = { searches_max: 2, results_each: 20 };
    expect(read({ tool }).tool).toEqual({ searchesMax: 2, resultsEach: 20 });
  });

  test("a price is read digit by digit, as text and as a number", () => {
    expect(read({ usd_per_result: 0.000123 }).pricePerResult).toBe(price("0.000123", 1));
    expect(read({ usd_per_result: "0" }).pricePerResult).toBe(price("0", 1));
  });
});

describe("a refusal by the place of its fault", () => {
  const brave = { kind: "brave", api_key_env: "BRAVE_KEY" };
  for (const [search, named] of [
    [{ usd_per_result: "-1" }, "search.usd_per_result must be a decimal USD amount"],
    [{ usd_per_result: 1.5 }, "search.usd_per_result must be a decimal USD amount from 0 to 1"],
    [{ usd_per_result: 1e-7 }, "search.usd_per_result must be a decimal USD amount"],
    [{ price: "1" }, "search.price is not allowed here"],
    [{ tool: { searches_max: 51 } }, "search.tool.searches_max must be a whole number"],
    [{ tool: { results: 2 } }, "search.tool.results is not allowed here"],
    [{ providers: [] }, "search.providers must be a list of 1 to 16 search providers"],
    [
      { providers: [{ kind: "bing" }] },
      "search.providers[0].kind must be one of embedded, searxng",
    ],
    [{ providers: [{ kind: "searxng" }] }, "search.providers[0].base_url is missing"],
    [{ providers: [{ kind: "exa" }] }, "search.providers[0].api_key_env is missing"],
    [{ providers: [brave, brave] }, "search.providers[1].name 'brave' stands twice"],
    [
      { providers: [{ ...brave, base_url: "https://user:x@a.example" }] },
      "search.providers[0].base_url must hold no credentials",
    ],
    [
      { providers: [{ ...brave, base_url: "ftp://a.example" }] },
      "search.providers[0].base_url must be an http or https URL",
    ],
    [
      { providers: [{ kind: "brave", api_key_env: "NO_SUCH_KEY" }] },
      "search.providers[0].api_key_env names an environment variable 'NO_SUCH_KEY' that is not set",
    ],
    [
      { providers: [{ kind: "embedded", base_url: "https://a.example" }] },
      "search.providers[0].base_url is not for the embedded index",
    ],
    [
      { providers: [{ ...brave, timeout_ms: 0 }] },
      "search.providers[0].timeout_ms must be a whole",
    ],
  ] as const) {
    test(named, () => {
      const message = refusalOf(search);
      expect(message).toMatch(/^farebox\.config\.json line \d+: /);
      expect(message).toContain(named);
    });
  }
});
