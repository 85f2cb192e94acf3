// Tests an operator's documents in Postgres, and the copies of them that machines search.

import { Database } from "bun:sqlite";
import { beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { withSpooled } from "../../../../src/services/search/providers/embedded/document-spool.ts";
import {
  copyPath,
  OwnDocuments,
  updateCopy,
} from "../../../../src/services/search/providers/embedded/own-documents.ts";
import {
  documentOf,
  type IndexDocument,
} from "../../../../src/services/search/providers/embedded/search-index.ts";
import { IndexedDocuments } from "../../../../src/store/documents/indexed-documents.ts";
import { searchFor } from "../../../support/fakes/search-servers.ts";
import { shared, sharedFolder } from "../../../support/shared.ts";
import { openTestDatabase } from "../../../support/stores/test-database.ts";

const folder = sharedFolder("documents");
let machines = 0;
let machine = "";

const { database } = await shared(openTestDatabase());
const documents = new IndexedDocuments(database);

beforeEach(async () => {
  await database.sql`TRUNCATE document_sources, indexed_documents, index_state`;
  machine = newMachine();
});

function newMachine(): string {
  machines += 1;
  const directory = join(folder, `machine-${machines}`);
  mkdirSync(directory);
  return directory;
}

function page(url: string, title: string): IndexDocument {
  return documentOf(new URL(url), { title, text: `About ${title}` });
}

const ONE = page("https://a.example/1", "One");
const TWO = page("https://b.example/2", "Two");

/** The titles of all results for the words, in the copy of a machine that has just looked. */
async function found(words: string, directory = machine): Promise<string[]> {
  await updateCopy(documents, directory);
  const { identity } = await documents.state();
  const index = new OwnDocuments(copyPath(directory, identity)).index();
  const hits = index?.search({ ...searchFor(words), limit: 500, since: null }) ?? [];
  index?.db.run("PRAGMA query_only = OFF");
  index?.db.run("INSERT INTO terms (terms) VALUES ('integrity-check')");
  index?.db.close();
  return hits.map(({ title }) => title).sort();
}

test.each(["cut", "overwritten", "no file of SQLite"])(
  "a copy that is %s is made again",
  async (how) => {
    const many = Array.from({ length: 200 }, (_, at) => page(`https://a.example/${at}`, `T${at}`));
    await documents.replace("a", many);
    expect(await found("about")).toHaveLength(200);
    const path = copyPath(machine, (await documents.state()).identity);
    const { size } = statSync(path);
    if (how === "cut") truncateSync(path, size / 2);
    else overwrite(path, how === "overwritten" ? 8_192 : 0);
    expect(await found("about")).toHaveLength(200);
  },
);

test("a search of a copy that another process has remade uses the new one", async () => {
  await documents.replace("a", [ONE]);
  expect(await found("about")).toEqual(["One"]);
  const path = copyPath(machine, (await documents.state()).identity);
  const open = new OwnDocuments(path);
  expect(open.index()?.size).toBe(1);
  overwrite(path, 8_192);
  await documents.replace("b", [TWO]);
  await updateCopy(documents, machine);
  expect(open.index()?.size).toBe(2);
});

test("a copy that cannot be read is left closed at each look", async () => {
  await documents.replace("a", [ONE]);
  await updateCopy(documents, machine);
  const path = copyPath(machine, (await documents.state()).identity);
  overwrite(path, 0);
  const copy = new OwnDocuments(path);
  const before = filesOpen();
  for (let look = 0; look < 20; look += 1) expect(() => copy.index()).toThrow("not a database");
  expect(filesOpen()).toBeLessThan(before + 20);
});

function filesOpen(): number {
  return readdirSync("/dev/fd").length;
}

/** Overwrites the half of a file, as a broken disk may. */
function overwrite(path: string, at: number): void {
  const damage = openSync(path, "r+");
  const { size } = statSync(path);
  writeSync(damage, Buffer.alloc(size / 2, "x"), 0, size / 2, at);
  closeSync(damage);
}

test("a source is replaced whole, and no other one with it", async () => {
  expect(await documents.replace("a", [ONE])).toBe(1);
  expect(await documents.replace("b", [TWO])).toBe(1);
  expect(await found("about")).toEqual(["One", "Two"]);
  await documents.replace("a", [page("https://a.example/3", "Three")]);
  expect(await found("about")).toEqual(["Three", "Two"]);
  expect(await documents.counts()).toEqual([
    { source: "a", documents: 1 },
    { source: "b", documents: 1 },
  ]);
  expect(await documents.remove("b")).toBe(1);
  expect(await documents.remove("b")).toBe(0);
  expect(await found("about")).toEqual(["Three"]);
});

test("a source that fails leaves the earlier documents in place", async () => {
  await documents.replace("a", [ONE]);
  const before = await documents.state();
  const broken = async function* () {
    for (let index = 0; index < 250; index += 1) yield page(`https://a.example/x${index}`, "New");
    throw new Error("Line 251 is wrong");
  };
  expect(documents.replace("a", broken())).rejects.toThrow("Line 251");
  const spooled = withSpooled(broken(), (all) => documents.replace("a", all));
  expect(spooled).rejects.toThrow("Line 251");
  await spooled.catch(() => {});
  expect(await documents.state()).toEqual(before);
  expect(await found("about")).toEqual(["One"]);
});

test("a URL belongs to the source that added it last, in every copy", async () => {
  const [early, late] = [machine, newMachine()];
  await documents.replace("a", [ONE, page("https://a.example/x", "Stays")]);
  expect(await found("about", early)).toEqual(["One", "Stays"]);
  await documents.replace("b", [{ ...ONE, title: "Other" }]);
  await documents.remove("b");
  // The early copy never had b, and still must not have the page that b took over.
  expect(await found("about", early)).toEqual(["Stays"]);
  expect(await found("about", late)).toEqual(["Stays"]);
});

test("of documents with one URL the last one is kept, however far apart they are", async () => {
  const many = Array.from({ length: 450 }, (_, index) =>
    page(`https://a.example/${index % 300}`, `Page ${index}`),
  );
  expect(await documents.replace("a", many)).toBe(300);
  const titles = await found("about");
  expect(titles).toHaveLength(300);
  expect(titles).toContain("Page 449");
  expect(titles).not.toContain("Page 149");
});

test("a copy of a database that was restored from a backup is made again", async () => {
  await documents.replace("a", [ONE]);
  await database.sql`CREATE TABLE kept AS SELECT * FROM indexed_documents`;
  const [state] = await database.sql`SELECT version, revision FROM index_state`;
  const [source] = await database.sql`SELECT revision FROM document_sources`;
  await documents.replace("a", [TWO]);
  expect(await found("about")).toEqual(["Two"]);
  await database.sql`DELETE FROM indexed_documents`;
  await database.sql`INSERT INTO indexed_documents SELECT * FROM kept`;
  await database.sql`UPDATE index_state SET ${database.sql(state ?? {})}`;
  await database.sql`UPDATE document_sources SET ${database.sql(source ?? {})}`;
  expect(await found("about")).toEqual(["One"]);
});

test("two processes of a machine that look at once make one copy", async () => {
  const many = Array.from({ length: 300 }, (_, index) =>
    page(`https://a.example/${index}`, `Page ${index}`),
  );
  await documents.replace("a", many);
  const outcomes = await Promise.allSettled([found("about"), updateCopy(documents, machine)]);
  // One of them may find the file busy; it looks again.
  expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
  expect(await found("about")).toHaveLength(300);
});

test("only its owner can read the copy of a machine, whatever the umask is", async () => {
  const umask = process.umask(0);
  try {
    const folder = join(machine, "deeper");
    const { identity } = await documents.state();
    await updateCopy(documents, folder);
    const path = copyPath(folder, identity);
    // An earlier release made the file with this mode.
    chmodSync(path, 0o644);
    await updateCopy(documents, folder);
    using reader = new Database(path);
    reader.query("SELECT count(*) FROM sources").get();
    const files = readdirSync(folder).map((name) => join(folder, name));
    expect(files.length).toBeGreaterThan(1);
    const open = [folder, ...files].filter((file) => (statSync(file).mode & 0o077) !== 0);
    expect(open).toEqual([]);
  } finally {
    process.umask(umask);
  }
});
