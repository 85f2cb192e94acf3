// Tests that operators' documents are read as their editors wrote them: with a byte order mark, in
// UTF-16, with any line ends, and with characters that some programs treat as line ends.

import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linesOfBytes, textOfBytes } from "../../../../src/core/text/text-bytes.ts";
import {
  folderDocuments,
  jsonLines,
} from "../../../../src/services/search/providers/embedded/document-files.ts";
import { withSpooled } from "../../../../src/services/search/providers/embedded/document-spool.ts";
import { htmlOfBytes } from "../../../../src/services/search/providers/embedded/page-text.ts";
import { sitemapDocuments } from "../../../../src/services/search/providers/embedded/sitemap.ts";
import { readConfiguration } from "../../../../src/settings/catalogue-source.ts";
import { secretOf } from "../../../../src/settings/environment.ts";
import { sharedFolder } from "../../../support/shared.ts";

const folder = sharedFolder("document-files");
const NOW_MS = Date.UTC(2026, 10, 21, 12);

const utf16 = (text: string) => Buffer.from(text, "utf16le");
/** The bytes of the same text from different editors. */
const WRITTEN: Readonly<Record<string, (text: string) => Buffer>> = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with a byte order mark": (text) => Buffer.from(`\ufeff${text}`),
  "UTF-16, the low byte first": (text) => utf16(`\ufeff${text}`),
  "UTF-16, the high byte first": (text) => utf16(`\ufeff${text}`).swap16(),
  "UTF-8 with CR LF": (text) => Buffer.from(text.replaceAll("\n", "\r\n")),
  "UTF-8 without a last line end": (text) => Buffer.from(text.replace(/\n$/, "")),
};
/** Text with characters that only some programs treat as the end of a line. */
const ODD = "Grüße\u2028from\u2029the\u0085东京 🙂";

let files = 0;
function written(name: string, bytes: Buffer): string {
  files += 1;
  const path = join(folder, `${files}`);
  mkdirSync(path);
  writeFileSync(join(path, name), bytes);
  return path;
}

for (const [how, bytesOf] of Object.entries(WRITTEN)) {
  describe(how, () => {
    test("JSON lines are whole, even with characters that are no line ends", async () => {
      const lines = ["a", "b"].map((name) =>
        JSON.stringify({ url: `https://x.example/${name}`, title: ODD, text: `${ODD} ${name}` }),
      );
      const path = join(written("d.jsonl", bytesOf(`${lines.join("\n")}\n`)), "d.jsonl");
      const found = await Array.fromAsync(jsonLines(path, NOW_MS));
      expect(found.map(({ url, title }) => [url, title])).toEqual([
        ["https://x.example/a", "Grüße from the东京 🙂"],
        ["https://x.example/b", "Grüße from the东京 🙂"],
      ]);
    });

    test("a Markdown file has the title of its heading", async () => {
      const path = written("page.md", bytesOf(`# Fares\u2028and zones\n\nOne\nTwo\n`));
      const [page] = await Array.fromAsync(folderDocuments(path, new URL("https://x.example/")));
      expect(page).toMatchObject({ title: "Fares and zones" });
      expect(page?.text).toContain("One Two");
    });

    test("an HTML file has its title and language", async () => {
      const html = `<!doctype html>\n<html lang="de"><title>Größe</title>\n<p>Maße\n</html>\n`;
      const path = written("page.html", bytesOf(html));
      const [page] = await Array.fromAsync(folderDocuments(path, new URL("https://x.example/")));
      expect(page).toMatchObject({ title: "Größe", language: "de" });
    });

    test("a sitemap is read as a sitemap", async () => {
      const xml = `<urlset>\n<url><loc>ftp://x.example/</loc></url></urlset>\n`;
      const path = join(written("sitemap.xml", bytesOf(xml)), "sitemap.xml");
      const options = { pagesMax: 1, allowPrivate: false, fetch, nowMs: NOW_MS, onSkipped() {} };
      expect(await Array.fromAsync(sitemapDocuments(path, options as never))).toEqual([]);
    });

    test("the configuration file and the file of a secret have no mark in their text", async () => {
      const path = join(written("c.json", bytesOf('{\n"models": []\n}\n')), "c.json");
      expect(JSON.parse(await readConfiguration(path))).toEqual({ models: [] });
      const secret = join(written("secret", bytesOf("s3cret\n")), "secret");
      expect(secretOf("PEPPER", { PEPPER_FILE: secret }).text).toBe("s3cret");
    });
  });
}

test("documents in the spool keep characters that are no line ends", async () => {
  const document = { url: "https://x.example/", title: ODD, text: ODD } as never;
  async function* documents() {
    yield document;
    yield document;
  }
  const spooled = await withSpooled(documents(), (all) => Array.fromAsync(all));
  expect(spooled).toEqual([document, document]);
});

test("lines are the same wherever the bytes are cut", async () => {
  const bytes = Buffer.from(`\ufeff{"a":"${ODD}"}\r\n\r\n東京\rx\nlast`);
  const expected = [`{"a":"${ODD}"}`, "", "東京\rx", "last"];
  for (let length = 3; length <= bytes.length; length += 1) {
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
    }
    expect(await Array.fromAsync(linesOfBytes(chunks()))).toEqual(expected);
  }
  expect(textOfBytes(new Uint8Array())).toBe("");
});

test("a page is read in the charset of its mark, else of the server, else of its meta tag", () => {
  const latin = Buffer.from('<meta charset="iso-8859-1"><p>Größe', "latin1");
  expect(htmlOfBytes(latin)).toContain("Größe");
  expect(htmlOfBytes(Buffer.from("Größe", "latin1"), "text/html; charset=latin1")).toBe("Größe");
  expect(htmlOfBytes(utf16("\ufeffGröße"), "text/html; charset=utf-8")).toBe("Größe");
  expect(htmlOfBytes(Buffer.from("Größe"), "text/html; charset=nonsense")).toBe("Größe");
});
