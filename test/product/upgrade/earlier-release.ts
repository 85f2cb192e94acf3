// Opens earlier releases, from this repository's history, for tests that run them beside the
// present state. Their packages are the present ones.

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";

const FIRST = "v0.1.0";

export interface EarlierRelease extends Disposable {
  readonly tag: string;
  /** The folder with its files. */
  readonly folder: string;
}

/**
 * The tags of the first release, and of the last one before the present commit where that is
 * another; none without the history of git (D-310).
 */
export function earlierTags(): readonly string[] {
  const tags = git("tag", "--list", "v*.*.*", "--merged", "HEAD^", "--sort=version:refname");
  const releases = (tags ?? "").split("\n").filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
  const last = releases.at(-1);
  return [FIRST, ...(last === undefined || last === FIRST ? [] : [last])].filter((tag) =>
    releases.includes(tag),
  );
}

/** Puts the files of a tag into a folder, without its tests. */
export function openEarlierRelease(tag: string): EarlierRelease {
  const place = temporaryFolder("farebox-test-earlier-");
  const folder = join(place.path, "release");
  mkdirSync(folder);
  const parts = ["src", "actors", "workers", "scripts", "migrations", "package.json"];
  const archive = Bun.spawnSync(["git", "archive", "--format=tar", tag, ...parts], {
    cwd: PROJECT,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (!archive.success) throw new Error(`git archive ${tag}: ${archive.stderr}`);
  const tar = Bun.spawnSync(["tar", "-x", "-C", folder], { stdin: archive.stdout });
  if (!tar.success) throw new Error(`tar: ${tar.stderr}`);
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  return { tag, folder, [Symbol.dispose]: () => place.remove() };
}

/** The answer of git, without its line end; null if git refuses or is missing. */
function git(...args: readonly string[]): string | null {
  if (Bun.which("git") === null) return null;
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: PROJECT, stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}
