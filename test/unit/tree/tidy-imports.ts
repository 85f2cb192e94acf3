// Checks the imports of the whole tree against the architecture.

import { posix } from "node:path";
import type { SourceFile } from "./tidy-source.ts";

interface Layer<Name extends string> {
  readonly name: Name;
  readonly files: RegExp;
  /** The layers that it may import besides itself. */
  readonly imports: readonly NoInfer<Name>[];
  /** The layers of which it may import types; the code that starts it passes their values in. */
  readonly types?: readonly NoInfer<Name>[];
  /** True if no folder of it may import another one, as no service imports another. */
  readonly apart?: true;
}

/** Returns the rows unchanged; the compiler then knows the names. */
function layers<Name extends string>(rows: readonly Layer<Name>[]) {
  return rows;
}

const FLOOR = ["actors", "upstream", "store", "core"] as const;
const BELOW_SURFACE = ["readings", "domain", "atlas", "http", "calls", ...FLOOR] as const;
const BELOW_APP = ["operator", "surface", "settings", ...BELOW_SURFACE] as const;
const SURFACE = /^src\/(?:account|application|console|mcp|site)\//;
/**
 * The parts that a call does not need. The drawn maps are not among them, because the service of
 * maps uses them.
 */
const ANNEX = /^src\/annexes\/(?:imports|prices|stripe-sandbox)\//;
const DOMAIN = /^src\/(?:services\/[^/]+|payments|identity|accounts)\//;

