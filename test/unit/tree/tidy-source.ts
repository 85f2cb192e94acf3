// Reads the project's files for tidy.test.ts.

import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceFile {
  /** The path from the project's folder, with "/". */
  readonly path: string;
  readonly text: string;
}

const ROOT = join(import.meta.dir, "../../..");
const PATTERNS = [
  "*.{ts,md}",
  "{src,actors,workers,scripts,bench,test,docs,migrations,dashboard}/**/*.{ts,tsx,mts,mjs,lua,md}",
];

/** Every file that is checked. */
export function readTree(): SourceFile[] {
  const paths = PATTERNS.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })]);
  return paths
    .filter((path) => !path.includes("node_modules/"))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}
