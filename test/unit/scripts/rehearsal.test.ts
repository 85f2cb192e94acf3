// Tests that a release can be tried from the last commit before it has a tag, and that the project
// stays as it was.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { writeRelease } from "../../../scripts/release/files.ts";
import { openRehearsal } from "../../../scripts/release/rehearsal.ts";

const folder = temporaryFolder("farebox-test-rehearsal-");
const project = join(folder.path, "project");
const VERIFY = join(PROJECT, "scripts/release/verify");

function git(...args: readonly string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const done = Bun.spawnSync(["git", ...who, ...args], { cwd: project });
  if (!done.success) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
  return done.stdout.toString();
}

beforeAll(() => {
  const named = { name: "farebox", version: "2.0.0" };
  const lock = { ...named, lockfileVersion: 3, requires: true, packages: { "": named } };
  const files = {
    "package.json": JSON.stringify(named),
    "package-lock.json": JSON.stringify(lock),
    "deploy/helm/farebox/Chart.yaml": 'appVersion: "2.0.0"\n',
    "CHANGELOG.md": "# Changelog\n\n## 2.0.0 - unreleased\n\nAll of it.\n",
    "scripts/release/verify": readFileSync(VERIFY, "utf8"),
  };
  for (const part of ["deploy/helm/farebox", "scripts/release"]) {
    mkdirSync(join(project, part), { recursive: true });
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(project, path), text);
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Everything");
});
afterAll(() => folder.remove());

async function rehearse(name: string) {
  using rehearsal = await openRehearsal(project);
  const out = join(folder.path, name);
  const source = await writeRelease({ ...rehearsal, out, image: null });
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8");
  const check = Bun.spawnSync(["sh", VERIFY, rehearsal.key.fingerprint, out]);
  return { source, sums, isWhole: check.success };
}

test("two rehearsals of a commit are one release, and the project gets no tag", async () => {
  const before = git("rev-parse", "HEAD");
  const [one, two] = [await rehearse("one"), await rehearse("two")];
  expect(one.source).toMatchObject({ tag: "v2.0.0", version: "2.0.0" });
  expect([one.isWhole, two.isWhole]).toEqual([true, true]);
  expect(two.sums).toBe(one.sums);
  expect([git("rev-parse", "HEAD"), git("tag"), git("status", "--short")]).toEqual([
    before,
    "",
    "",
  ]);
});

test("a clone of the last commit alone, without history and tags, is rehearsed too", async () => {
  const clone = join(folder.path, "shallow");
  git("clone", "--quiet", "--no-tags", "--depth", "1", `file://${project}`, clone);
  using whole = await openRehearsal(project);
  using shallow = await openRehearsal(clone);
  const shown = (at: string) => Bun.spawnSync(["git", "rev-parse", "v2.0.0^{tree}"], { cwd: at });
  expect(shown(shallow.project).stdout.toString()).toBe(shown(whole.project).stdout.toString());
  expect(shallow.tag).toBe("v2.0.0");
});

test("a folder that is no clone is refused in words", async () => {
  const unpacked = join(folder.path, "unpacked");
  mkdirSync(unpacked);
  await expect(openRehearsal(unpacked)).rejects.toThrow(`${unpacked} is no clone`);
  const inside = join(project, "scripts");
  await expect(openRehearsal(inside)).rejects.toThrow(`${inside} is no clone`);
});

test.skipIf(!existsSync(join(PROJECT, ".git")))(
  "the last commit of this project can be released, and its release is whole",
  async () => {
    using rehearsal = await openRehearsal(PROJECT);
    const out = join(folder.path, "own");
    const { version } = await writeRelease({ ...rehearsal, out, image: null });
    const { success, stdout } = Bun.spawnSync(["sh", VERIFY, rehearsal.key.fingerprint, out]);
    expect([success, stdout.toString()]).toEqual([
      true,
      expect.stringContaining(`farebox-${version}.tar.gz: OK`),
    ]);
  },
);

test("a version that is released is not rehearsed again", async () => {
  git("tag", "v2.0.0");
  await expect(openRehearsal(project)).rejects.toThrow("v2.0.0 is released");
});
