// Prepares a release of the last commit in a clone, so that everything of a release can be tried
// before there is a tag (D-828). Nothing in the project changes.

import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must, run } from "../deploy/tools.ts";
import { temporaryFolder } from "../local/processes.mjs";
import { readSigningKey, type SigningKey } from "./sign.ts";
import { NotReleasable } from "./source.ts";

export interface Rehearsal extends Disposable {
  /** The folder of the clone, in which the tag is. */
  readonly project: string;
  readonly tag: string;
  /** A key that nobody else has, and that is not kept. */
  readonly key: SigningKey;
}

/**
 * Clones the project, dates the section of its version in the changelog by the last commit, and
 * tags that version. The same commit gives the same tag, so that two rehearsals can be compared.
 * @throws {NotReleasable} if the version has a tag already, or without a repository of git
 */
export async function openRehearsal(project: string): Promise<Rehearsal> {
  // A folder without a repository of its own may be inside of another one.
  const top = await run(["git", "rev-parse", "--show-prefix"], { cwd: project });
  if (top.exitCode !== 0 || top.stdout.trim() !== "") {
    throw new NotReleasable(`${project} is no clone: get the project by git, in any depth`);
  }
  const place = temporaryFolder("farebox-rehearsal-");
  const clone = join(place.path, "farebox");
  await must(["git", "clone", "--quiet", project, clone]);
  const { version } = JSON.parse(readFileSync(join(clone, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const tag = `v${version}`;
  const git = (...args: readonly string[]) => must(["git", ...args], { cwd: clone, env: IDENTITY });
  if ((await git("tag", "--list", tag)).trim() !== "") {
    throw new NotReleasable(`${tag} is released: raise the version before the rehearsal`);
  }
  const date = (await git("show", "--no-patch", "--format=%cs")).trim();
  const changelog = join(clone, "CHANGELOG.md");
  const before = readFileSync(changelog, "utf8");
  const dated = before.replace(`## ${version} - unreleased`, `## ${version} - ${date}`);
  if (dated !== before) {
    writeFileSync(changelog, dated);
    const at = (await git("show", "--no-patch", "--format=%cI")).trim();
    const env = { ...IDENTITY, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at };
    await must(["git", "commit", "--quiet", "--all", "--message", tag], { cwd: clone, env });
  }
  await git("tag", tag);
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = readSigningKey(privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return { project: clone, tag, key, [Symbol.dispose]: () => place.remove() };
}

const NAME = "Rehearsal";
const EMAIL = "rehearsal@farebox.example";
const IDENTITY = {
  GIT_AUTHOR_NAME: NAME,
  GIT_AUTHOR_EMAIL: EMAIL,
  GIT_COMMITTER_NAME: NAME,
  GIT_COMMITTER_EMAIL: EMAIL,
};
