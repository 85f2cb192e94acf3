// Tests `farebox index`: an operator's documents get into the index, whole or not at all.

import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  copyPath,
  OwnDocuments,
  updateCopy,
} from "../../../src/services/search/providers/embedded/own-documents.ts";
import { IndexedDocuments } from "../../../src/store/documents/indexed-documents.ts";
import { searchFor } from "../../support/fakes/search-servers.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { atEnd, shared, sharedFolder } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";
import { workIn } from "../../support/work-in.ts";

const folder = sharedFolder("cli-index");
const data = join(folder, "data");

const world = await shared(openWorld());
// File names are relative to the folder.
workIn(folder);
const cli = await cliOf(world, { FAREBOX_DATA: data });
const site = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
atEnd(() => site.stop(true));
const siteUrl = `http://127.0.0.1:${site.port}`;

function answer(request: Request): Response {
  const { pathname } = new URL(request.url);
  const page = (title: string) =>
    new Response(`<html lang="de-AT"><title>${title}</title><p>Das ${title} &amp; mehr`, {
      headers: { "content-type": "text/html; charset=utf-8" },
    });
  const places = (name: string, entries: readonly string[]) =>
    new Response(
      `<?xml version="1.0"?><${name}set>${entries
        .map((path) => `<url><loc>${siteUrl}${path}</loc><lastmod>2026-11-20</lastmod></url>`)
        .join("")}</${name}set>`,
    );
  switch (pathname) {
    case "/sitemap.xml":
      return new Response(
        `<sitemapindex><sitemap><loc>${siteUrl}/pages.xml</loc></sitemap></sitemapindex>`,
      );
    case "/pages.xml":
      return places("url", ["/okapi", "/gone", "/moved", "/loop", "/image", "/zebra"]);
    case "/moved":
      return Response.redirect(`${siteUrl}/quagga`, 301);
    case "/loop":
      return Response.redirect(`${siteUrl}/loop`, 302);
    case "/image":
      return new Response("PNG", { headers: { "content-type": "image/png" } });
    case "/gone":
      return new Response("Gone", { status: 410 });
    default:
      return page(pathname.slice(1));
  }
}

/** The results of a process that has just updated its copy. */
async function find(query: string) {
  const documents = new IndexedDocuments(world.database);
  await updateCopy(documents, data);
  const { identity } = await documents.state();
  const all = { ...searchFor(query), limit: 20, since: null };
  const index = new OwnDocuments(copyPath(data, identity)).index();
  return index?.search(all).map((match) => index.hitOf(match, all)) ?? [];
}

function file(name: string, ...lines: readonly (object | string)[]): string {
  const path = join(folder, name);
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path, texts.join("\n"));
  return path;
}

describe("a file of JSON lines", () => {
  test("is added, and replaced when it is added again", async () => {
    const aardvark = { url: "https://zoo.example/a", title: "Aardvark", text: "It digs." };
    const path = file("zoo.jsonl", aardvark, "", {
      url: "https://zoo.example/b",
      text: "Bears are <b>big</b>",
      date: "2026-10-01",
      language: "en-GB",
      more: 1,
    });
    expect(jsonOf(await cli("index", "add", "zoo.jsonl", "--json"))).toEqual({
      source: path,
      documents: 2,
      skipped: 0,
    });
    expect(await find("aardvark")).toMatchObject([{ title: "Aardvark", snippet: "It digs." }]);
    expect(await find("bears")).toMatchObject([{ title: "zoo.example", date: "2026-10-01" }]);
    file("zoo.jsonl", { ...aardvark, title: "Antelope" });
    expect((await cli("index", "add", "zoo.jsonl")).out).toContain("1 document of");
    expect(await find("aardvark bears")).toEqual([]);
    expect(await find("antelope")).toHaveLength(1);
  });

  const wrong: readonly (readonly [line: object | string, named: string])[] = [
    ["{", "it is not a JSON object"],
    ["[]", "it is not a JSON object"],
    [{ title: "x" }, "url must be an http or https URL"],
    [{ url: "javascript:alert(1)", title: "x" }, "url must be an http or https URL"],
    [{ url: "https://a.example/", title: 7 }, "title must be a string"],
    [{ url: "https://a.example/" }, "title and text must not both be empty"],
    [{ url: "https://a.example/", title: "x", date: "soon" }, "date must be a day"],
  ];
  for (const [line, named] of wrong) {
    test(`with one wrong line adds nothing: ${named}`, async () => {
      file("wrong.jsonl", { url: "https://a.example/1", title: "Wombat" }, line);
      const { code, err } = await cli("index", "add", "wrong.jsonl");
      expect(code).toBe(1);
      expect(err).toContain(`wrong.jsonl line 2: ${named}`);
      expect(await find("wombat")).toEqual([]);
    });
  }
});

