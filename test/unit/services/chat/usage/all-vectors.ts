// Our own vectors, by the file that they stand in.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
