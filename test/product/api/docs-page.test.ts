import { expect, test } from "bun:test";
import { type Brand, DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { DOCUMENTED } from "../../../src/routes.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { appAlone } from "../../support/api/app-alone.ts";
import { MODEL } from "../../support/api/models.ts";

const api = appAlone();

test("GET /docs/api has every endpoint, and sends no request to other servers", async () => {
  const response = await api.get("/docs/api");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("content-security-policy")).toStartWith("default-src 'none'");
  const page = await response.text();
  for (const { path, summary } of [...DOCUMENTED.gateway, ...DOCUMENTED.application]) {
    expect(page).toContain(path);
    expect(page).toContain(summary);
  }
  const loaded = [...page.matchAll(/<(?:link|script|img|iframe)[^>]* (?:href|src)="([^"]+)"/g)];
  const paths = loaded.map(([, url = ""]) => url.split("?")[0]);
  expect(new Set(paths)).toEqual(new Set(["/brand/logo.svg", "/docs/page.css", "/docs/page.js"]));
  for (const [, path = ""] of loaded) {
    const part = await api.get(path);
    expect(part.status).toBe(200);
    expect(await part.text()).not.toMatch(/https?:\/\/(?!127\.0\.0\.1|www\.w3\.org\/2000\/svg)/);
  }
});

test("the page sends requests only if the operator allows it", async () => {
  const page = await api.get("/docs/api");
  expect(await page.text()).toContain("<body>");
  expect(page.headers.get("content-security-policy")).not.toContain("connect-src");
  const trying = await appAlone({ docsTryIt: true }).get("/docs/api");
  expect(await trying.text()).toContain("<body data-try>");
  expect(trying.headers.get("content-security-policy")).toContain("connect-src 'self'");
});

test("the page has the name, links and colours of the brand", async () => {
  const brand: Brand = {
    ...DEFAULT_BRAND,
    name: "Acme & Sons",
    accent: { light: "#7a1fa2", dark: "#d5a6ff" },
    supportEmail: "help@acme.example",
    links: [{ label: "Imprint", url: "https://acme.example/imprint" }],
  };
  const catalogue = catalogueOf([MODEL], [], { brand });
  const acme = appAlone({ catalogue: () => catalogue });
  const page = await (await acme.get("/docs/api")).text();
  expect(page).toContain("<title>Acme &amp; Sons API</title>");
  expect(page).toContain('<a href="https://acme.example/imprint">Imprint</a>');
  expect(page).toContain("mailto:help@acme.example");
  expect(page).not.toContain("Farebox");
  const styles = await (await acme.get("/docs/page.css")).text();
  expect(styles).toContain("--accent-light:#7a1fa2");
  expect(styles).toContain("light-dark(var(--accent-light), var(--accent-dark))");
});

test("a cache that has the page or a document of it is told so", async () => {
  for (const path of ["/docs/api", "/docs/page.css", "/docs/page.js", "/openapi.json"]) {
    const etag = (await api.get(path)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^".+"$/);
    const again = await api.get(path, { "if-none-match": etag });
    expect([path, again.status, await again.text()]).toEqual([path, 304, ""]);
  }
});

test("the OpenAPI documents need no key and are not counted", async () => {
  for (const path of ["/openapi.json", "/api/v1/openapi.json"]) {
    const response = await api.get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ratelimit-limit-requests")).toBeNull();
    expect(await response.json()).toMatchObject({ openapi: "3.1.0" });
  }
});