const LAYERS = layers([
  { name: "main", files: /^src\/(?:main\.ts$|start\/)/, imports: ["app", ...BELOW_APP] },
  { name: "app", files: /^src\/(?:app|routes)\.ts$/, imports: BELOW_APP },
  // Operators see the same data of an account as its people, in the same words.
  { name: "operator", files: /^src\/operator\//, imports: ["surface", ...BELOW_SURFACE] },
  { name: "surface", files: SURFACE, imports: BELOW_SURFACE, apart: true },
  // The data that is shown of an account or an installation.
  { name: "readings", files: /^src\/readings\//, imports: ["domain", "http", "calls", ...FLOOR] },
  { name: "domain", files: DOMAIN, imports: ["atlas", "http", "calls", ...FLOOR], apart: true },
  { name: "annexes", files: ANNEX, imports: ["domain", "http", ...FLOOR], apart: true },
  {
    name: "atlas",
    files: /^src\/annexes\/atlas\//,
    imports: ["upstream", "core"],
    types: ["domain"],
  },
  { name: "http", files: /^src\/http\//, imports: ["calls", "actors", "store", "core"] },
  { name: "calls", files: /^src\/calls\//, imports: ["actors", "store", "core"] },
  { name: "actors", files: /^actors\//, imports: ["core"], types: ["store"] },
  { name: "upstream", files: /^src\/upstream\//, imports: ["core"] },
  { name: "store", files: /^src\/store\//, imports: ["core"] },
  { name: "core", files: /^src\/core\//, imports: [] },
  // A service defines the schema of its own settings.
  { name: "settings", files: /^src\/settings\//, imports: ["domain", "core"] },
  { name: "cli", files: /^src\/cli\//, imports: ["workers", "annexes", ...BELOW_APP] },
  { name: "workers", files: /^workers\//, imports: ["settings", ...BELOW_SURFACE] },
  {
    name: "pages",
    files: /^dashboard\//,
    imports: ["core"],
    types: ["operator", "readings", "surface"],
  },
]);

/** Files that may import everything, and that people or tools start by their name. */
const FREE = /^(?:(?:scripts|bench|test|migrations)\/|[^/]+$)/;
const ENTRY = /^(?:(?:src|workers|src\/cli)\/main\.ts|dashboard\/src\/main\.tsx)$/;
const SCRIPT = /\.(?:tsx?|m[jt]s)$/;
const IMPORTED = /(?<!\.d)\.(?:tsx?|m[jt]s|lua)$/;
// Biome puts statements at the start of a line. A thread names its file by a URL.
const IMPORT =
  /(?:^(?:import|export) (type )?(?:[\w$*{},\s]+ from )?|\b(?:import|new URL)\(\s*)"([^"\n]+)"/gm;

interface Import {
  readonly target: string;
  /** True for `import type`, which does not exist at run time. */
  readonly typeOnly: boolean;
  /** True for the file of a thread, which runs separately. */
  readonly isThread: boolean;
}

/** Imports that the architecture forbids. */
export function wrongArrows(files: readonly SourceFile[]): string[] {
  return [...importGraph(files)].flatMap(([path, imports]) => {
    if (FREE.test(path)) return [];
    if (layerOf(path) === undefined) return [`${path} belongs to no layer`];
    return imports
      .filter((one) => !mayImport(path, one))
      .map(({ target }) => `${path} must not import ${target}`);
  });
}

/** Files that no entry point imports, directly or indirectly. */
export function neverImported(files: readonly SourceFile[]): string[] {
  const graph = importGraph(files);
  const reached = new Set([...graph.keys()].filter((path) => ENTRY.test(path) || FREE.test(path)));
  // The loop also visits the paths that it adds.
  for (const path of reached) for (const { target } of graph.get(path) ?? []) reached.add(target);
  return files
    .map(({ path }) => path)
    .filter((path) => IMPORTED.test(path) && !reached.has(path))
    .map((path) => `${path} is never imported`);
}

/** Files that import each other, directly or through others, even if only types are imported. */
export function importCircles(files: readonly SourceFile[]): string[] {
  const graph = importGraph(files);
  const reachable = (from: string) => {
    const reached = new Set<string>();
    const open = [from];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      for (const { target, isThread } of graph.get(path) ?? []) {
        if (isThread || reached.has(target)) continue;
        reached.add(target);
        open.push(target);
      }
    }
    return reached;
  };
  const paths = [...graph.keys()].filter((path) => !FREE.test(path));
  const all = new Map(paths.map((path) => [path, reachable(path)]));
  const circleOf = (path: string) =>
    paths.filter((other) => all.get(path)?.has(other) && all.get(other)?.has(path));
  // One complaint for each circle: that of its first file.
  return paths
    .filter((path) => all.get(path)?.has(path) && circleOf(path).sort()[0] === path)
    .map((path) => `${path} imports itself, through ${circleOf(path).join(", ")}`);
}

function layerOf(path: string) {
  return LAYERS.find(({ files }) => files.test(path));
}

function mayImport(path: string, { target, typeOnly }: Import): boolean {
  const from = layerOf(path);
  const to = layerOf(target);
  if (from === undefined || to === undefined) return target === "package.json";
  if (from === to) {
    const isSameFolder = from.files.exec(path)?.[0] === from.files.exec(target)?.[0];
    return !target.endsWith("/main.ts") && (isSameFolder || !from.apart);
  }
  return from.imports.includes(to.name) || (typeOnly && from.types?.includes(to.name) === true);
}

/** The imports of each script among these files. */
function importGraph(files: readonly SourceFile[]): Map<string, readonly Import[]> {
  const known = new Set(["package.json", ...files.map(({ path }) => path)]);
  const importsOf = ({ path, text }: SourceFile): Import[] =>
    [...text.matchAll(IMPORT)]
      .filter(([, , specifier = ""]) => specifier.startsWith("."))
      .map(([statement, type, specifier = ""]) => ({
        target: posix.join(posix.dirname(path), specifier),
        typeOnly: type !== undefined,
        isThread: statement.startsWith("new URL"),
      }))
      .filter(({ target }) => known.has(target));
  const scripts = files.filter(({ path }) => SCRIPT.test(path));
  return new Map(scripts.map((file) => [file.path, importsOf(file)]));
}
