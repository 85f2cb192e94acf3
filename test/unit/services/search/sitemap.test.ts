// Tests that sitemaps, which strangers write, are read once, from the start to the end.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sitemapDocuments } from "../../../../src/services/search/providers/embedded/sitemap.ts";
import { sharedFolder } from "../../../support/shared.ts";

const folder = sharedFolder("sitemap");

/** The pages in a sitemap, with their dates. */
async function pagesOf(entries: string): Promise<(readonly [url: string, date: string | null])[]> {
  const path = join(folder, "sitemap.xml");
  writeFileSync(path, `<?xml version="1.0"?><urlset>${entries}</urlset>`);
  const documents = sitemapDocuments(path, {
    pagesMax: 10,
    allowPrivate: true,
    fetch: async () => new Response("<p>page", { headers: { "content-type": "text/html" } }),
    nowMs: Date.parse("2026-11-23"),
    onSkipped: (url, reason) => expect.unreachable(`${url}: ${reason}`),
  });
  const pages: (readonly [string, string | null])[] = [];
  for await (const { url, date } of documents) pages.push([url, date]);
  return pages;
}

test("the locations of a sitemap are read in every form that they can have", async () => {
  const pages = await pagesOf(`
    <url><loc>https://a.test/1?a=1&amp;b=2</loc><lastmod>2026-11-20</lastmod></url>
    <URL><LOC>
      https://a.test/2
    </LOC><lastmod> 2026-11-21T10:00:00Z </lastmod></URL>
    <url><loc> <![CDATA[https://a.test/3]]> </loc><lastmod>never</lastmod></url>
    <url><loc>mailto:a@a.test</loc></url><url><loc></url>`);
  expect(pages).toEqual([
    ["https://a.test/1?a=1&b=2", "2026-11-20"],
    ["https://a.test/2", "2026-11-21"],
    ["https://a.test/3", null],
  ]);
});

test("a hostile sitemap is read once, however long it is", async () => {
  // Starting again at each of these would take minutes, beyond the time of a test.
  const blank = " ".repeat(1_000_000);
  for (const entries of [
    "<url>".repeat(1_000_000),
    `<url><loc>${blank}<x></url>`,
    `<url>${"<loc>".repeat(1_000_000)}</url>`,
    `<url><loc>mailto:a</loc><lastmod>${blank}<x></url>`,
  ]) {
    expect(await pagesOf(entries)).toEqual([]);
  }
});
