// The built pages of the dashboard. The files are read into memory once, so that a build beside a
// running server does not change its pages.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LANGUAGE_TAGS, type Language } from "../../core/languages.ts";

/** The address of the dashboard. */
export const DASHBOARD_PATH = "/dashboard";

/** The folder in the data folder with a folder for each build, named by its version. */
const DASHBOARD_FOLDER = "dashboard";

/** The folder of all builds, and the file that names the version to serve. */
export function dashboardPlaces(directory: string) {
  const builds = join(directory, DASHBOARD_FOLDER);
  return { builds, current: join(builds, "version") };
}

/** The file of the page in a language. */
export function pageFile(language: Language): string {
  return `page-${language}.html`;
}

/** The folder of the pages to serve; null if no build was ever finished. */
export function dashboardFolder(directory: string): string | null {
  const { builds, current } = dashboardPlaces(directory);
  if (!existsSync(current)) return null;
  const folder = join(builds, readFileSync(current, "utf8"));
  return LANGUAGE_TAGS.every((one) => existsSync(join(folder, pageFile(one)))) ? folder : null;
}

/** A file as it is sent; a compressed form is null if it would not be smaller. */
export interface DashboardAsset {
  readonly type: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer> | null;
  readonly brotli: Uint8Array<ArrayBuffer> | null;
}

export interface DashboardFiles {
  /** The HTML page in each language, in which NONCE stands for the nonce of the answer. */
  readonly pages: Readonly<Record<Language, string>>;
  readonly assets: ReadonlyMap<string, DashboardAsset>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** Reads the built pages at their first request; null as long as no build is finished. */
export function openDashboard(directory: string): () => DashboardFiles | null {
  let files: DashboardFiles | null = null;
  return () => {
    files ??= readDashboard(directory);
    return files;
  };
}

function readDashboard(directory: string): DashboardFiles | null {
  const folder = dashboardFolder(directory);
  if (folder === null) return null;
  const assets = new Map<string, DashboardAsset>();
  for (const name of readdirSync(join(folder, "assets"))) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const path = join(folder, "assets", name);
    assets.set(name, {
      type,
      plain: read(path),
      gzip: existsSync(`${path}.gz`) ? read(`${path}.gz`) : null,
      brotli: existsSync(`${path}.br`) ? read(`${path}.br`) : null,
    });
  }
  const pages = Object.fromEntries(
    LANGUAGE_TAGS.map((one) => [one, readFileSync(join(folder, pageFile(one)), "utf8")]),
  ) as Record<Language, string>;
  return { pages, assets };
}

function read(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(path));
}
