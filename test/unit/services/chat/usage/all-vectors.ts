// Our own vectors, by the file that they stand in, and recorded replies of providers, which lie
// beside some checkouts of this repository.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Vector } from "./vector-form.ts";

const FOLDER = join(import.meta.dir, "vectors");

export function allVectors(): [form: string, vectors: readonly Vector[]][] {
  return readdirSync(FOLDER)
    .sort()
    .map((name) => [
      name.replace(".json", ""),
      JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as readonly Vector[],
    ]);
}

const ROOT = resolve(import.meta.dir, "../../../../..");
/** Beside the checkout; a worktree may be one folder deeper. */
const RECORDED = ["../shared/fixtures", "../../shared/fixtures"]
  .map((path) => join(ROOT, path))
  .find((path) => existsSync(path));

/** The recorded replies, with the bill that each must give; null if they are not there. */
export function recordedVectors(): readonly Vector[] | null {
  if (RECORDED === undefined) return null;
  return readdirSync(RECORDED)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(RECORDED, name), "utf8")) as Vector);
}
