// Builds the dashboard's pages with Bun's bundler into the data folder, where the servers find
// them: files named by their hash, with compressed copies, and the HTML page. Run by `npm start`,
// `npm test` and `farebox api`; it does nothing if the pages are up to date.

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join, parse } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { PAGE_TEXTS } from "../dashboard/src/texts/page.ts";
import project from "../package.json";
import { LANGUAGE_TAGS, type Language } from "../src/core/languages.ts";
import {
  DASHBOARD_PATH,
  dashboardFolder,
  dashboardPlaces,
  pageFile,
} from "../src/http/console/dashboard-files.ts";
import { loadDataDirectory } from "../src/settings/config.ts";
import { removeStaleDrafts } from "../src/upstream/data-file.ts";

const PROJECT = join(import.meta.dir, "..");
const SOURCES = join(PROJECT, "dashboard");
const ASSETS = `${DASHBOARD_PATH}/assets/`;
const FONT = "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2";
/** The files of the texts, without the hash in their names. A page preloads one. */
const CATALOGUES: Readonly<Record<Language, string>> = {
  en: "english",
  de: "german",
  "zh-Hans": "chinese",
};
const COMPRESSED = /\.(?:js|css|svg)$/;

/** A short hash of everything that goes into a build. */
export function dashboardVersion(): string {
  const hash = createHash("sha256").update(Bun.version);
  hash.update(JSON.stringify([project.dependencies, readFileSync(import.meta.path, "utf8")]));
  const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true });
  const paths = files.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  for (const path of paths.sort()) {
    hash.update(path.slice(SOURCES.length)).update(readFileSync(path));
  }
  return hash.digest("hex").slice(0, 16);
}

/** True if the folder has the pages of the present sources. */
export function isDashboardBuilt(directory: string): boolean {
  const folder = dashboardFolder(directory);
  return folder !== null && basename(folder) === dashboardVersion();
}

/**
 * Builds the pages if they are missing or stale. Each version is a folder of its own, renamed when
 * it is complete, and a file names the version to serve: several builds at once, and processes that
 * read meanwhile, do not disturb each other.
 */
export async function buildDashboard(directory: string): Promise<void> {
  if (isDashboardBuilt(directory)) return;
  const version = dashboardVersion();
  const { builds, current } = dashboardPlaces(directory);
  const place = join(builds, version);
  mkdirSync(builds, { recursive: true });
  const draft = mkdtempSync(join(builds, "draft-"));
  try {
    if (!existsSync(place)) {
      await buildInto(join(draft, version));
      // Another process may have built the same pages meanwhile.
      if (!existsSync(place)) renameSync(join(draft, version), place);
    }
    writeFileSync(join(draft, "version"), version);
    renameSync(join(draft, "version"), current);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  removeStaleDrafts(builds, place, /^(?!version$)/);
}

async function buildInto(folder: string): Promise<void> {
  const built = await Bun.build({
    entrypoints: [join(SOURCES, "src/main.tsx")],
    outdir: join(folder, "assets"),
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    publicPath: ASSETS,
    naming: {
      entry: "[name]-[hash].[ext]",
      chunk: "[name]-[hash].[ext]",
      asset: "[name]-[hash].[ext]",
    },
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
  });
  const outputs = built.outputs.map(({ path }) => basename(path));
  const found = (pattern: RegExp): string => {
    const name = outputs.find((one) => pattern.test(one));
    if (name === undefined) throw new Error(`The build has no file like ${pattern}`);
    return name;
  };
  const font = addHashed(folder, join(PROJECT, "node_modules", FONT));
  // Shared chunks begin with the name of the entry too.
  const entry = built.outputs.find(({ kind }) => kind === "entry-point");
  if (entry === undefined) throw new Error("The build has no entry");
  const script = basename(entry.path);
  const app = found(/^app-\w+\.js$/);
  for (const language of LANGUAGE_TAGS) {
    const needed = [script, app, found(new RegExp(`^${CATALOGUES[language]}-\\w+\\.js$`))];
    const shared = needed.flatMap((name) => [name, ...staticImports(join(folder, "assets"), name)]);
    const { needsScript, cannotLoad } = PAGE_TEXTS[language];
    const page = readFileSync(join(SOURCES, "page.html"), "utf8")
      .replace('lang="en"', `lang="${language}"`)
      .replace("CANNOT_LOAD", cannotLoad)
      .replace("NEEDS_SCRIPT", needsScript)
      .replace("FONT", `${ASSETS}${font}`)
      .replace("PRELOADS", preloads([...new Set(shared)], font))
      .replace("STYLES", `${ASSETS}${found(/^main-\w+\.css$/)}`)
      .replace("SCRIPT", `${ASSETS}${script}`);
    writeFileSync(join(folder, pageFile(language)), page);
  }
  compress(join(folder, "assets"));
}

/** Copies a file under a name that changes with its content. */
function addHashed(folder: string, file: string): string {
  const bytes = readFileSync(file);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
  const { name, ext } = parse(file);
  writeFileSync(join(folder, "assets", `${name}-${hash}${ext}`), bytes);
  return `${name}-${hash}${ext}`;
}

/** The other files that a script needs before it can run. */
export function staticImports(folder: string, script: string): string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    const text = readFileSync(join(folder, name), "utf8");
    for (const [, target = ""] of text.matchAll(/(?:from|import)\s*"[^"]*\/([\w.-]+\.js)"/g)) {
      if (found.has(target) || target === script) continue;
      found.add(target);
      visit(target);
    }
  };
  visit(script);
  return [...found];
}

function preloads(scripts: readonly string[], font: string): string {
  const modules = scripts.map((name) => `<link rel="modulepreload" href="${ASSETS}${name}">`);
  const type = 'as="font" type="font/woff2" crossorigin';
  return [...modules, `<link rel="preload" href="${ASSETS}${font}" ${type}>`].join("\n");
}

function compress(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => COMPRESSED.test(one))) {
    const bytes = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), Bun.gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
  }
}

if (import.meta.main) {
  const directory = loadDataDirectory();
  if (!isDashboardBuilt(directory)) {
    console.log(`Building the dashboard in ${dashboardPlaces(directory).builds}.`);
    await buildDashboard(directory);
  }
}
