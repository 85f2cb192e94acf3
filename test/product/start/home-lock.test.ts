// Tests that one `npm start` at a time has a home, whatever an earlier one left there.

import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../../scripts/local/home.mjs";
import { launcherHome } from "../../support/product/launcher.ts";

const STARTS = 4;
const HOMES = 150;
/** A lock with a number that no process has. */
const GONE = '{"pid": 4194305, "born": "a boot of before/1"}';

test("of all that find the lock of a killed start, one gets the home", async () => {
  using folder = launcherHome();
  const starts = Array.from({ length: STARTS }, startLocker);
  try {
    for (let number = 0; number < HOMES; number += 1) {
      const home = join(folder.path, `${number}`);
      mkdirSync(home);
      writeFileSync(join(home, "lock.json"), GONE);
      // A start that was killed while it removed such a lock.
      if (number % 2 === 1) writeFileSync(join(home, "lock.json.removal"), GONE);
      const got = await Promise.all(starts.map(({ lock }) => lock(home)));
      const owner = readJson(join(home, "lock.json"))?.pid;
      expect(starts.filter((_, at) => got[at]).map(({ pid }) => pid)).toEqual([owner]);
    }
  } finally {
    for (const { stop } of starts) stop();
  }
});

/** A process that locks homes; `lock` resolves to true if it got one. */
function startLocker() {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "lock-process.ts")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    pid: child.pid,
    lock: async (home: string) => {
      child.stdin.write(`${home}\n`);
      await child.stdin.flush();
      return (await lines.read()).value?.trim() === "mine";
    },
    stop: () => child.kill(),
  };
}
