// Tests the forms of the documentation for language models and searches.

import { describe, expect, test } from "bun:test";
import { type Brand, DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { DocsIndex, RESULTS_MAX, sectionsOf } from "../../../src/site/docs/docs-search.ts";
import { shownPages } from "../../../src/site/docs/library.ts";
import { appAlone } from "../../support/api/app-alone.ts";
import { MODEL } from "../../support/api/models.ts";

const ORIGIN = "https://api.acme.example";
const ACME: Brand = { ...DEFAULT_BRAND, name: "Acme AI", docs: "customers" };

function site(brand: Brand) {
  const catalogue = catalogueOf([MODEL], [], { brand });
  return appAlone({ catalogue: () => catalogue, origin: ORIGIN });
}

describe.each(Object.entries({ all: DEFAULT_BRAND, customers: ACME }))(
  "Markdown, %s",
  (_, brand) => {
    const app = site(brand);

    test("of each page is at its address with .md, and where a client accepts it", async () => {
      for (const { slug } of shownPages(brand)) {
        const response = await app.get(`/docs/${slug}.md`);
        expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
        const text = await response.text();
        expect(text).toStartWith("# ");
        expect(text).not.toMatch(/^\s*<!--/m);
        const accepting = await app.get(`/docs/${slug}`, {
          accept: "text/markdown, text/html;q=0.9, */*;q=0.1",
        });
        expect(await accepting.text()).toBe(text);
        expect(accepting.headers.get("vary")).toContain("accept");
        expect(accepting.headers.get("etag")).toBe(response.headers.get("etag"));
      }
    });

    test("leads by every link to Markdown that is there", async () => {
      const dead: string[] = [];
      for (const { slug } of shownPages(brand)) {
        const text = await (await app.get(`/docs/${slug}.md`)).text();
        const prose = text.replaceAll(/^\s*```[\s\S]*?^\s*```/gm, "").replaceAll(/`[^`]*`/g, "");
        for (const [, href = ""] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
          const path = href.split("#")[0] ?? "";
          if (path === "" || /^https?:/.test(path)) continue;
          if ((await app.get(path)).status !== 200) dead.push(`${slug}: ${href}`);
        }
      }
      expect(dead).toEqual([]);
    });

    test("is listed in llms.txt and stands whole in llms-full.txt", async () => {
      const list = await app.get("/llms.txt");
      expect(list.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const text = await list.text();
      expect(text).toStartWith(`# ${brand.name}\n\n> ${brand.about}\n\n## For customers\n\n- [`);
      const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, href = ""]) => href);
      expect(links.length).toBeGreaterThan(10);
      for (const href of links) {
        expect(href).toStartWith(`${ORIGIN}/`);
        expect([href, (await app.get(href.slice(ORIGIN.length))).status]).toEqual([href, 200]);
      }
      const full = await (await app.get("/llms-full.txt")).text();
      for (const { slug } of shownPages(brand)) {
        expect(full).toContain(await (await app.get(`/docs/${slug}.md`)).text());
      }
      const index = await app.get("/docs", { accept: "text/markdown" });
      expect(await index.text()).toBe(text);
    });

    test("calls the service by its name", async () => {
      const full = await (await app.get("/llms-full.txt")).text();
      expect(full.includes("Farebox")).toBe(brand === DEFAULT_BRAND);
    });
  },
);

