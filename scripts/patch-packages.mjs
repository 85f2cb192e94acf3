// Applies patches/ to the packages in node_modules. Runs after `npm ci`.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { PROJECT, readJson } from "./local/home.mjs";

/** Stored in the folder of a package: the changed files, and a digest of them and the patch. */
const STAMP = ".farebox-patch.json";

/** Thrown for a package whose files differ from those that its patch was made for. */
export class PatchMisfit extends Error {
  /** @override */
  name = "PatchMisfit";
}

/**
 * Changes each package that has a patch of its name, unless it is changed already. Every command
 * calls this, so the program that compares texts is loaded only if a digest differs from the last
 * one.
 * @param {string} project the folder with `patches` and `node_modules`
 * @throws {PatchMisfit} naming the file
 */
export async function patchPackages(project = PROJECT) {
  for (const file of readdirSync(join(project, "patches"))) {
    const folder = join(project, "node_modules", basename(file, ".patch"));
    const text = readFileSync(join(project, "patches", file), "utf8");
    if (!isStamped(folder, text)) await patchPackage(folder, text);
  }
}

/**
 * @param {string} folder
 * @param {string} text
 */
async function patchPackage(folder, text) {
  const { applyPatch, parsePatch, reversePatch } = await import("diff");
  /** @type {string[]} */
  const names = [];
  for (const patch of parsePatch(text)) {
    const name = (patch.newFileName ?? "").replace(/^b\//, "");
    const path = join(folder, name);
    names.push(name);
    const source = readFileSync(path, "utf8");
    if (applyPatch(source, reversePatch(patch)) !== false) continue;
    const patched = applyPatch(source, patch);
    if (patched === false) throw new PatchMisfit(`A patch does not fit ${path}; run 'npm ci'.`);
    writeFileSync(path, patched);
  }
  stamp(folder, { names, digest: digestOf(folder, text, names) });
}

/**
 * @param {string} folder
 * @param {{ names: string[], digest: string }} content
 */
function stamp(folder, content) {
  try {
    writeFileSync(join(folder, STAMP), `${JSON.stringify(content)}\n`);
  } catch {
    // The packages may belong to another user: then they are compared again each time.
  }
}

/**
 * @param {string} folder
 * @param {string} text
 */
function isStamped(folder, text) {
  const stamped = readJson(join(folder, STAMP));
  return stamped !== null && digestOf(folder, text, stamped.names) === stamped.digest;
}

/**
 * @param {string} folder
 * @param {string} text
 * @param {readonly string[]} names
 */
function digestOf(folder, text, names) {
  const parts = [text, ...names.map((name) => readFileSync(join(folder, name), "utf8"))];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await patchPackages();
