// Tests the page at `/` and the files beside it.

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { SERVICES } from "../../../src/core/access/services.ts";
import { type Brand, DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { LOGO_BYTES_MAX } from "../../../src/core/brand/logo.ts";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price } from "../../../src/core/money/money.ts";
import type { FeePrices } from "../../../src/core/money/price-rows.ts";
import { bandPrices, type ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { englishSite } from "../../../src/site/texts/english.ts";
import { germanSite } from "../../../src/site/texts/german.ts";
import { appAlone } from "../../support/api/app-alone.ts";
import { BROWSER_ACCEPT } from "../../support/api/browser-accept.ts";
import { MODEL } from "../../support/api/models.ts";

const ORIGIN = "https://api.acme.example";
const PAGE_BYTES_MAX = 60_000;
const HOSTILE = `<img src=x onerror=alert(1)>"'&</script>`;

const brandOf = (parts: Partial<Brand> = {}): Brand => ({ ...DEFAULT_BRAND, ...parts });

function site({ catalogue, origin = ORIGIN }: { catalogue: Catalogue; origin?: string | null }) {
  return appAlone({ catalogue: () => catalogue, origin });
}

async function page(catalogue: Catalogue, origin: string | null = ORIGIN): Promise<string> {
  const response = await site({ catalogue, origin }).get("/", { accept: BROWSER_ACCEPT });
  expect(response.status).toBe(200);
  return await response.text();
}

const modelOf = (id: string, parts: Partial<ModelEntry> = {}): ModelEntry => {
  return { ...MODEL, id, label: id, ...parts };
};

/** Prices of a million tokens with one fee. */
const withFee = ([input, output]: readonly [string, string], fees: FeePrices) => {
  const [ofInput, ofOutput] = [price(input, 1_000_000), price(output, 1_000_000)];
  return pricesOf([{ input: ofInput, output: ofOutput, cachedInput: null, fees }]);
};
const RERANKER = modelOf("ranks-1", {
  serves: "rerank",
  prices: withFee(["0", "0"], { search_unit: { price: price("0.002", 1), per: "query" } }),
});

/** An address as long as a host of DNS can be. */
const LONG_ORIGIN = `https://${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.example`;

/** A configuration whose brand has all that the schema takes, in letters that take most bytes. */
function largestBrand(one: string): object {
  const url = `https://acme.example/?${"&".repeat(200 - "https://acme.example/?".length)}`;
  const shapes = '<path d="M0 0h1"/>'.repeat(900);
  const name = `${'"'.repeat(39)}${one}`;
  const brand = {
    name,
    about: `${'"'.repeat(159)}${one}`,
    logo_svg: `<svg viewBox="0 0 1 1">${shapes}</svg>`,
    support_email: `${"a".repeat(60)}@${"b".repeat(60)}.example`,
    terms_url: url,
    privacy_url: url,
    imprint_url: url,
    links: Array.from({ length: 8 }, () => ({ label: name, url })),
  };
  return { providers: {}, models: [], brand };
}

/** The data for search engines. */
function linkedData(html: string) {
  const [, text = ""] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html) ?? [];
  return JSON.parse(text);
}

describe("the language of the front page", () => {
  const catalogue = catalogueOf([modelOf("swift-9")], []);
  const pageFor = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const app = appAlone({ catalogue: () => catalogue, origin: ORIGIN, dashboard: () => null });
    return await (await app.get(path, { accept: BROWSER_ACCEPT, ...headers })).text();
  };

  test("is that of the address, of a choice, or of the browser, in this order", async () => {
    const german = { "accept-language": "de-DE,de;q=0.9" };
    const chosen = { ...german, cookie: "farebox-language=en" };
    for (const [path, headers, language] of [
      ["/", {}, "en"],
      ["/", german, "de"],
      ["/", chosen, "en"],
      ["/?language=zh-Hans", chosen, "zh-Hans"],
      ["/?language=zh-CN", chosen, "zh-Hans"],
      ["/?language=de-AT", chosen, "de"],
      ["/?language=zh-TW", german, "de"],
      ["/?language=klingon", german, "de"],
    ] as const) {
      expect(await pageFor(path, headers)).toContain(`<html lang="${language}">`);
    }
  });

  test("has its own texts, marks and address, and names the others to search engines", async () => {
    const html = await pageFor("/de");
    expect(html).toContain(germanSite.lead);
    expect(html).toContain("0,0005\u00a0$");
    expect(html).not.toContain(englishSite.lead);
    const canonical = `<link rel="canonical" href="${ORIGIN}/de">`;
    expect(html).toContain(canonical);
    expect(await pageFor("/?language=de-AT")).toContain(canonical);
    for (const language of ["en", "de", "zh-Hans"]) {
      const address = `${ORIGIN}/${language}`;
      expect(html).toContain(`<link rel="alternate" hreflang="${language}" href="${address}">`);
    }
    expect(html).toContain(`<link rel="alternate" hreflang="x-default" href="${ORIGIN}/en">`);
    const map = await (await site({ catalogue }).get("/sitemap.xml")).text();
    expect(map).toContain(`<loc>${ORIGIN}/zh-Hans</loc>`);
    expect(map).not.toContain(`<loc>${ORIGIN}/</loc>`);
    expect(Buffer.byteLength(await pageFor("/?language=zh-Hans"))).toBeLessThan(PAGE_BYTES_MAX);
  });

  test("has an address that answers HTML to clients that name no form", async () => {
    const app = site({ catalogue });
    for (const accept of ["*/*", ""]) {
      for (const [path, language] of [
        ["/en", "en"],
        ["/de", "de"],
        ["/zh-Hans", "zh-Hans"],
      ] as const) {
        const answer = await app.get(path, { accept, "accept-language": "de" });
        expect([path, answer.status]).toEqual([path, 200]);
        expect(answer.headers.get("content-type")).toContain("text/html");
        expect(await answer.text()).toContain(`<html lang="${language}">`);
      }
      expect((await app.get("/", { accept })).status).toBe(404);
      expect((await app.get("/fr", { accept })).status).toBe(404);
    }
    const only = catalogueOf([MODEL], [], { brand: brandOf({ languages: ["en"] }) });
    expect((await site({ catalogue: only }).get("/de", { accept: "*/*" })).status).toBe(404);
  });

  test("leaves a sentence of the brand as it is", async () => {
    const brand = brandOf({ name: "Acme", about: "All models, one bill." });
    const own = catalogueOf([MODEL], [], { brand });
    const app = site({ catalogue: own });
    const response = await app.get("/?language=de", { accept: BROWSER_ACCEPT });
    expect(await response.text()).toContain("<h1>All models, one bill.</h1>");
  });
});

