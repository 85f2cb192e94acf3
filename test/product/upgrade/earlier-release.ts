// Opens the first release, from this repository's history, for tests that run it beside the present
// one. Its packages are the present ones.

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import type { OrMissing } from "../../support/product/toolchains.ts";

const TAG = "v0.1.0";

export interface EarlierRelease extends Disposable {
  readonly commit: string;
  /** The folder with its files. */
  readonly folder: string;
}

/** The id of its commit, or why it cannot be had (D-310). */
export function earlierCommit(): OrMissing<string> {
  const commit = git("rev-parse", "--verify", "--quiet", `refs/tags/${TAG}^{commit}`);
  return commit ?? { missing: `there is no git repository with the tag ${TAG}` };
}

/** Puts its files into a folder, without its tests. */
export function openEarlierRelease(commit: string): EarlierRelease {
  const place = temporaryFolder("farebox-test-earlier-");
  const folder = join(place.path, "release");
  mkdirSync(folder);
  const parts = ["src", "actors", "workers", "scripts", "migrations", "package.json"];
  const archive = Bun.spawnSync(["git", "archive", "--format=tar", commit, ...parts], {
    cwd: PROJECT,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (!archive.success) throw new Error(`git archive ${commit}: ${archive.stderr}`);
  const tar = Bun.spawnSync(["tar", "-x", "-C", folder], { stdin: archive.stdout });
  if (!tar.success) throw new Error(`tar: ${tar.stderr}`);
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  return { commit, folder, [Symbol.dispose]: () => place.remove() };
}

/** The answer of git, without its line end; null if git refuses or is missing. */
function git(...args: readonly string[]): string | null {
  if (Bun.which("git") === null) return null;
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: PROJECT, stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}
