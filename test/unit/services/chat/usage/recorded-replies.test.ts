// Recorded replies of providers, with the bill that they must give, lie beside some checkouts of
// this repository. Our own vectors state the same rules, so nothing is lost where they are missing.

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkVector } from "./vector.ts";
import type { Vector } from "./vector-form.ts";

const ROOT = resolve(import.meta.dir, "../../../../..");
/** Beside the checkout; a worktree may be one folder deeper. */
const FOLDERS = ["../shared/fixtures", "../../shared/fixtures"].map((path) => join(ROOT, path));
const FOLDER = FOLDERS.find((path) => existsSync(path));

if (FOLDER === undefined) {
  test.skip("recorded replies are not beside this checkout (../shared/fixtures)", () => {});
} else {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  describe("each recorded reply gives its parts, its row and its cost to the nano-dollar", () => {
    test("there are recordings", () => expect(names.length).toBeGreaterThan(100));
    for (const name of names) {
      test(name, () => checkVector(JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Vector));
    }
  });
}
