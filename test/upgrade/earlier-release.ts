// An earlier commit of this repository as a release of its own, for tests that run it beside the
// present one: the first that has `farebox api`. Its packages are the present ones.

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../scripts/home.mjs";
import { temporaryFolder } from "../../scripts/processes.mjs";
import type { Found } from "../support/toolchains.ts";

/** The change that made processes of their own out of `npm start`. */
const [FIRST_LINE, FIRST_FILE] = ['api: "src/main.ts"', "scripts/farebox.mjs"];

export interface EarlierRelease extends Disposable {
  readonly commit: string;
  /** The folder with its files. */
  readonly folder: string;
}

/** The id of that commit, or why it cannot be had. */
export function earlierCommit(): Found<string> {
  const shallow = git("rev-parse", "--is-shallow-repository");
  if (shallow === null) return { missing: "this is no git repository" };
  if (shallow !== "false") return { missing: "the history is shallow (git fetch --unshallow)" };
  const commits = git("log", "--reverse", "--format=%H", `-S${FIRST_LINE}`, "--", FIRST_FILE);
  const [commit = ""] = (commits ?? "").split("\n");
  return commit === "" ? { missing: `no commit has '${FIRST_LINE}' in ${FIRST_FILE}` } : commit;
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

/** What git answers, without the end of its line; null if it refuses or is missing. */
function git(...args: readonly string[]): string | null {
  if (Bun.which("git") === null) return null;
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: PROJECT, stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}