test("a folder is added with everything below it, under its URLs", async () => {
  mkdirSync(join(folder, "book/ein teil"), { recursive: true });
  file("book/start.md", "# The *lynx*", "", "A [cat](x.md) with `ears`.");
  file("book/ein teil/2.html", "<title>Marten</title><script>no()</script><p>Climbs");
  file("book/note.txt", "An otter swims.");
  file("book/data.csv", "weasel");
  writeFileSync(join(folder, "outside.md"), "# Stoat");
  symlinkSync(join(folder, "outside.md"), join(folder, "book/link.md"));
  const added = await cli("index", "add", "book", "--base-url", "https://book.example/v1");
  expect(added.out).toContain("3 documents");
  expect(await find("lynx")).toMatchObject([
    { url: "https://book.example/v1/start.md", title: "The lynx" },
  ]);
  expect(await find("climbs")).toMatchObject([
    { url: "https://book.example/v1/ein%20teil/2.html" },
  ]);
  expect(await find("otter")).toMatchObject([{ title: "note" }]);
  expect(await find("weasel stoat no")).toEqual([]);
});

describe("a sitemap", () => {
  test("leads to its pages; unreachable pages are left out and named", async () => {
    const added = await cli("index", "add", `${siteUrl}/sitemap.xml`, "--private", "allow");
    expect(added.code).toBe(0);
    expect(added.out).toContain("3 documents");
    for (const left of ["/gone: the server answered 410", "/loop: ", "/image: it is no HTML"]) {
      expect(added.err).toContain(left);
    }
    expect(await find("okapi")).toMatchObject([
      { url: `${siteUrl}/okapi`, title: "okapi", snippet: "Das okapi & mehr", date: "2026-11-20" },
    ]);
    expect(await find("quagga")).toMatchObject([{ url: `${siteUrl}/moved` }]);
  });

  test("may be a file, and its pages be limited", async () => {
    const pages = await (await fetch(`${siteUrl}/pages.xml`)).text();
    writeFileSync(join(folder, "pages.xml"), pages);
    const limit = ["--pages", "1", "--private", "allow"];
    const added = jsonOf(await cli("index", "add", "pages.xml", ...limit, "--json"));
    expect(added.documents).toBe(1);
  });

  test("of this machine is not fetched unless that is allowed", async () => {
    const { code, err } = await cli("index", "add", `${siteUrl}/sitemap.xml`);
    expect(code).toBe(1);
    expect(err).toContain("its address is not public");
    for (const host of ["localhost", "[::1]", "0x7f000001", "[::ffff:127.0.0.1]"]) {
      const url = `http://${host}:${site.port}/sitemap.xml`;
      expect((await cli("index", "add", url)).err).toContain("its address is not public");
    }
  });

  test("with invalid content is refused", async () => {
    const allowed = ["--private", "allow"];
    expect((await cli("index", "add", `${siteUrl}/okapi`, ...allowed)).err).toContain(
      "is no sitemap",
    );
    expect((await cli("index", "add", `${siteUrl}/gone`, ...allowed)).err).toContain("410");
  });
});

test("sources are listed, and forgotten by their names", async () => {
  const path = file("few.jsonl", { url: "https://few.example/", title: "Numbat" });
  await cli("index", "add", "few.jsonl");
  const { sources } = jsonOf(await cli("index", "list", "--json"));
  expect(sources).toContainEqual({ source: path, documents: 1 });
  expect((await cli("index", "remove", path)).out).toContain("1 document of");
  expect(await find("numbat")).toEqual([]);
  const again = await cli("index", "remove", path);
  const none = `There are no documents of ${path}; 'farebox index list' names the sources\n`;
  expect([again.code, again.err]).toEqual([1, none]);
});

for (const [words, code, named] of [
  [["add"], 2, "needs FILE.jsonl|SITEMAP|FOLDER"],
  [["add", "nowhere.jsonl"], 1, "cannot be read"],
  [["add", "."], 1, "A folder needs --base-url"],
  [["add", ".", "--base-url", "ftp://x"], 2, "--base-url must be an http or https URL"],
  [["add", "x.jsonl", "--pages", "0"], 2, "--pages must be a whole number from 1"],
  [["add", "x.jsonl", "--private", "yes"], 2, "--private must be 'allow'"],
  [["add", "data"], 1, "A folder needs --base-url"],
] as const) {
  test(`index ${words.join(" ")}: ${named}`, async () => {
    const outcome = await cli("index", ...words);
    expect(outcome.code).toBe(code);
    expect(outcome.err).toContain(named);
  });
}

test("a source is removed by the words that added it", async () => {
  writeFileSync(
    join(folder, "near.jsonl"),
    '{"url":"https://a.example/near","title":"t","text":"x"}',
  );
  expect(await cli("index", "add", "near.jsonl")).toMatchObject({ code: 0 });
  expect(await cli("index", "remove", "near.jsonl")).toMatchObject({
    code: 0,
    out: expect.stringContaining("Removed 1 document of "),
  });
});
