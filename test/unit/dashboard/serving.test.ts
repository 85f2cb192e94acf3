// Tests the built dashboard: its size, and how it is served.

import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { operatorTexts as germanOperator } from "../../../dashboard/src/texts/de/operator.ts";
import { buildDashboard, isDashboardBuilt } from "../../../scripts/build-dashboard.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { LANGUAGE_COOKIE, LANGUAGE_TAGS, type Language } from "../../../src/core/languages.ts";
import {
  dashboardFolder,
  dashboardPlaces,
  openDashboard,
  pageFile,
} from "../../../src/http/console/dashboard-files.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { appAlone } from "../../support/api/app-alone.ts";
import { BROWSER_ACCEPT } from "../../support/api/browser-accept.ts";
import { MODEL } from "../../support/api/models.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { sharedFolder } from "../../support/shared.ts";

const KB = 1_000;
const SCRIPT_BYTES_MAX = 220 * KB;
const STYLE_BYTES_MAX = 25 * KB;

const folder = sharedFolder("dashboard");
const { builds, current } = dashboardPlaces(folder);

/** The leftovers of other builds: one was killed, one goes on, and one is of former sources. */
const LEFT = ["draft-stale1", "draft-fresh1", "former"] as const;
for (const name of LEFT) mkdirSync(join(builds, name), { recursive: true });
for (const one of LANGUAGE_TAGS) {
  writeFileSync(join(builds, "former", pageFile(one)), "former page");
}
mkdirSync(join(builds, "former", "assets"));
writeFileSync(current, "former");
for (const name of ["draft-stale1", "former"]) utimesSync(join(builds, name), 0, 0);

/** Builds, and returns the identity of the page's file: a replaced file has another inode. */
async function build(): Promise<number> {
  await buildDashboard(folder);
  return statSync(join(dashboardFolder(folder) ?? "", pageFile("en"))).ino;
}

const served = new Set<string>();
const watching = setInterval(() => served.add(openDashboard(folder)()?.pages.en ?? "none"), 1);
const pages = await Promise.all([build(), build()]);
clearInterval(watching);
const assets = join(dashboardFolder(folder) ?? "", "assets");
const { get } = appAlone({ dashboard: openDashboard(folder) });