describe("the front page", () => {
  test("has services and models with the catalogue's prices, to the last digit", async () => {
    const prices = bandPrices(
      { input: "0.123457", output: "1.5", cachedInput: "0.03", promptTokensMax: 1_000 },
      { input: "2", output: "3" },
    );
    const html = await page(catalogueOf([modelOf("swift-9", { prices })], []));
    expect(html).toContain("<code>swift-9</code>");
    expect(html).toContain('$0.1234<span class="faint">57</span>');
    expect(html).toContain("above 1000 prompt tokens: $2 in, $3 out");
    // 2,000 x 0.123457 and 1,000 x 1.5, both for a million.
    expect(html).toContain('$0.0002<span class="faint">46914</span>');
    expect(html).toContain('$0.0017<span class="faint">46914</span>');
    for (const words of ["Web search", "$0.0005", "$0.05", "1,000 map tiles", "a recipient"]) {
      expect(html).toContain(words);
    }
  });

  test("has the price and the first call of a model that chats, and every fee", async () => {
    const embedding = bandPrices({ input: "0.02", output: "0" });
    const chat = withFee(["3", "15"], { request: { price: price("0.01", 1), per: "request" } });
    const models = [
      modelOf("vectors-1", { serves: "embedding", prices: embedding }),
      RERANKER,
      modelOf("swift-9", { prices: chat }),
    ];
    const html = await page(catalogueOf(models, []));
    expect(html).toContain('from $3.00 <span class="faint">a million tokens</span>');
    const [, service] = linkedData(html)["@graph"];
    const name = `${SERVICES.chat.title}, a million tokens`;
    expect(service.offers).toContainEqual(expect.objectContaining({ name, price: "3" }));
    expect(html).toContain("&quot;model&quot;:&quot;swift-9&quot;");
    expect(html).toContain("$0.002 for each query of search_unit");
    expect(html).toContain("$0.01 for each request");
    // 2,000 x 3 and 1,000 x 15, both for a million, and 0.01 for the request.
    expect(html).toContain('<dd class="total">$0.031</dd>');
  });

  test("promises no chat where no model chats", async () => {
    const html = await page(catalogueOf([RERANKER], []));
    expect(html).not.toContain("from $");
    expect(html).not.toContain("/v1/chat/completions");
  });

  test("follows the catalogue at once, and a cache that asks gets the new one", async () => {
    let catalogue = catalogueOf([modelOf("before")], []);
    const app = appAlone({ catalogue: () => catalogue, origin: ORIGIN });
    const first = await app.get("/", { accept: BROWSER_ACCEPT });
    const etag = first.headers.get("etag") ?? "";
    const asked = { accept: BROWSER_ACCEPT, "if-none-match": etag };
    const same = await app.get("/", asked);
    expect(same.status).toBe(304);
    catalogue = catalogueOf([modelOf("after")], []);
    const next = await app.get("/", asked);
    expect(next.status).toBe(200);
    expect(await next.text()).toContain("<code>after</code>");
  });

  test("loads nothing but its own mark, and its policy allows no more", async () => {
    const app = site({ catalogue: catalogueOf([MODEL], []) });
    const response = await app.get("/", { accept: BROWSER_ACCEPT });
    const html = await response.text();
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(response.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; base-uri 'none'; ` +
        "form-action 'none'; frame-ancestors 'none'",
    );
    expect(response.headers.get("vary")).toBe("accept, accept-language, cookie");
    const loaded = [...html.matchAll(/(?:\ssrc|<link rel="icon" href)="([^"]*)"/g)];
    expect(loaded.map(([, url]) => url?.split("?")[0])).toEqual([
      "/brand/logo.svg",
      "/brand/logo.svg",
    ]);
    expect(html).not.toMatch(/url\(|@import|<script(?! type="application\/ld\+json")/);
  });

  test.each([
    ["/en", "m"],
    ["/de", "ü"],
    ["/zh-Hans", "模"],
  ])("at %s has at most 60 KB with its mark, however much there is", async (path, one) => {
    const long = "m".repeat(120);
    const prices = bandPrices(
      ...[1, 2, 3].map((band) => ({
        input: "1234.123456",
        output: "1234.123456",
        cachedInput: "1234.123456",
        promptTokensMax: band * 100_000,
      })),
      { input: "9999.999999", output: "9999.999999" },
    );
    const models = Array.from({ length: 200 }, (_, index) =>
      modelOf(`${long}${index}`, { label: one.repeat(200), prices }),
    );
    const { brand } = parseCatalogue(JSON.stringify(largestBrand(one)), {});
    const app = site({ catalogue: catalogueOf(models, [], { brand }), origin: LONG_ORIGIN });
    const html = await (await app.get(path)).text();
    const mark = await (await app.get("/brand/logo.svg")).text();
    expect(mark.length).toBeGreaterThan(LOGO_BYTES_MAX - 200);
    expect(html.match(/<footer>.*<\/footer>/s)?.[0].match(/<a href="https/g)).toHaveLength(11);
    expect(Buffer.byteLength(html) + Buffer.byteLength(mark)).toBeLessThan(PAGE_BYTES_MAX);
    const rows = html.match(/<tr><td>/g)?.length ?? 0;
    expect(rows).toBeGreaterThan(5);
    expect(html).toMatch(new RegExp(`>(?:And|Und|另有) ${200 - rows} `));
  });

  test("escapes every text of the configuration", async () => {
    const brand = brandOf({
      name: HOSTILE,
      about: HOSTILE,
      links: [{ label: HOSTILE, url: "https://acme.example/?a=b&c=d" }],
    });
    const html = await page(catalogueOf([modelOf("m", { label: HOSTILE })], [], { brand }));
    expect(html).not.toContain("<img src=x");
    expect(html.match(/<\/script>/g)).toHaveLength(1);
    expect(html).toContain('href="https://acme.example/?a=b&amp;c=d"');
  });

  test("says without a dashboard how to read and not how to sign up", async () => {
    const html = await page(catalogueOf([MODEL], []));
    expect(html).not.toContain("/dashboard");
    expect(html).toContain('href="/docs"');
  });

  test("shows the built-in guide only where nothing else is sold", async () => {
    expect(await page(catalogueOf([MODEL], []))).not.toContain("farebox-guide");
    expect(await page(catalogueOf([], []))).toContain("farebox-guide");
  });
});

describe("search engines", () => {
  const catalogue = catalogueOf([MODEL], []);

  test("find title, description, address, linked data and a map of pages", async () => {
    const html = await page(catalogue);
    expect(html).toMatch(/<title>Farebox: [^<]+<\/title>/);
    expect(html).toContain(`<meta name="description" content="${DEFAULT_BRAND.about}">`);
    expect(html).toContain(`<link rel="canonical" href="${ORIGIN}/en">`);
    expect(linkedData(html)).toMatchObject({
      "@context": "https://schema.org",
      "@graph": [{ "@type": "WebSite", url: `${ORIGIN}/en` }, { "@type": "Service" }],
    });
    const app = site({ catalogue });
    const map = await (await app.get("/sitemap.xml")).text();
    expect(map).toContain(`<loc>${ORIGIN}/en</loc>`);
    const robots = await (await app.get("/robots.txt")).text();
    expect(robots).toContain("Disallow: /dashboard\n");
    expect(robots).toContain(`Sitemap: ${ORIGIN}/sitemap.xml`);
  });

  test("are asked to list nothing where the configuration says so", async () => {
    const quiet = catalogueOf([MODEL], [], { brand: brandOf({ isListed: false }) });
    const html = await page(quiet);
    expect(html).toContain('<meta name="robots" content="noindex, nofollow">');
    expect(html).not.toContain("canonical");
    const app = site({ catalogue: quiet });
    expect(await (await app.get("/robots.txt")).text()).toBe("User-agent: *\nDisallow: /\n");
    expect(await (await app.get("/sitemap.xml")).text()).not.toContain("<loc>");
  });

  test("get no address from a request, only the configured one", async () => {
    const html = await page(catalogue, null);
    expect(html).not.toContain("127.0.0.1");
    const map = await (await site({ catalogue, origin: null }).get("/sitemap.xml")).text();
    expect(map).not.toContain("<loc>");
  });
});

test("the mark is a picture that can do nothing", async () => {
  const response = await site({ catalogue: catalogueOf([], []) }).get("/brand/logo.svg");
  expect(response.headers.get("content-type")).toBe("image/svg+xml");
  expect(response.headers.get("content-security-policy")).toStartWith(
    "default-src 'none'; sandbox",
  );
  expect(await response.text()).toContain('fill="#0b6b50"');
});
