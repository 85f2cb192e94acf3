// Installs the packages with npm, changed by patches/; Bun is one of them (D-601).

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { PatchMisfit, patchPackages } from "../patch-packages.mjs";
import { PROJECT, readJson } from "./home.mjs";
import { runQuietly } from "./processes.mjs";

/**
 * Installs packages if one of the lockfile is missing, has another version, or was changed by an
 * earlier patch. Applies patches that were added since.
 * @param {{ dev: boolean, progress: (line: string) => void }} options `dev`: also the packages of
 * tests
 */
export async function ensurePackages({ dev, progress }) {
  const needed = missingPackages((entry) => !entry.dev);
  const tools = dev ? missingPackages((entry) => entry.dev === true) : [];
  const missing = needed.length + tools.length;
  const misfit = needed.length > 0 ? null : await patchOrReason();
  if (missing === 0 && misfit === null) return;
  const why = misfit ?? `${missing} missing`;
  progress(`Installing packages with npm (${why}); this takes a minute.`);
  // `npm ci` first removes all packages, even those that a running Farebox uses.
  const isWhole = needed.length === 0 && misfit === null;
  const command = isWhole ? ["install", "--no-save"] : ["ci"];
  await npm([...command, dev ? "--include=dev" : "--omit=dev"]);
  await patchPackages();
}

/** Applies the patches; returns why the packages must be reinstalled if a patch does not fit. */
async function patchOrReason() {
  try {
    await patchPackages();
    return null;
  } catch (error) {
    if (error instanceof PatchMisfit) return "one has an earlier patch";
    throw error;
  }
}

/**
 * Runs npm without its warnings: they compare packages with the Node that runs npm, and Bun runs
 * them.
 * @param {string[]} args
 */
async function npm(args) {
  const { npm_execpath: script } = process.env;
  const program = script ? [process.execPath, script] : ["npm"];
  const command = [...program, ...args, "--loglevel=error", "--no-audit", "--no-fund"];
  const code = await runQuietly(command, { cwd: PROJECT });
  if (code !== 0) throw new Error(`'npm ${args.join(" ")}' failed with exit code ${code}.`);
}

/**
 * Returns the packages of the lockfile that are not installed in its version.
 * @param {(entry: { dev?: boolean }) => boolean} filter
 * @returns {string[]}
 */
function missingPackages(filter) {
  const lock = readJson(join(PROJECT, "package-lock.json"));
  if (lock === null) throw new Error("package-lock.json is missing; this is no whole copy of it.");
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== "" && !entry.optional && filter(entry))
    .filter(([path, entry]) => {
      return readJson(join(PROJECT, path, "package.json"))?.version !== entry.version;
    })
    .map(([path]) => path);
}

/**
 * Returns the path of the project's Bun. The install script of its package puts the program in
 * place; if npm was set to run no scripts, the script is run here.
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
