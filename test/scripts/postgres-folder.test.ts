// `npm start` makes a database where there is none, and never in place of something else.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../../scripts/postgres.mjs";
import { launcherHome } from "../support/launcher.ts";

test("a folder of Postgres that is not whole is refused, and stays as it is", async () => {
  using home = launcherHome();
  const folder = join(home.path, "postgres");
  mkdirSync(join(home.path, "logs"));
  mkdirSync(join(folder, "base"), { recursive: true });
  writeFileSync(join(folder, "base", "ledger"), "rows");
  const starting = startPostgres({ home: home.path }).then(async (postgres) => {
    await postgres.stop();
    return "started";
  });
  await expect(starting).rejects.toThrow(`${folder} has no PG_VERSION`);
  expect(existsSync(join(folder, "base", "ledger"))).toBe(true);
});