describe("a search", () => {
  const app = site(DEFAULT_BRAND);
  const search = async (query: string) => {
    const response = await app.get(`/docs/find?q=${encodeURIComponent(query)}`);
    expect(response.status).toBe(200);
    return await response.text();
  };
  const found = (html: string) => {
    const list = /<ol class="all">([\s\S]*?)<\/ol>/.exec(html)?.[1] ?? "";
    return [...list.matchAll(/<li><a href="([^"]*)">/g)].map(([, href = ""]) => href);
  };

  test("finds sections of pages and endpoints of the API, at their headings", async () => {
    expect(found(await search("upper bound"))[0]).toBe("/docs/money#the-upper-bound");
    expect(found(await search("/v1/search/batch"))).toContain("/docs/api#gateway-searchBatch");
    expect(found(await search("insufficient_credits"))).toContain("/docs/errors");
    for (const query of ["hold", "redis", "stripe", "key"]) {
      const links = found(await search(query));
      expect(links.length).toBeGreaterThan(3);
      expect(links.length).toBeLessThanOrEqual(RESULTS_MAX);
      for (const href of links) {
        const [path = "", anchor] = href.split("#");
        const html = await (await app.get(path)).text();
        if (anchor) expect([href, html.includes(` id="${anchor}"`)]).toEqual([href, true]);
      }
    }
  });

  test("shows the words where they stand, and in the field", async () => {
    const html = await search("Upper BOUND");
    expect(html).toContain('value="Upper BOUND"');
    expect(html).toMatch(/<mark>upper<\/mark> <mark>bound<\/mark>/i);
    expect(html).toContain('<meta name="robots" content="noindex, nofollow">');
  });

  test("without words, or without a result, says so", async () => {
    expect(await (await app.get("/docs/find")).text()).toContain("Type words to search for.");
    expect(await search("   ")).toContain("Type words to search for.");
    expect(await search("zzzz-nowhere")).toContain("Nothing has all of these words.");
  });

  test("cannot write into the page, and reads no more than a short query", async () => {
    const html = await search(`"><script>alert(1)</script>(.*$&`);
    expect(html).not.toContain("<script>");
    expect(html).toContain("&quot;&gt;&lt;script&gt;");
    expect((await app.get("/docs/find?q=%ff%fe%")).status).toBe(200);
    expect((await app.get("/docs/find?q=a&q=b&q[]=c")).status).toBe(200);
    const long = await search("hold ".repeat(2_000));
    expect(long.length).toBeLessThan(60_000);
    expect(found(long).length).toBeGreaterThan(0);
  });

  test("counts in the window of its address, and is refused above it", async () => {
    let left = 1;
    const anonymous = {
      count: async () => {
        left -= 1;
        return { allowed: left >= 0, limit: 60, remaining: Math.max(left, 0), resetSeconds: 30 };
      },
    };
    const counted = appAlone({ anonymous });
    expect((await counted.get("/docs/money")).status).toBe(200);
    expect((await counted.get("/docs/find?q=hold")).status).toBe(200);
    const refused = await counted.get("/docs/find?q=hold");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "30"]);
    expect((await counted.get("/docs/money")).status).toBe(200);
  });

  test("leaves single Latin letters out, and ranks by the first six places of a word", () => {
    const page = (name: string, times: number) =>
      sectionsOf(`/docs/${name}`, `# ${name}\n\n${"hold ".repeat(times)}\n`);
    const index = new DocsIndex([...page("six", 6), ...page("many", 9_000), ...page("five", 5)]);
    const addresses = (query: string) => index.search(query).map(({ address }) => address);
    expect(addresses("e")).toEqual([]);
    expect(addresses("a hold")).toEqual(["/docs/six", "/docs/many", "/docs/five"]);
  });

  test("of a reseller finds nothing in pages that are not shown", async () => {
    const html = await (await site(ACME).get("/docs/find?q=postgres")).text();
    expect(found(html).filter((href) => !href.startsWith("/docs/"))).toEqual([]);
    expect(html).not.toContain("/docs/production");
    expect(html).not.toContain("Farebox");
  });

  test("puts a word of a title before one of the text, and needs all words", () => {
    const text = "# A\n\nOne two.\n\n## Two\n\nThree.\n";
    const index = new DocsIndex(sectionsOf("/docs/a", text));
    expect(index.search("TWO").map(({ address }) => address)).toEqual(["/docs/a#two", "/docs/a"]);
    expect(index.search("one three")).toEqual([]);
  });

  test("reads tables and code as people do, without the marks of Markdown", () => {
    const page = [
      "# A",
      "| name | use |",
      "| ---- | --- |",
      "| `q`  | one |",
      "| `n`  | two |",
      "",
      "Run:",
      "```sh\na | b\n```",
      "",
    ];
    const [found] = sectionsOf("/docs/a", page.join("\n"));
    expect(found?.text).toBe("q, one; n, two; Run: a | b");
  });
});
