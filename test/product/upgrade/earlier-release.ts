// Opens earlier releases, from this repository's history, for tests that run them beside the
// present state. The packages of all are the present ones.

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";

const FIRST = "v0.1.0";
/**
 * The commit with which the data of the first release begin: the present release upgrades all that
 * was made since (D-603). The commit stands for the first release until that has a tag.
 */
const FIRST_COMMIT = "39d934a872bb0725e56060520fbed8df855591a9";

/** A release in the history of the repository. */
export interface EarlierRef {
  readonly name: string;
  readonly ref: string;
}

export interface EarlierRelease extends Disposable {
  /** The folder with its files. */
  readonly folder: string;
}

/**
 * The tags of releases before the present commit, the oldest first; none in a copy without tags or
 * without the history of git.
 */
export function earlierTags(project = PROJECT): readonly string[] {
  const list = ["tag", "--list", "v*.*.*", "--merged", "HEAD^", "--sort=version:refname"];
  const tags = git(project, list) ?? "";
  return tags.split("\n").filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

/**
 * The first release, and the last one before the present commit where that is another; none
 * without the history of git (D-932).
 */
export function earlierReleases(
  project = PROJECT,
  firstCommit = FIRST_COMMIT,
): readonly EarlierRef[] {
  const releases = earlierTags(project);
  const last = releases.filter((tag) => tag !== FIRST).at(-1);
  const hasCommit = git(project, ["cat-file", "-e", `${firstCommit}^{commit}`]) !== null;
  return [
    ...(releases.includes(FIRST)
      ? [{ name: FIRST, ref: FIRST }]
      : hasCommit
        ? [{ name: `the first state of ${FIRST}`, ref: firstCommit }]
        : []),
    ...(last === undefined ? [] : [{ name: last, ref: last }]),
  ];
}

/** Puts the files of a tag or commit into a folder, without its tests. */
export function openEarlierRelease(ref: string): EarlierRelease {
  const place = temporaryFolder("farebox-test-earlier-");
  const folder = join(place.path, "release");
  mkdirSync(folder);
  const parts = ["src", "actors", "workers", "scripts", "migrations", "package.json"];
  const archive = Bun.spawnSync(["git", "archive", "--format=tar", ref, ...parts], {
    cwd: PROJECT,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (!archive.success) throw new Error(`git archive ${ref}: ${archive.stderr}`);
  const tar = Bun.spawnSync(["tar", "-x", "-C", folder], { stdin: archive.stdout });
  if (!tar.success) throw new Error(`tar: ${tar.stderr}`);
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  return { folder, [Symbol.dispose]: () => place.remove() };
}

/** The answer of git, without its line end; null if git refuses or is missing. */
function git(project: string, args: readonly string[]): string | null {
  if (Bun.which("git") === null) return null;
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: project, stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}
