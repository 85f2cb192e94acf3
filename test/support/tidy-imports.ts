// Checks the imports of the whole tree against the architecture.

import { posix } from "node:path";
import { isScript, type SourceFile, viewOf } from "./tidy-source.ts";

type Layer =
  | "main"
  | "app"
  | "operator"
  | "surface"
  | "domain"
  | "http"
  | "calls"
  | "actors"
  | "upstream"
  | "store"
  | "core"
  | "settings"
  | "cli"
  | "workers"
  | "pages"
  | "free";

// The first pattern that matches a path decides its layer.
const LAYERS: readonly (readonly [RegExp, Layer])[] = [
  [/^src\/(?:main\.ts$|start\/)/, "main"],
  [/^src\/(app|routes)\.ts$/, "app"],
  [/^src\/operator\//, "operator"],
  [/^src\/(account|application|console)\//, "surface"],
  [/^src\/(services\/[^/]+|payments|identity|accounts)\//, "domain"],
  [/^src\/(http|calls|upstream|store|core|settings|cli)\//, "core"],
  [/^dashboard\//, "pages"],
  [/^actors\//, "actors"],
  [/^workers\//, "workers"],
  [/^(scripts|bench|test|migrations)\//, "free"],
  [/^[^/]+$/, "free"],
];

const FLOOR = ["actors", "upstream", "store", "core"] as const;
const BELOW_SURFACE = ["domain", "http", "calls", ...FLOOR] as const;

/** What each layer may import besides itself. */
const ARROWS: Record<Exclude<Layer, "free">, readonly Layer[]> = {
  main: ["app", "operator", "surface", "settings", ...BELOW_SURFACE],
  app: ["operator", "surface", "settings", ...BELOW_SURFACE],
  // Operators see of an account what its people see, in the same words.
  operator: ["surface", ...BELOW_SURFACE],
  surface: BELOW_SURFACE,
  domain: ["http", "calls", ...FLOOR],
  http: ["calls", "actors", "store", "core"],
  calls: ["actors", "store", "core"],
  actors: ["core"],
  upstream: ["core"],
  store: ["core"],
  core: [],
  // A service defines the schema of its own settings.
  settings: ["domain", "core"],
  cli: ["operator", "surface", "settings", "workers", ...BELOW_SURFACE],
  workers: ["settings", ...BELOW_SURFACE],
  pages: [],
};

/** Layers whose folders must not import each other: a service never imports another one. */
const APART: Partial<Record<Layer, RegExp>> = {
  surface: /^src\/[^/]+/,
  domain: /^src\/(?:services\/)?[^/]+/,
};

/**
 * Layers from which only types can be imported: a composition root passes the values in, and pages
 * hold nothing of the servers.
 */
const TYPES_ONLY: Partial<Record<Layer, readonly Layer[]>> = {
  actors: ["store"],
  pages: ["operator", "surface"],
};

const ENTRIES = [
  /^(src|workers|src\/cli)\/main\.ts$/,
  /^(scripts|bench|test|migrations)\//,
  /^dashboard\/src\/main\.tsx$/,
  /^[^/]+$/,
];

interface Import {
  /** True for `import type`, which does not exist at run time. */
  readonly typeOnly: boolean;
  /** The imported file, or null for a package or a file that is not checked. */
  readonly target: string | null;
}

/** Imports that the architecture forbids. */
export function wrongArrows(files: readonly SourceFile[]): string[] {
  const complaints: string[] = [];
  for (const [path, imports] of importGraph(files)) {
    const layer = layerOf(path);
    if (layer === null) complaints.push(`${path} belongs to no layer`);
    if (layer === null || layer === "free") continue;
    for (const { target, typeOnly } of imports) {
      if (target === null || mayImport(path, layer, target)) continue;
      if (typeOnly && TYPES_ONLY[layer]?.includes(layerOf(target) ?? "free")) continue;
      complaints.push(`${path} may not import ${target}`);
    }
  }
  return complaints;
}

/** Files that no entry point imports, directly or indirectly. */
export function neverImported(files: readonly SourceFile[]): string[] {
  const graph = importGraph(files);
  if (!graph.has("src/main.ts") || !graph.has("workers/main.ts")) return [];
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { target } of graph.get(path) ?? []) if (target !== null) visit(target);
  };
  for (const path of graph.keys()) if (ENTRIES.some((entry) => entry.test(path))) visit(path);
  return files
    .filter((file) => isScript(file) || file.path.endsWith(".lua"))
    .filter(({ path }) => !reached.has(path) && !/\.d\.m?ts$/.test(path))
    .map(({ path }) => `${path} is never imported`);
}

function layerOf(path: string): Layer | null {
  for (const [pattern, layer] of LAYERS) {
    const match = pattern.exec(path);
    if (match === null) continue;
    return layer === "core" ? (match[1] as Layer) : layer;
  }
  return null;
}

function mayImport(path: string, layer: Exclude<Layer, "free">, target: string): boolean {
  const targetLayer = layerOf(target);
  if (target === "package.json") return true;
  if (targetLayer === null) return false;
  if (targetLayer === layer) {
    const folder = APART[layer];
    const isSameFolder = folder?.exec(path)?.[0] === folder?.exec(target)?.[0];
    return isSameFolder && !target.endsWith("/main.ts");
  }
  return ARROWS[layer].includes(targetLayer);
}

// A thread names its file by a URL.
const BEFORE = [
  /\b(?:import|export)\s+(type\s+)?[\w$*{},\s]+?\sfrom\s*/,
  /\bimport\s*\(?\s*/,
  /\bnew URL\(\s*/,
];
const IMPORT = new RegExp(
  `(?:${BEFORE.map(({ source }) => source).join("|")})["']([^"'\\n]+)["']`,
  "g",
);

function importGraph(files: readonly SourceFile[]): Map<string, readonly Import[]> {
  const known = new Set(files.map(({ path }) => path));
  const graph = new Map<string, readonly Import[]>();
  for (const file of files.filter(isScript)) {
    const imports = [...viewOf(file).uncommented.matchAll(IMPORT)];
    graph.set(
      file.path,
      imports.map(([, type, specifier = ""]) => {
        const target = resolve(file.path, specifier, known);
        return { target, typeOnly: type !== undefined };
      }),
    );
  }
  return graph;
}

function resolve(from: string, specifier: string, known: ReadonlySet<string>): string | null {
  if (!specifier.startsWith(".")) return null;
  const target = posix.normalize(posix.join(posix.dirname(from), specifier));
  return known.has(target) || target === "package.json" ? target : null;
}