async function mainScript(): Promise<string> {
  const html = await (await get("/dashboard")).text();
  return /<script type="module" src="[^"]*\/([^"/]+)">/.exec(html)?.[1] ?? "";
}

/** The scripts that the page of a language loads before it draws. */
async function scriptsOf(language: Language): Promise<string[]> {
  const html = await (await get("/dashboard", { "accept-language": language })).text();
  const links = html.matchAll(/<link rel="modulepreload" href="[^"]*\/([^"/]+)">/g);
  return [...links].map(([, name = ""]) => name);
}

test("a build is made once for the same sources", async () => {
  expect(isDashboardBuilt(folder)).toBe(true);
  expect(await build()).toBe(pages[0] ?? 0);
});

test("two builds at once leave one, and the former pages are served until then", () => {
  expect(pages[0]).toBe(pages[1] ?? 0);
  expect(served).toContain("former page");
  expect(served).not.toContain("none");
});

test("a build removes old leftovers, and nothing else", () => {
  const left = [basename(dashboardFolder(folder) ?? ""), "draft-fresh1", basename(current)];
  expect(readdirSync(builds).sort()).toEqual(left.sort());
});

test("the files of the first page stay within their budget", async () => {
  const sizeOf = (name: string) => readFileSync(join(assets, `${name}.gz`)).byteLength;
  const styles = readdirSync(assets).filter((name) => name.endsWith(".css"));
  const styleBytes = styles.map(sizeOf).reduce((sum, one) => sum + one, 0);
  for (const language of LANGUAGE_TAGS) {
    const scripts = await scriptsOf(language);
    expect(scripts).toContain(await mainScript());
    const bytes = scripts.map(sizeOf).reduce((sum, one) => sum + one, 0);
    expect(bytes).toBeLessThan(SCRIPT_BYTES_MAX);
  }
  expect(styleBytes).toBeLessThan(STYLE_BYTES_MAX);
});

test("no built file names another host", async () => {
  const texts = readdirSync(assets)
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => readFileSync(join(assets, name), "utf8"));
  const loaded = /(?:url\(|@import |fetch\(|import\(|src=)["'`]?(?:https?:)?\/\/[\w.-]+/g;
  expect(texts.flatMap((text) => text.match(loaded) ?? [])).toEqual([]);
});

describe("the page", () => {
  test("is the same at every address below /dashboard", async () => {
    const paths = [
      "/dashboard",
      "/dashboard/",
      "/dashboard/sign-in",
      "/dashboard/acct_1/usage?a=b",
    ];
    const pages = await Promise.all(
      paths.map(async (path) => {
        const response = await get(path);
        expect(response.status).toBe(200);
        expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
        expect(response.headers.get("cache-control")).toBe("no-store");
        return (await response.text()).replaceAll(/nonce="[^"]+"|content="[^"]{20,}"/g, "");
      }),
    );
    expect(new Set(pages).size).toBe(1);
  });

  test("may only talk to this server, and has a new nonce each time", async () => {
    const nonces: string[] = [];
    for (const response of [await get("/dashboard"), await get("/dashboard")]) {
      const policy = response.headers.get("content-security-policy") ?? "";
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
      expect(policy).toStartWith("default-src 'none'; ");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(policy).toContain("frame-ancestors 'none'");
      const html = await response.text();
      expect(html).not.toContain("NONCE");
      const inline = html.match(/<(script|style)(?![^>]*src=)[^>]*>/g) ?? [];
      expect(inline.every((tag) => tag.includes(`nonce="${nonce}"`))).toBe(true);
      nonces.push(nonce);
    }
    expect(nonces[0]).not.toBe(nonces[1]);
  });
});

describe("the language of the page", () => {
  const languageAt = async (path: string, headers: Readonly<Record<string, string>>) => {
    const html = await (await get(path, headers)).text();
    return /<html lang="([^"]*)"/.exec(html)?.[1];
  };

  test("is the one chosen before, or else the one that the browser prefers", async () => {
    for (const [headers, language] of [
      [{}, "en"],
      [{ "accept-language": "de-AT,en;q=0.5" }, "de"],
      [{ "accept-language": "zh-CN,zh;q=0.9" }, "zh-Hans"],
      [{ "accept-language": "fr,es;q=0.9" }, "en"],
      [{ "accept-language": "de", cookie: "a=1; farebox-language=zh-Hans" }, "zh-Hans"],
      [{ "accept-language": "de", cookie: "farebox-language=klingon" }, "de"],
    ] as const) {
      expect(await languageAt("/dashboard/sign-in", headers)).toBe(language);
    }
    const { headers } = await get("/dashboard");
    expect(headers.get("vary")).toBe("accept-language, cookie");
    const named = await get("/dashboard/sign-in?language=zh-CN", { "accept-language": "de" });
    expect(await named.text()).toContain('<html lang="zh-Hans"');
    expect(named.headers.get("set-cookie")).toStartWith(`${LANGUAGE_COOKIE}=zh-Hans;`);
  });

  test("is one that the brand offers, its first one for everybody else", async () => {
    const brand = { ...DEFAULT_BRAND, languages: ["de", "en"] as const };
    const catalogue = catalogueOf([MODEL], [], { brand });
    const app = appAlone({ catalogue: () => catalogue, dashboard: openDashboard(folder) });
    for (const [accepts, language] of [
      ["zh-CN", "de"],
      ["fr", "de"],
      ["en-US", "en"],
    ] as const) {
      const html = await (await app.get("/dashboard", { "accept-language": accepts })).text();
      expect(html).toContain(`<html lang="${language}"`);
    }
  });

  test("is that of operators too, whose texts only their pages load", async () => {
    expect(await languageAt("/operator/health", { "accept-language": "de" })).toBe("de");
    const scripts = (await scriptsOf("de")).map((name) => readFileSync(join(assets, name), "utf8"));
    const ofOperators = germanOperator.configurations.textOnly;
    expect(scripts.filter((script) => script.includes(ofOperators))).toEqual([]);
    const all = readdirSync(assets).filter((name) => name.endsWith(".js"));
    const loaded = all.filter((name) =>
      readFileSync(join(assets, name), "utf8").includes(ofOperators),
    );
    expect(loaded).toHaveLength(1);
  });

  test("is the only one whose texts are loaded with it", async () => {
    for (const [language, name] of [
      ["en", "english"],
      ["de", "german"],
      ["zh-Hans", "chinese"],
    ] as const) {
      const scripts = await scriptsOf(language);
      const names = scripts.map((one) => one.replace(/-\w+\.js$/, ""));
      expect(names.filter((one) => /english|german|chinese/.test(one))).toEqual([name]);
    }
  });
});

describe("the address of the server itself", () => {
  test("has the entry to the dashboard one click away", async () => {
    for (const path of ["/", "/?from=mail"]) {
      const response = await get(path, { accept: BROWSER_ACCEPT });
      expect(response.status).toBe(200);
      const page = await response.text();
      expect(page).toContain('<a href="/dashboard">Sign in</a>');
      expect(page).toContain('href="/dashboard/sign-up"');
    }
  });

  test("leads a browser to the dashboard without a front page, or nowhere", async () => {
    const brand = { ...DEFAULT_BRAND, hasFrontPage: false };
    const catalogue = catalogueOf([MODEL], [], { brand });
    const off = { catalogue: () => catalogue };
    const leading = appAlone({ ...off, dashboard: openDashboard(folder) });
    const response = await leading.get("/", { accept: BROWSER_ACCEPT });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/dashboard");
    const without = await appAlone(off).get("/", { accept: BROWSER_ACCEPT });
    expect(without.status).toBe(404);
  });

  test("answers all other clients as it does without a dashboard, byte by byte", async () => {
    const sameIds = { random: (bytes: number) => new Uint8Array(bytes), clock: new FakeClock() };
    const withPages = appAlone({ ...sameIds, dashboard: openDashboard(folder) });
    const without = appAlone(sameIds);
    const whole = async (response: Response) => ({
      status: response.status,
      headers: [...response.headers],
      body: await response.text(),
    });
    for (const [method, path, accept] of [
      ["GET", "/", ""],
      ["GET", "/", "*/*"],
      ["GET", "/", "application/json"],
      ["GET", "/", "application/json, text/html;q=0"],
      ["POST", "/", BROWSER_ACCEPT],
      ["OPTIONS", "/", BROWSER_ACCEPT],
      ["GET", "//", BROWSER_ACCEPT],
      ["GET", "/v1", BROWSER_ACCEPT],
    ] as const) {
      const init = { headers: { accept } };
      const answer = await whole(await withPages.request(method, path, init));
      expect(answer).toEqual(await whole(await without.request(method, path, init)));
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: "not_found" } });
    }
  });
});

describe("files", () => {
  test("are cached for good, and sent compressed to clients that accept it", async () => {
    const path = `/dashboard/assets/${await mainScript()}`;
    for (const [accepts, coding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["gzip, br;q=0", "gzip"],
      ["identity", null],
    ] as const) {
      const response = await get(path, { "accept-encoding": accepts });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-encoding")).toBe(coding);
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(response.headers.get("vary")).toBe("accept-encoding");
      await response.arrayBuffer();
    }
  });

  test("that do not exist, or lie elsewhere, are not found", async () => {
    for (const name of ["none.js", "..%2f..%2fpackage.json", "../page.html", "version"]) {
      const response = await get(`/dashboard/assets/${name}`);
      // The browser itself resolves `..`, which leads to the page, never to a file.
      const text = await response.text();
      expect(text === "There is no such file.\n" || text.startsWith("<!doctype html>")).toBe(true);
    }
    expect((await get("/dashboard/assets/none.js")).status).toBe(404);
  });
});

test("without a build or a console the address names the missing part", async () => {
  const response = await appAlone({ dashboard: () => null }).get("/dashboard");
  expect(response.status).toBe(503);
  expect(await response.text()).toContain("SESSION_SECRET and CONSOLE_URL");
});
