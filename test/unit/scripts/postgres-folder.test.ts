// Tests that `npm start` makes a missing database, and never replaces anything else.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../../../scripts/local/postgres.mjs";
import { launcherHome } from "../../support/product/launcher.ts";

/** Starts the Postgres of a home and stops it. */
async function start(home: string): Promise<void> {
  await (await startPostgres({ home })).stop();
}

test("an incomplete folder of Postgres is refused, and stays unchanged", async () => {
  using home = launcherHome();
  const folder = join(home.path, "postgres");
  mkdirSync(join(home.path, "logs"));
  mkdirSync(join(folder, "base"), { recursive: true });
  writeFileSync(join(folder, "base", "ledger"), "rows");
  await expect(start(home.path)).rejects.toThrow(`${folder} has no PG_VERSION`);
  expect(existsSync(join(folder, "base", "ledger"))).toBe(true);
});

test("a database that was made is not made again if its folder is gone or empty", async () => {
  using home = launcherHome();
  const folder = join(home.path, "postgres");
  mkdirSync(join(home.path, "logs"));
  await start(home.path);
  renameSync(folder, `${folder}-elsewhere`);
  await expect(start(home.path)).rejects.toThrow(`${folder} has no PG_VERSION`);
  // As the mount point of a missing volume.
  mkdirSync(folder);
  await expect(start(home.path)).rejects.toThrow(`${folder} has no PG_VERSION`);
  rmdirSync(folder);
  renameSync(`${folder}-elsewhere`, folder);
  await start(home.path);
});

test("a lock of Postgres that a loss of power left empty does not stop the next one", async () => {
  using home = launcherHome();
  mkdirSync(join(home.path, "logs"));
  await start(home.path);
  writeFileSync(join(home.path, "postgres", "postmaster.pid"), "");
  await start(home.path);
});
