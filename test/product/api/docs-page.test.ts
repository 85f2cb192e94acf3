import { expect, test } from "bun:test";
import { DOCUMENTED } from "../../../src/routes.ts";
import { appAlone } from "../../support/api/app-alone.ts";

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
  expect(loaded.map(([, url]) => url)).toEqual(["/docs/page.css", "/docs/page.js"]);
  for (const [, path = ""] of loaded) {
    const part = await api.get(path);
    expect(part.status).toBe(200);
    expect(await part.text()).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)/);
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

test("the OpenAPI documents need no key and are not counted", async () => {
  for (const path of ["/openapi.json", "/api/v1/openapi.json"]) {
    const response = await api.get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ratelimit-limit-requests")).toBeNull();
    expect(await response.json()).toMatchObject({ openapi: "3.1.0" });
  }
});
