// Tests the embedded index over its real documents, and an operator's own beside them.

import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../../../src/core/log.ts";
import { loadGuideDocuments } from "../../../../src/services/chat/protocols/guide/guide.ts";
import { EmbeddedIndex } from "../../../../src/services/search/providers/embedded/embedded-search.ts";
import {
  copyPath,
  updateCopy,
} from "../../../../src/services/search/providers/embedded/own-documents.ts";
import {
  createIndexTables,
  documentOf,
  type IndexDocument,
  IndexWriter,
  matchOf,
  SearchIndex,
} from "../../../../src/services/search/providers/embedded/search-index.ts";
import type {
  SearchRequest,
  SearchResult,
} from "../../../../src/services/search/providers/provider.ts";
import { IndexedDocuments } from "../../../../src/store/documents/indexed-documents.ts";
import { eventually } from "../../../support/eventually.ts";
import { realClock } from "../../../support/fakes/fake-clock.ts";
import { searchFor } from "../../../support/fakes/search-servers.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { atEnd, shared, sharedFolder } from "../../../support/shared.ts";
import { testDataDirectory } from "../../../support/stores/services.ts";
import { openTestDatabase } from "../../../support/stores/test-database.ts";

const PROJECT = join(import.meta.dir, "../../../..");
const folder = sharedFolder("search-index");

interface IndexParts {
  readonly log?: Log;
  /** A copy of the operator's documents. */
  readonly copy?: string | null;
}

async function indexIn(
  directory: string,
  { log = silent, copy = null }: IndexParts = {},
): Promise<EmbeddedIndex> {
  const documentation = await loadGuideDocuments(PROJECT);
  const source = { project: PROJECT, homepage: "https://farebox.example", documentation };
  const index = new EmbeddedIndex({ directory, source, copy, clock: realClock, log });
  atEnd(() => index[Symbol.dispose]());
  return index;
}

function find(index: EmbeddedIndex, query: string, fields: Partial<SearchRequest> = {}) {
  const { signal } = new AbortController();
  const limits = { account: "acct_search", signal, timeoutMs: 10_000 };
  return index.search(searchFor(query, fields), limits);
}

function page(url: string, title: string, more: Partial<IndexDocument> = {}): IndexDocument {
  return { ...documentOf(new URL(url), { title, text: `About ${title}` }), ...more };
}

