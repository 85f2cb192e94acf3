// Installs the packages with `npm ci`, changed by patches/; Bun is one of them.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { PROJECT, readJson } from "./home.mjs";
import { PatchMisfit, patchPackages } from "./patch-packages.mjs";
import { run } from "./processes.mjs";

/**
 * Runs `npm ci` if a package of the lockfile is missing, has another version, or was changed by a
 * patch of before. Applies patches that came since then.
 * @param {{ dev: boolean, progress: (line: string) => void }} options
 */
export async function ensurePackages({ dev, progress }) {
  const missing = missingPackages(dev);
  const why = missing.length > 0 ? `${missing.length} are missing` : await patchOrReason();
  if (why === null) return;
  await install({ dev, progress, why });
  await patchPackages();
}

/** Applies the patches; why the packages must be installed anew if one does not fit. */
async function patchOrReason() {
  try {
    await patchPackages();
    return null;
  } catch (error) {
    if (error instanceof PatchMisfit) return "one has an earlier patch";
    throw error;
  }
}

/** @param {{ dev: boolean, progress: (line: string) => void, why: string }} options */
async function install({ dev, progress, why }) {
  progress(`Installing packages with npm (${why}); this takes a minute.`);
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ["npm"];
  const include = dev ? ["--include=dev"] : [];
  const command = [...npm, "ci", "--no-audit", "--no-fund", ...include];
  const code = await run(command, { cwd: PROJECT });
  if (code !== 0) throw new Error(`'npm ci' failed with exit code ${code}.`);
}

/**
 * @param {boolean} dev
 * @returns {string[]}
 */
function missingPackages(dev) {
  const lock = readJson(join(PROJECT, "package-lock.json"));
  if (lock === null) throw new Error("package-lock.json is missing; this is no whole copy of it.");
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== "" && !entry.optional && (dev || !entry.dev))
    .filter(([path, entry]) => {
      return readJson(join(PROJECT, path, "package.json"))?.version !== entry.version;
    })
    .map(([path]) => path);
}

/**
 * The path of the project's Bun. The install script of its package puts the program in place; if
 * npm was told to run no scripts, it is run here.
 * @returns {string} the path of the program
 */
export function ensureBun() {
  const bun = join(PROJECT, "node_modules", ".bin", "bun");
  if (runs(bun)) return bun;
  const folder = join(PROJECT, "node_modules", "bun");
  const install = spawnSync(process.execPath, ["install.js"], { cwd: folder, encoding: "utf8" });
  if (runs(bun)) return bun;
  const why = `${install.stdout ?? ""}${install.stderr ?? ""}`.trim();
  throw new Error(`Bun does not run on this machine (${process.platform}-${process.arch}). ${why}`);
}

/** @param {string} program */
function runs(program) {
  return spawnSync(program, ["--version"]).status === 0;
}
