// Measures building, reopening and querying the embedded index, with 100,000 documents made from
// the words of the documents that Farebox contains.

import { join } from "node:path";
import { cpuUsage } from "node:process";
import { temporaryFolder } from "../scripts/local/processes.mjs";
import { loadGuideDocuments } from "../src/services/chat/protocols/guide/guide.ts";
import {
  createIndexTables,
  documentOf,
  type IndexDocument,
  IndexWriter,
  SearchIndex,
} from "../src/services/search/providers/embedded/search-index.ts";
import { shippedDocuments } from "../src/services/search/providers/embedded/shipped-documents.ts";
import { openDataFile } from "../src/upstream/data-file.ts";

export interface SearchFigures {
  readonly documents: number;
  readonly buildMs: number;
  readonly reopenMs: number;
  /** CPU of one query, the median and the slowest of a hundred. */
  readonly queryMs: number;
  readonly slowestQueryMs: number;
  readonly fileMb: number;
}

const PROJECT = join(import.meta.dir, "..");
const DOCUMENTS = 100_000;
const QUERIES = 100;
const ROUNDS = 5;
const silent = { info: () => {}, warn: console.error, error: console.error };

/** Measures in a temporary folder, in this process only. */
export async function measureSearch(): Promise<SearchFigures> {
  const folder = temporaryFolder("farebox-bench-search-");
  try {
    const documentation = await loadGuideDocuments(PROJECT);
    const source = { project: PROJECT, homepage: "https://farebox.example", documentation };
    const shipped = [...shippedDocuments(source, () => {})];
    const file = { directory: folder.path, name: "bench", version: "1", log: silent };
    const build = (db: Parameters<typeof createIndexTables>[0]) => {
      createIndexTables(db);
      new IndexWriter(db).addAll(manyOf(shipped), "bench");
    };
    const startMs = performance.now();
    (await openDataFile({ ...file, build })).close();
    const buildMs = performance.now() - startMs;
    const reopenFromMs = performance.now();
    using db = await openDataFile({ ...file, build });
    const index = new SearchIndex(db);
    index.search(queryFor("css"));
    const reopenMs = performance.now() - reopenFromMs;
    const times = queriesOf(shipped).map((query) => cpuMsOf(() => index.search(queryFor(query))));
    times.sort((one, other) => one - other);
    return {
      documents: index.size,
      buildMs,
      reopenMs,
      queryMs: times[Math.floor(times.length / 2)] ?? Number.NaN,
      slowestQueryMs: times.at(-1) ?? Number.NaN,
      fileMb: Bun.file(join(folder.path, "bench-1.sqlite")).size / 1e6,
    };
  } finally {
    folder.remove();
  }
}

/** Combines titles and texts of different documents, which keeps the real frequency of words. */
function* manyOf(shipped: readonly IndexDocument[]): Generator<IndexDocument> {
  for (let at = 0; at < DOCUMENTS; at += 1) {
    const one = shipped[at % shipped.length];
    const other = shipped[(at * 31 + Math.floor(at / shipped.length)) % shipped.length];
    if (one === undefined || other === undefined) return;
    const { title, keywords } = one;
    yield documentOf(new URL(`https://bench.example/${at}`), { title, text: other.text, keywords });
  }
}

/** Queries of four words from a title, common words included. */
function queriesOf(shipped: readonly IndexDocument[]): string[] {
  return Array.from({ length: QUERIES }, (_, at) => {
    const first = shipped[(at * 137) % shipped.length]?.title ?? "";
    const second = shipped[(at * 7_919) % shipped.length]?.title ?? "";
    return `${first} ${second}`.match(/\w+/g)?.slice(0, 4).join(" ") ?? "css";
  });
}

function queryFor(query: string) {
  const open = { language: null, since: null, includeDomains: [], excludeDomains: [] };
  return { ...open, query, limit: 10 };
}

function cpuMsOf(work: () => void): number {
  const start = cpuUsage();
  for (let round = 0; round < ROUNDS; round += 1) work();
  const { user, system } = cpuUsage(start);
  return (user + system) / 1000 / ROUNDS;
}

if (import.meta.main) console.log(await measureSearch());
