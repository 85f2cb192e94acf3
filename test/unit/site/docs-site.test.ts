// Tests the documentation at `/docs`: its pages, their links, and whom they are shown to.

import { describe, expect, test } from "bun:test";
import { type Brand, DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { shownPages } from "../../../src/site/docs/library.ts";
import { pageHtml } from "../../../src/site/docs/page-html.ts";
import { pageEntries } from "../../../src/site/docs/page-list.ts";
import { pageFor, withLinks } from "../../../src/site/docs/page-markdown.ts";
import { type AppAlone, appAlone } from "../../support/api/app-alone.ts";
import { BROWSER_ACCEPT } from "../../support/api/browser-accept.ts";
import { MODEL } from "../../support/api/models.ts";

const ORIGIN = "https://api.acme.example";
const ACME: Brand = { ...DEFAULT_BRAND, name: "Acme AI", docs: "customers" };
const BRANDS = { "without a brand": DEFAULT_BRAND, "of a reseller": ACME };

function site(brand: Brand, origin: string | null = ORIGIN): AppAlone {
  const catalogue = catalogueOf([MODEL], [], { brand });
  return appAlone({ catalogue: () => catalogue, origin });
}

async function read(app: AppAlone, path: string): Promise<string> {
  const response = await app.get(path, { accept: BROWSER_ACCEPT });
  expect([path, response.status]).toEqual([path, 200]);
  return await response.text();
}

function hrefsOf(html: string): string[] {
  const all = [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, href = ""]) => href);
  return [...new Set(all)];
}

function idsOf(html: string): string[] {
  return [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);
}

