// Tests the file with the new keys of imports. The file has the only copy of each key, so no import
// removes another import's keys.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openImportLab } from "./import-lab.ts";
import { ONE_API_SQLITE } from "./one-api-tables.ts";

const lab = await shared(openImportLab());

function fill(name: string): string {
  const file = lab.path(`${name}.db`);
  using db = new Database(file);
  db.exec(ONE_API_SQLITE);
  db.run("INSERT INTO users (id, username, password) VALUES (1, ?, 'x')", [name]);
  for (const key of [`${name} a`, `${name} b`]) {
    db.run("INSERT INTO tokens (user_id, key, name, unlimited_quota) VALUES (1, ?, ?, 1)", [
      key,
      key,
    ]);
  }
  return file;
}

function run(name: string, file: string) {
  const args = ["--from", file, "--out", lab.folder, "--name", name, "--json"];
  return lab.cli("import", "one-api", ...args);
}

test("an import into the folder of an earlier one keeps its keys", async () => {
  jsonOf(await run("first", fill("first")));
  jsonOf(await run("second", fill("second")));
  expect(lab.keyLines().map((line) => line[5])).toEqual([
    "first a",
    "first b",
    "second a",
    "second b",
  ]);
});

test("an import that begins while one runs is refused, and removes no line", async () => {
  const { sql } = lab.world.database;
  const before = lab.keyLines();
  const file = fill("third");
  await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(720314006)`;
    const { code, err } = await run("third", file);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("Another import is running: repeat this one after it"),
    ]);
  });
  expect(lab.keyLines()).toEqual(before);
  jsonOf(await run("third", file));
  expect(lab.keyLines()).toHaveLength(before.length + 2);
});

test("keys of another Farebox stay where they are", async () => {
  const file = join(lab.folder, "keys.csv");
  const text = await Bun.file(file).text();
  const foreign = text.replaceAll('"key_', '"key_other');
  await Bun.write(file, foreign);
  const { code, err } = await run("fourth", fill("fourth"));
  expect([code, err]).toEqual([
    1,
    expect.stringContaining("has keys that no import brought here: move it"),
  ]);
  expect(await Bun.file(file).text()).toBe(foreign);
  await Bun.write(file, text);
});
