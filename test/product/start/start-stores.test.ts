// Tests `npm start -- --stores`: the way to a restore if the only stores are its own.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../scripts/local/processes.mjs";
import { eventually } from "../../support/eventually.ts";
import { launcherHome, launchFarebox } from "../../support/product/launcher.ts";

const PROJECT = join(import.meta.dir, "../../..");

async function farebox(home: string, ...args: readonly string[]) {
  const child = Bun.spawn(["node", join(PROJECT, "scripts/farebox.mjs"), ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", FAREBOX_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [code, out, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code, out, err };
}

test("a backup of npm start is restored while its stores run alone", async () => {
  using home = launcherHome();
  {
    await using running = launchFarebox(home.path);
    await eventually("it runs", () => running.output().includes("Farebox is running"), 60_000);
    // A new Redis is no problem of a first start.
    expect(running.output()).not.toContain("rebuilt");
    expect(await farebox(home.path, "backup", "copy")).toMatchObject({ code: 0 });
    const later = await farebox(home.path, "account", "create", "--email", "ada@example.org");
    expect(later).toMatchObject({ code: 0 });
    const refused = await farebox(home.path, "restore", "copy", "--yes");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("Stop them")]);
  }
  await using stores = launchFarebox(home.path, { args: ["--stores"] });
  await eventually("they run", () => stores.output().includes("Only the stores"), 60_000);
  const restored = await farebox(home.path, "restore", "copy", "--yes");
  expect([restored.code, restored.out]).toEqual([0, expect.stringContaining("ada@example.org")]);
  const found = await farebox(home.path, "account", "find", "ada");
  expect(found).toMatchObject({ code: 0, out: "There is nothing.\n" });
}, 180_000);

test("an operator's own store that is away is named in words, without a stack", async () => {
  const nowhere = `127.0.0.1:${await freePort()}`;
  for (const [env, words] of [
    [{ DATABASE_URL: `postgres://${nowhere}/farebox` }, "Postgres cannot be reached: check its"],
    [{ REDIS_URL: `redis://${nowhere}` }, "Redis cannot be reached: check its address"],
  ] as const) {
    using home = launcherHome();
    await using refused = launchFarebox(home.path, { env });
    expect(await refused.exited).toBe(1);
    const told = refused.output().split("The database could not be prepared:\n")[1] ?? "";
    expect(told).toStartWith(words);
    expect(told.trimEnd().split("\n")).toHaveLength(1);
  }
});

test("an unknown argument of npm start is named, and nothing starts", async () => {
  using home = launcherHome();
  await using refused = launchFarebox(home.path, { args: ["--store"] });
  expect(await refused.exited).toBe(2);
  expect(refused.output()).toStartWith("Unknown argument '--store'");
  expect(existsSync(join(home.path, "lock.json"))).toBe(false);
});

test("SIGTERM to npm stops everything that npm start has started", async () => {
  using home = launcherHome();
  const lock = join(home.path, "lock.json");
  await using stores = launchFarebox(home.path, { args: ["--stores"], byNpm: true });
  await eventually("they run", () => stores.output().includes("Only the stores"), 60_000);
  const launcher = JSON.parse(readFileSync(lock, "utf8"));
  try {
    process.kill(stores.pid, "SIGTERM");
    await eventually("the home is free", () => !existsSync(lock));
  } finally {
    if (existsSync(lock)) process.kill(launcher.pid, "SIGTERM");
  }
  expect(await stores.exited).toBe(0);
});
