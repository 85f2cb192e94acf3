// Tests which versions of packages are refused for their age.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { earlierLock, LOCK } from "../../../scripts/release/earlier-lock.ts";
import { addedVersions, tooYoung } from "../../../scripts/release/package-ages.ts";

const lock = (packages: Readonly<Record<string, object>>) =>
  JSON.stringify({ packages: { "": { version: "1.0.0" }, ...packages } });
const NOW = new Date("2026-12-10T12:00:00Z");

test("only versions that the earlier lock file lacks are looked up, each once", () => {
  const earlier = lock({ "node_modules/a": { version: "1.0.0" } });
  const present = lock({
    "node_modules/a": { version: "1.0.0" },
    "node_modules/@s/b": { version: "2.0.0" },
    "node_modules/c/node_modules/a": { version: "1.1.0" },
    "node_modules/d/node_modules/a": { version: "1.1.0" },
    "node_modules/alias": { name: "e", version: "5.0.0" },
  });
  expect(addedVersions(earlier, present)).toEqual([
    { name: "@s/b", version: "2.0.0" },
    { name: "a", version: "1.1.0" },
    { name: "e", version: "5.0.0" },
  ]);
});

test("a version younger than three days is refused by name, an older one is taken", async () => {
  const times: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    old: { "1.0.0": "2026-12-07T12:00:00Z" },
    young: { "1.0.0": "2026-12-07T12:00:01Z" },
    unreadable: { "1.0.0": "last year" },
  };
  const versions = ["old", "young", "unreadable", "gone"].map((name) => ({
    name,
    version: "1.0.0",
  }));
  const lines = await tooYoung(versions, NOW, async (name) => times[name] ?? {});
  expect(lines).toEqual([
    "young@1.0.0 was published 2026-12-07T12:00:01Z: wait until it is 3 days old",
    "unreadable@1.0.0 was published last year: wait until it is 3 days old",
    "gone@1.0.0 is not in the registry",
  ]);
});

test("without a commit of three days there is no earlier lock file of all that came", async () => {
  const folder = temporaryFolder("farebox-test-ages-");
  try {
    const commit = (lock: string, date: string) => {
      writeFileSync(join(folder.path, LOCK), lock);
      const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
      const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
      for (const args of [
        ["add", LOCK],
        ["commit", "--quiet", "--message", "Change"],
      ]) {
        const done = Bun.spawnSync(["git", ...who, ...args], { cwd: folder.path, env });
        if (!done.success) throw new Error(String(done.stderr));
      }
    };
    Bun.spawnSync(["git", "init", "--quiet"], { cwd: folder.path });
    const isAll = true;
    commit("young", new Date().toISOString());
    expect(await earlierLock(folder.path, { isAll })).toBeNull();
    Bun.spawnSync(["git", "update-ref", "-d", "HEAD"], { cwd: folder.path });
    commit("old", "2020-01-01T00:00:00Z");
    commit("younger", new Date().toISOString());
    expect(await earlierLock(folder.path, { isAll })).toBe("old");
  } finally {
    folder.remove();
  }
});
