import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { patchPackages } from "../../scripts/patch-packages.mjs";
import { temporaryFolder } from "../../scripts/processes.mjs";

const PATCH = `Why it is there.

--- a/src/index.js
+++ b/src/index.js
@@ -1,2 +1,2 @@
 one
-two
+three
`;

/** A project with one package and its patch; returns the package's file. */
function projectWith(text: string) {
  const folder = temporaryFolder("farebox-test-patches-");
  const source = join(folder.path, "node_modules", "driver", "src");
  mkdirSync(source, { recursive: true });
  mkdirSync(join(folder.path, "patches"));
  writeFileSync(join(folder.path, "patches", "driver.patch"), PATCH);
  const file = join(source, "index.js");
  writeFileSync(file, text);
  return { ...folder, file, [Symbol.dispose]: () => folder.remove() };
}

test("a package is changed by its patch once", () => {
  using project = projectWith("one\ntwo\n");
  patchPackages(project.path);
  expect(readFileSync(project.file, "utf8")).toBe("one\nthree\n");
  patchPackages(project.path);
  expect(readFileSync(project.file, "utf8")).toBe("one\nthree\n");
});

test("a package that its patch does not fit is named and left as it is", () => {
  using project = projectWith("one\nfour\n");
  expect(() => patchPackages(project.path)).toThrow(project.file);
  expect(readFileSync(project.file, "utf8")).toBe("one\nfour\n");
});