describe("the shipped documents", () => {
  let index: EmbeddedIndex;
  beforeAll(async () => {
    index = await indexIn(testDataDirectory());
    await eventually("the index is open", () => index.isReady());
  });

  for (const [query, url] of [
    ["css grid layout", "https://developer.mozilla.org/en-US/docs/Web/CSS/Guides/Grid_layout"],
    [
      "addEventListener",
      "https://developer.mozilla.org/en-US/docs/Web/API/EventTarget/addEventListener",
    ],
    [
      "push manager get subscription",
      "https://developer.mozilla.org/en-US/docs/Web/API/PushManager/getSubscription",
    ],
    ["fetch api", "https://developer.mozilla.org/en-US/docs/Web/API/Fetch_API"],
    ["webgpu browser support", "https://caniuse.com/webgpu"],
    ["farebox circuit breaker", "https://farebox.example/docs/configuration.md#circuit-breaker"],
  ] as const) {
    test(`'${query}' finds its page first`, async () => {
      expect((await find(index, query))[0]?.url).toBe(url);
    });
  }

  test("each result is complete, and they come best first", async () => {
    const results = await find(index, "service worker", { maxResults: 20 });
    expect(results).toHaveLength(20);
    const scores = results.map(({ score }) => score ?? 0);
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
    for (const result of results) {
      expect(result.title).not.toBe("");
      expect(result.snippet).not.toBe("");
      expect(new URL(result.url).protocol).toBe("https:");
    }
  });

  test("pages follow each other without a gap or a repetition", async () => {
    const all = await find(index, "array", { maxResults: 20 });
    const first = await find(index, "array", { maxResults: 10 });
    const second = await find(index, "array", { maxResults: 10, page: 2 });
    const unplaced = (results: readonly SearchResult[]) =>
      results.map((result) => ({ ...result, position: 0 }));
    expect(unplaced([...first, ...second])).toEqual(unplaced(all));
    expect(second.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("domains are exact, with their subdomains", async () => {
    const from = async (fields: Partial<SearchRequest>) =>
      new Set((await find(index, "css grid", fields)).map(({ source }) => source));
    expect(await from({ includeDomains: ["caniuse.com"] })).toEqual(new Set(["caniuse.com"]));
    expect(await from({ includeDomains: ["mozilla.org"] })).toEqual(
      new Set(["developer.mozilla.org"]),
    );
    expect(await from({ includeDomains: ["illa.org"] })).toEqual(new Set());
    const others = await from({ excludeDomains: ["developer.mozilla.org", "farebox.example"] });
    expect(others).toEqual(new Set(["caniuse.com"]));
  });

  test("languages are those of the documents; countries and dates are unsupported", async () => {
    expect(await find(index, "css grid", { language: "en" })).toHaveLength(10);
    expect(await find(index, "css grid", { language: "de" })).toEqual([]);
    await eventually("it has said so", () => {
      const lacks = index.lacks(searchFor("x", { country: "DE", freshness: "day" }));
      return lacks.join() === "country,freshness";
    });
  });

  for (const query of [
    '"',
    '"" OR "',
    "NEAR(a b, 5)",
    "title:css AND (grid OR",
    "* ^ - + { } ;",
    "'; DROP TABLE documents; --",
    "🎉🎉🎉",
    "日本語のウェブ",
    "%_\\0\u0000",
    "x".repeat(400),
    "a ".repeat(200),
    "the of and",
    "ÀÉÎ grid",
    "\u0301\u0301",
  ]) {
    test(`no query is an error: ${JSON.stringify(query.slice(0, 30))}`, async () => {
      const results = await find(index, query);
      expect(results.length).toBeLessThanOrEqual(10);
    });
  }

  test("many queries at once each get their own answer", async () => {
    const queries = ["css grid layout", "addEventListener", "webgpu browser support"];
    const alone = await Promise.all(queries.map((query) => find(index, query)));
    const crowd = Array.from({ length: 60 }, (_, at) => find(index, queries[at % 3] ?? ""));
    for (const [at, results] of (await Promise.all(crowd)).entries()) {
      expect(results).toEqual(alone[at % 3] ?? []);
    }
  });
});

test("matchOf() quotes every word, and makes one phrase of all", () => {
  expect(matchOf('say "NOT" (twice) OR title:x*')).toBe(
    '"say" OR "not" OR "twice" OR "title" OR "x" OR "say not twice or title x"',
  );
  expect(matchOf("what is the")).toBe('"what" OR "is" OR "the" OR "what is the"');
  expect(matchOf("fares")).toBe('"fares"');
  expect(matchOf("!!")).toBeNull();
});

const { database } = await shared(openTestDatabase());
const documents = new IndexedDocuments(database);
const { identity } = await documents.state();

describe("an operator's documents", () => {
  function ownFolder(name: string): string {
    const directory = join(folder, name);
    mkdirSync(directory);
    // The shipped index is built once for all tests.
    for (const file of readdirSync(testDataDirectory())) {
      if (/^search-index-.*\.sqlite$/.test(file)) {
        copyFileSync(join(testDataDirectory(), file), join(directory, file));
      }
    }
    return directory;
  }

  test("are found by a running index as soon as they are copied, among the others", async () => {
    const directory = ownFolder("running");
    const index = await indexIn(directory, { copy: copyPath(directory, identity) });
    await eventually("the index is open", () => index.isReady());
    expect(await find(index, "quagga grid", { includeDomains: ["zoo.example"] })).toEqual([]);
    const quagga = page("https://zoo.example/quagga", "Quagga", { date: "2026-11-20" });
    await documents.replace("zoo", [quagga]);
    await updateCopy(documents, directory);
    const results = await find(index, "quagga grid");
    expect(results[0]).toMatchObject({ url: "https://zoo.example/quagga", date: "2026-11-20" });
    expect(results.length).toBe(10);
    // The match with a query decides, not the owner.
    expect((await find(index, "css grid layout quagga"))[0]?.source).toBe("developer.mozilla.org");
    await eventually("dates are known of", () => {
      return index.lacks(searchFor("x", { freshness: "year" })).length === 0;
    });
    expect(await find(index, "quagga grid", { freshness: "year" })).toHaveLength(1);
  });

  test("outlive every version of the shipped index", async () => {
    const directory = ownFolder("outlive");
    await documents.replace("a", [page("https://a.example/1", "Okapi")]);
    await updateCopy(documents, directory);
    for (const file of readdirSync(directory)) {
      if (file.startsWith("search-index-")) {
        writeFileSync(join(directory, "search-index-0.old.sqlite"), "");
        copyFileSync(join(directory, file), join(directory, "kept"));
      }
    }
    const copy = copyPath(directory, identity);
    const index = await indexIn(directory, { copy });
    await eventually("the index is open", () => index.isReady());
    expect((await find(index, "okapi"))[0]?.url).toBe("https://a.example/1");
    expect(existsSync(copy)).toBe(true);
  });
});

test("an index that cannot be opened reports it, and does not end the process", async () => {
  const directory = join(folder, "a-file");
  writeFileSync(directory, "");
  const errors: string[] = [];
  const log = { ...silent, error: (fields: object) => errors.push(JSON.stringify(fields)) };
  const index = await indexIn(directory, { log });
  expect(index.isReady()).toBe(false);
  await eventually("it is told", () => errors.length > 0);
  expect(index.isReady()).toBe(false);
  await expect(find(index, "x")).rejects.toThrow("The search thread ended");
});

test("a closed index refuses requests", async () => {
  const index = await indexIn(testDataDirectory());
  await eventually("the index is open", () => index.isReady());
  const asked = find(index, "css");
  index.close();
  await expect(asked).rejects.toThrow("The search thread ended");
  expect(index.isReady()).toBe(false);
});

test("a document that occurs twice is in the index once", () => {
  using db = new Database(":memory:", { strict: true });
  createIndexTables(db);
  const twice = [page("https://a.example/", "First"), page("https://a.example/", "Second")];
  new IndexWriter(db).addAll(twice, "test");
  const index = new SearchIndex(db);
  expect(index.size).toBe(1);
  const hits = index.search({ ...searchFor("first second"), limit: 5, since: null });
  expect(hits.map(({ title }) => title)).toEqual(["Second"]);
});