describe.each(Object.entries(BRANDS))("the documentation %s", (_, brand) => {
  const app = site(brand);
  const addresses = ["/docs", ...shownPages(brand).map(({ slug }) => `/docs/${slug}`)];

  test("has no link or anchor that leads nowhere, on any page", async () => {
    const pages = new Map<string, string>();
    const pageAt = async (path: string) => {
      const known = pages.get(path) ?? (await read(app, path));
      pages.set(path, known);
      return known;
    };
    const dead: string[] = [];
    for (const address of addresses) {
      for (const href of hrefsOf(await pageAt(address))) {
        if (/^(?:https?|mailto):/.test(href) || /^\/dashboard\b/.test(href)) continue;
        const [path = "", anchor] = href.split("#");
        const target = path === "" ? address : path;
        const response = await app.get(target, { accept: BROWSER_ACCEPT });
        const ids = response.status === 200 && anchor ? idsOf(await pageAt(target)) : [];
        if (response.status !== 200 || (anchor && !ids.includes(anchor))) {
          dead.push(`${address}: ${href}`);
        }
      }
    }
    expect(dead).toEqual([]);
    expect(pages.size).toBeGreaterThan(10);
  });

  test("names no id twice on a page, and shows no Markdown as text", async () => {
    for (const address of addresses) {
      const html = await read(app, address);
      expect([address, html.includes("Farebox")]).toEqual([address, brand === DEFAULT_BRAND]);
      const ids = idsOf(html);
      expect([address, ids.length]).toEqual([address, new Set(ids).size]);
      const prose = html.replaceAll(/<(pre|code)\b[\s\S]*?<\/\1>/g, "");
      expect([address, /\]\(|&lt;!--|\*\*|^#{1,6} |^\|/m.exec(prose)]).toEqual([address, null]);
    }
  });

  test("loads nothing but its own style, script and mark", async () => {
    const html = await read(app, "/docs/clients");
    const loaded = [...html.matchAll(/<(?:link|script|img)[^>]* (?:href|src)="([^"]+)"/g)];
    const paths = loaded.map(([, url = ""]) => url.replace(ORIGIN, "").split("?")[0] ?? "");
    const own = ["/docs/clients", "/brand/logo.svg", "/docs/site.css", "/docs/site.js"];
    expect([...new Set(paths)].sort()).toEqual(own.sort());
    for (const path of own) await read(app, path);
  });

  test("is listed for search engines", async () => {
    const map = await read(app, "/sitemap.xml");
    for (const address of addresses) expect(map).toContain(`<loc>${ORIGIN}${address}</loc>`);
  });
});

describe("a page", () => {
  const app = site(DEFAULT_BRAND);

  test("has a title, a description, its address and its text", async () => {
    const html = await read(app, "/docs/money");
    expect(html).toContain("<title>Money - Farebox</title>");
    expect(html).toMatch(/<meta name="description" content="For whoever works on Farebox/);
    expect(html).toContain(`<link rel="canonical" href="${ORIGIN}/docs/money">`);
    expect(html).toContain('<h2 id="the-rules"><a href="#the-rules">The rules</a></h2>');
    expect(html).toContain('<a href="/docs/money" aria-current="page">Money</a>');
  });

  test("is sent again only to a cache that has another one", async () => {
    const first = await app.get("/docs/money");
    expect(first.headers.get("cache-control")).toBe("public, no-cache");
    const asked = { "if-none-match": first.headers.get("etag") ?? "" };
    expect((await app.get("/docs/money", asked)).status).toBe(304);
    expect((await app.get("/docs/errors", asked)).status).toBe(200);
  });

  test("that does not exist is the 404 of any path", async () => {
    for (const path of [
      "/docs/",
      "/docs/nothing",
      "/docs/money/",
      "/docs/money.md.md",
      "/docs/.md",
      "/docs/Money",
      "/docs/%6doney",
      "/docs/..%2f..%2fpackage.json",
      "/docs/decisions/",
      "/docs/decisions/README",
      "/docs/__proto__",
      "/docs/constructor",
      "/docs/site.cs",
      `/docs/${"a".repeat(5_000)}`,
    ]) {
      const response = await app.get(path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toMatchObject({ error: { code: "not_found" } });
    }
    expect((await app.request("POST", "/docs/money")).status).toBe(405);
  });

  test("shows HTML of its Markdown as text, and leads by no link to a script", () => {
    const text = "# A <b>title</b>\n\n<script>x</script> <img src=x>\n\n<!-- c -->\n";
    const { html, headings } = pageHtml(text);
    expect(html.text).not.toMatch(/<(?:script|img|b)\b/);
    expect(headings).toEqual([{ level: 1, id: "a-btitleb", text: "A <b>title</b>" }]);
    expect(withLinks("[a](javascript:x) `[b](c)`", () => null)).toBe("a `[b](c)`");
  });

  test("has its own anchor for each of two headings with the same words", () => {
    const { headings } = pageHtml("# A\n\n## `B` & c\n\n## B & c\n");
    expect(headings.map(({ id }) => id)).toEqual(["a", "b--c", "b--c-1"]);
  });
});

test("a page that the list does not have is for operators", () => {
  const entries = pageEntries({
    docs: ["new.md", "README.md", "openapi.json"],
    clients: [],
    decisions: [],
  });
  expect(entries.filter(({ slug }) => slug === "new")).toEqual([
    { slug: "new", file: "docs/new.md", readers: "operators", isListed: true },
  ]);
  expect(entries.map(({ slug }) => slug)).not.toContain("readme");
});

describe("the part for operators alone", () => {
  const PAGE = `# A

<!-- for operators -->

A block
of two lines.

Stays.

<!-- for operators -->

\`\`\`
# no heading
\`\`\`

<!-- for operators -->

## B

<!-- another comment -->
Text.

### C

## D

Stays too.
`;

  test("is left out of a page for customers: a block, code, or a section", () => {
    expect(pageFor(PAGE, { isForAll: false })).toBe("# A\n\nStays.\n\n## D\n\nStays too.\n");
    expect(pageFor(PAGE, { isForAll: true })).toBe(
      PAGE.replaceAll(/<!-- .* -->\n\n?/g, "")
        .trim()
        .concat("\n"),
    );
  });

  test("is not shown by the documentation of a reseller", async () => {
    const app = site(ACME);
    for (const path of ["/docs/production", "/docs/money", "/docs/decisions", "/docs/first-hour"]) {
      expect([path, (await app.get(path)).status]).toEqual([path, 404]);
    }
    const mail = await read(app, "/docs/mail");
    expect(mail).toContain("What the answer means");
    expect(mail).not.toContain("MAIL_SMTP_URL");
    expect(await read(app, "/docs")).not.toContain(">For operators</h2>");
    expect(await read(site({ ...ACME, docs: "all" }), "/docs/production")).toContain("Acme AI");
  });
});

test("each client has a page, which overview, search and lists for machines lead to", async () => {
  const app = site(ACME);
  const name = "use-with-codex";
  expect(await read(app, `/docs/${name}`)).toContain("<title>Use it with Codex - Acme AI</title>");
  expect(await read(app, "/docs/clients")).toContain(`href="/docs/${name}"`);
  expect(await read(app, "/docs/find?q=codex")).toContain(`href="/docs/${name}`);
  expect(await read(app, "/llms.txt")).toContain(`${ORIGIN}/docs/${name}.md`);
  expect(await read(app, "/sitemap.xml")).toContain(`<loc>${ORIGIN}/docs/${name}</loc>`);
  expect(await read(app, "/docs/faq")).not.toContain(name);
});

test("commands of pages for customers have the address of the service", async () => {
  const html = await read(site(ACME), "/docs/use-with-claude-code");
  expect(html).toContain(`ANTHROPIC_BASE_URL=${ORIGIN}\n`);
  expect(html).not.toContain("127.0.0.1");
  // Without an address of its own the script of the page fills it in.
  const unknown = await read(site(ACME, null), "/docs/use-with-claude-code");
  expect(unknown).toContain('<article data-origin="http://127.0.0.1:8080">');
});
