// Tests the import of customers from a CSV file: the accounts and keys of a row, and that a file
// with any fault changes nothing.

import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { CUSTOMER_COLUMNS, planCustomers } from "../../../src/annexes/imports/customers-plan.ts";
import { jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openImportLab } from "./import-lab.ts";

const HEAD = "id,name,email,balance_usd,suspended,keys,key_monthly_limit_usd,key_addresses";

const lab = await shared(openImportLab());

function file(name: string, lines: readonly string[]): string {
  const path = lab.path(name);
  writeFileSync(path, lines.map((line) => `${line}\r\n`).join(""));
  return path;
}

function run(path: string, ...more: readonly string[]) {
  return lab.cli("import", "csv", path, "--out", lab.folder, "--json", ...more);
}

test("a row becomes an account with its balance, state and keys, once", async () => {
  const path = file("good.csv", [
    HEAD,
    'c-1,"Ünïcode, GmbH",Ada@example.com,12.500000001,,web;batch,20,10.0.0.0/8;192.0.2.1',
    "",
    "c-2,Silent,,,yes,,,",
  ]);
  const preview = jsonOf(await run(path, "--dry-run"));
  expect(preview).toMatchObject({ dry_run: true, accounts_created: 2, keys_issued: 2 });
  expect(await lab.accounts()).toEqual({});
  expect(existsSync(lab.folder)).toBe(false);

  const done = jsonOf(await run(path));
  expect(done).toMatchObject({ accounts_created: 2, credited_usd: 12.500000001, keys_issued: 2 });
  const accounts = await lab.accounts();
  const key = { limit: "20", ips: ["10.0.0.0/8", "192.0.2.1"] };
  expect(accounts["Ünïcode, GmbH"]).toMatchObject({
    email: "Ada@example.com",
    paid: "12.500000001",
    free: "0",
    state: "active",
    keys: [
      { name: "web", ...key },
      { name: "batch", ...key },
    ],
  });
  expect(accounts.Silent).toMatchObject({ paid: "0", state: "suspended", keys: [] });
  expect(lab.keyLines().map((line) => line.slice(3, 6))).toEqual([
    ["Ünïcode, GmbH", "Ada@example.com", "web"],
    ["Ünïcode, GmbH", "Ada@example.com", "batch"],
  ]);
  expect(existsSync(`${lab.folder}/models.json`)).toBe(false);

  const again = jsonOf(await run(path));
  expect(again).toMatchObject({ accounts_created: 0, accounts_known: 2, credited_usd: 0 });
  await lab.expectClean();
});

test("a file with a fault imports nothing, and each fault is named by line and field", async () => {
  const before = await lab.accounts();
  const path = file("faults.csv", [
    HEAD,
    "f-1,Right,right@example.com,5,no,,,",
    "f-2,,no address,-1,perhaps,,,",
    "f-1,Again,,1.0000000001,,a;a,0,300.1.2.3",
    "f-3,Short",
    "f-4,No keys,,,,,5,",
  ]);
  const { code, err } = await run(path);
  expect(code).toBe(2);
  for (const fault of [
    "faults.csv line 3, name: is empty",
    "faults.csv line 3, email: 'no address'",
    "faults.csv line 3, balance_usd: must not be negative",
    "faults.csv line 3, suspended: must be yes or no, but is 'perhaps'",
    "faults.csv line 4, id: line 2 has the same",
    "faults.csv line 4, balance_usd: ",
    "faults.csv line 4, keys: has the key 'a' twice",
    "faults.csv line 4, key_monthly_limit_usd: must be above zero",
    "faults.csv line 4, key_addresses: ",
    "faults.csv line 5: has 2 cells, but the header has 8",
    "faults.csv line 6, key_monthly_limit_usd: is for keys, but the row names none",
    "Nothing was imported.",
  ]) {
    expect(err).toContain(fault);
  }
  expect(await lab.accounts()).toEqual(before);
});

test.each([
  ["name,e-mail", "line 1: 'e-mail' is no column"],
  ["name;email", "line 1: 'name;email' is no column"],
  ["name,name", "line 1: the column name is there twice"],
  ["email", "line 1: the column name is missing"],
  ["name", "has no customer below its header"],
  ['name\n"open', "line 2: a quote is never closed"],
])("the file %p is refused by its header or its form", (text, problem) => {
  expect(() => planCustomers(text, "a.csv")).toThrow(problem);
});

test("a file of a spreadsheet that is not UTF-8 is refused", async () => {
  const path = lab.path("latin.csv");
  writeFileSync(path, Buffer.from("name\nM\xfcller\n", "latin1"));
  expect((await run(path)).err).toContain("is not UTF-8");
});

test("rows without an id are known by their address, in any case, or by their name", () => {
  const { accounts } = planCustomers("\ufeffname,email\nAda,ADA@example.com\nBob,\n", "a.csv");
  expect(accounts.map(({ origin }) => origin)).toEqual([
    "customer:ada@example.com",
    "customer:Bob",
  ]);
  const twice = "name,email\nAda,ada@example.com\nEve,ADA@example.com\n";
  expect(() => planCustomers(twice, "a.csv")).toThrow("line 3, email: line 2 has the same");
});

test("no two accounts and keys of a file are taken for each other", () => {
  const text = "id,name,keys\na,Ada,b;b/key:c\na/key:b,Bob,c\n";
  const { accounts } = planCustomers(text, "a.csv");
  const origins = accounts.flatMap(({ origin, keys }) => [
    origin,
    ...keys.map((key) => key.origin),
  ]);
  expect(origins).toHaveLength(5);
  expect(new Set(origins).size).toBe(origins.length);
});

test("docs/migrating.md has every column with its meaning, and a file that is right", async () => {
  const page = await Bun.file("docs/migrating.md").text();
  for (const [column, about] of Object.entries(CUSTOMER_COLUMNS)) {
    expect(page.replaceAll(/ +/g, " ")).toContain(`| \`${column}\` | ${about} |`);
  }
  const [, example = ""] = /```csv\n([\s\S]*?)```/.exec(page) ?? [];
  const [ada, grace] = planCustomers(example, "a.csv").accounts;
  expect(ada).toMatchObject({ name: "Lovelace, Ada", balance: 25_000_000_000n });
  expect(ada?.keys.map(({ name }) => name)).toEqual(["web", "batch"]);
  expect(grace).toMatchObject({ origin: "customer:c-2", keys: [] });
});
