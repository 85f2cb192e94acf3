// Applies patches/ to the packages in node_modules. Runs after `npm ci`.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { applyPatch, parsePatch, reversePatch } from "diff";
import { PROJECT } from "./home.mjs";

/**
 * Changes each package that has a patch of its name, unless it is changed already.
 * @param {string} project the folder with `patches` and `node_modules`
 * @throws {Error} naming the file if a patch does not fit it
 */
export function patchPackages(project = PROJECT) {
  for (const file of readdirSync(join(project, "patches"))) {
    const folder = join(project, "node_modules", basename(file, ".patch"));
    const text = readFileSync(join(project, "patches", file), "utf8");
    for (const patch of parsePatch(text)) patchFile(folder, patch);
  }
}

/**
 * @param {string} folder
 * @param {ReturnType<typeof parsePatch>[number]} patch
 */
function patchFile(folder, patch) {
  const path = join(folder, (patch.newFileName ?? "").replace(/^b\//, ""));
  const text = readFileSync(path, "utf8");
  if (applyPatch(text, reversePatch(patch)) !== false) return;
  const patched = applyPatch(text, patch);
  if (patched === false) throw new Error(`A patch does not fit ${path}; run 'npm ci'.`);
  writeFileSync(path, patched);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) patchPackages();
