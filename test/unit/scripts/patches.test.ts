import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { patchPackages } from "../../../scripts/patch-packages.mjs";

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

test("a package is changed by its patch once", async () => {
  using project = projectWith("one\ntwo\n");
  await patchPackages(project.path);
  expect(readFileSync(project.file, "utf8")).toBe("one\nthree\n");
  await patchPackages(project.path);
  expect(readFileSync(project.file, "utf8")).toBe("one\nthree\n");
});

test("a package that its patch does not fit is named and left unchanged", async () => {
  using project = projectWith("one\nfour\n");
  await expect(patchPackages(project.path)).rejects.toThrow(project.file);
  expect(readFileSync(project.file, "utf8")).toBe("one\nfour\n");
});

test("a package is compared again when it, or its patch, has changed", async () => {
  using project = projectWith("one\ntwo\n");
  await patchPackages(project.path);
  writeFileSync(project.file, "one\ntwo\n");
  await patchPackages(project.path);
  expect(readFileSync(project.file, "utf8")).toBe("one\nthree\n");
  const patch = join(project.path, "patches", "driver.patch");
  writeFileSync(patch, PATCH.replace("+three", "+four"));
  await expect(patchPackages(project.path)).rejects.toThrow(project.file);
});

test("unchanged packages are not compared, because comparing takes long", async () => {
  using project = projectWith("one\ntwo\n");
  await patchPackages(project.path);
  const scripts = join(project.path, "scripts");
  mkdirSync(join(scripts, "local"), { recursive: true });
  // The package that compares texts is missing here.
  for (const name of ["patch-packages.mjs", "local/home.mjs", "local/processes.mjs"]) {
    copyFileSync(join(PROJECT, "scripts", name), join(scripts, name));
  }
  const check = () => Bun.spawnSync(["node", join(scripts, "patch-packages.mjs")]).exitCode;
  expect(check()).toBe(0);
  writeFileSync(project.file, "one\ntwo\n");
  expect(check()).toBe(1);
});
