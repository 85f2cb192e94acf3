// Tests which releases upgrades are tested from: the first one, by its tag or its commit, and the
// last one before the present commit (D-932).

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { earlierReleases, earlierTags } from "../../product/upgrade/earlier-release.ts";
import { sharedFolder } from "../../support/shared.ts";

const project = sharedFolder("earlier-releases");

function git(...args: readonly string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const { success, stdout, stderr } = Bun.spawnSync(["git", ...who, ...args], { cwd: project });
  if (!success) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

function commit(text: string): string {
  writeFileSync(join(project, "text"), text);
  git("add", "--all");
  git("commit", "--quiet", "--message", text);
  return git("rev-parse", "HEAD");
}

git("init", "--quiet");
const first = commit("The first release");

test("without a tag the commit of the first release stands for it", () => {
  commit("Later");
  expect(earlierReleases(project, first)).toEqual([
    { name: "the first state of v0.1.0", ref: first },
  ]);
});

test("with tags they are the first and the last one before the present commit", () => {
  git("tag", "v0.1.0", first);
  expect(earlierReleases(project, first)).toEqual([{ name: "v0.1.0", ref: "v0.1.0" }]);
  for (const version of ["v0.2.0", "v0.10.0"]) {
    commit(version);
    git("tag", version);
  }
  git("tag", "nightly");
  // The present commit is itself v0.10.0, which upgrades from the one before.
  expect(earlierReleases(project, first).map(({ ref }) => ref)).toEqual(["v0.1.0", "v0.2.0"]);
  commit("After it");
  expect(earlierTags(project)).toEqual(["v0.1.0", "v0.2.0", "v0.10.0"]);
  expect(earlierReleases(project, first).map(({ ref }) => ref)).toEqual(["v0.1.0", "v0.10.0"]);
});

test("a copy without history or without git has none", () => {
  const clone = join(sharedFolder("earlier-shallow"), "clone");
  git("clone", "--quiet", "--depth", "1", `file://${project}`, clone);
  expect(earlierReleases(clone, first)).toEqual([]);
  expect(earlierReleases(sharedFolder("earlier-none"), first)).toEqual([]);
});
