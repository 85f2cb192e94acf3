// Tests searches of an operator's documents that are as long as documents may be.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadGuideDocuments } from "../../../../src/services/chat/protocols/guide/guide.ts";
import { EmbeddedIndex } from "../../../../src/services/search/providers/embedded/embedded-search.ts";
import {
  createIndexTables,
  documentOf,
  IndexWriter,
} from "../../../../src/services/search/providers/embedded/search-index.ts";
import { eventually } from "../../../support/eventually.ts";
import { realClock } from "../../../support/fakes/fake-clock.ts";
import { searchFor } from "../../../support/fakes/search-servers.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { sharedFolder } from "../../../support/shared.ts";
import { testDataDirectory } from "../../../support/stores/services.ts";

const PROJECT = join(import.meta.dir, "../../../..");
const folder = sharedFolder("long-documents");
const DOCUMENTS = 60;
const WORDS_A_DOCUMENT = 24_000;
const COMMON = Array.from({ length: 32 }, (_, index) => `common${index}`);

/** A text in which each of the common words occurs some hundred times, beside rare ones. */
function longText(seed: number): string {
  const words = Array.from({ length: WORDS_A_DOCUMENT }, (_, index) => {
    const number = (index * 7_919 + seed * 104_729) % 65_521;
    return number % 3 === 0 ? COMMON[number % COMMON.length] : `w${number}`;
  });
  return words.join(" ");
}

function writeCopy(path: string, texts: Iterable<string>): void {
  using db = new Database(path, { create: true, strict: true });
  db.run("PRAGMA journal_mode = WAL");
  createIndexTables(db);
  db.run("CREATE TABLE sources (name TEXT PRIMARY KEY, revision TEXT NOT NULL)");
  let count = 0;
  const documents = Array.from(texts, (text) => {
    count += 1;
    return documentOf(new URL(`https://long.example/${count}`), { title: `Long ${count}`, text });
  });
  new IndexWriter(db).addAll(documents, "long");
}

async function openIndex(copy: string): Promise<EmbeddedIndex> {
  const documentation = await loadGuideDocuments(PROJECT);
  const source = { project: PROJECT, homepage: "https://farebox.example", documentation };
  const directory = testDataDirectory();
  const index = new EmbeddedIndex({ directory, source, copy, clock: realClock, log: silent });
  await eventually("the index is open", () => index.isReady());
  return index;
}

const { signal } = new AbortController();
const limits = { account: "acct_long", signal, timeoutMs: 10_000 };
const includeDomains = ["long.example"];

test("a query of many common words is answered in time, however long documents are", async () => {
  const copy = join(folder, "many.sqlite");
  writeCopy(
    copy,
    Array.from({ length: DOCUMENTS }, (_, seed) => longText(seed)),
  );
  using index = await openIndex(copy);
  const last = searchFor(COMMON.join(" "), { includeDomains, maxResults: 20, page: 3 });
  const results = await index.search(last, limits);
  expect(results).toHaveLength(20);
  for (const { snippet } of results) expect(snippet).toContain("common");
});

test("a long document is shown by the part with most words of the query", async () => {
  const copy = join(folder, "parts.sqlite");
  const filler = (word: string) => Array.from({ length: 200 }, () => word).join(" ");
  const text = [
    filler("reef"),
    "The quokka is a small marsupial",
    filler("sand"),
    "On the island a quokka eats leaves, grasses and bark at night",
    filler("quokka"),
    "動物園の水族館".repeat(200),
  ].join(" ");
  writeCopy(copy, [text, `${"𠮷".repeat(500)} wombat ${"𠮷".repeat(500)}`]);
  using index = await openIndex(copy);
  const snippetOf = async (query: string) =>
    (await index.search(searchFor(query, { includeDomains }), limits))[0]?.snippet;
  const shown = await snippetOf("what does a quokka eat at night");
  expect(shown).toContain("a quokka eats leaves, grasses and bark at night");
  expect(shown).toStartWith("…");
  expect(shown).toEndWith("…");
  expect(await snippetOf("reef")).toStartWith("reef reef");
  expect(await snippetOf("wombat")).toContain("wombat");
  expect(await snippetOf("wombat")).not.toContain("\ufffd");
});
