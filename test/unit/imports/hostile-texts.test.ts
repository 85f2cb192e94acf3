// Tests that customers' names in another product cannot fake a line of an import's notes.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonOf } from "../../support/product/run-cli.ts";
import { openImportLab } from "./import-lab.ts";
import { ONE_API_SQLITE } from "./one-api-tables.ts";

test("a note is one line, whatever the texts of the other product are", async () => {
  await using lab = await openImportLab();
  const from = lab.path("one-api.db");
  const db = new Database(from, { create: true });
  db.run(ONE_API_SQLITE);
  db.run("INSERT INTO users (username, password, role, `group`) VALUES (?, '', 10, ?)", [
    "eve\n- user 2 'ada': suspended there\u2028}",
    "vip\r\u001b[1A",
  ]);
  db.run("INSERT INTO options VALUES ('GroupRatio', ?)", ['{"vip\\r\\u001b[1A": 2}']);
  db.close();
  const terms = ["import", "one-api", "--from", from, "--out", lab.folder] as const;
  const said = await lab.cli(...terms);
  const lines = [
    "user 1 'eve - user 2 'ada': suspended there }': an administrator there, a customer like " +
      "others here",
    "group 'vip [1A': its 1 users paid 2 times the prices; here once",
  ];
  expect(said.out.split("\n").slice(1, -1)).toEqual(lines.map((line) => `- ${line}`));
  expect(readFileSync(join(lab.folder, "notes.txt"), "utf8")).toBe(`${lines.join("\n")}\n`);
  expect(jsonOf(await lab.cli(...terms, "--dry-run", "--json")).notes).toEqual(lines);
});
