// Tests an import of one-api on SQLite and of new-api on Postgres: accounts, quotas, keys and
// models are carried over, and everything that cannot be stored here is named.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { planOneApi } from "../../../src/annexes/imports/one-api-plan.ts";
import { isWellFormedKey } from "../../../src/core/access/keys.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { jsonOf } from "../../support/product/run-cli.ts";
import { type ImportLab, openImportLab } from "./import-lab.ts";
import { NEW_API_POSTGRES, ONE_API_SQLITE } from "./one-api-tables.ts";

const KEYS = ["a", "b", "c", "d", "e", "f", "g"].map((letter) => `${letter.repeat(44)}0xyz`);

test("a key whose end is no date does not end the import", () => {
  for (const expired_time of ["9999999999999999", 1_893_456_000_000]) {
    const terms = { nowMs: Date.parse("2026-11-23"), contextLength: 8_192 };
    const { accounts, notes } = planOneApi(
      {
        product: "one-api",
        users: [{ id: 1, username: "ada", status: 1, quota: 1 }],
        tokens: [{ id: 1, user_id: 1, key: "k", status: 1, unlimited_quota: 1, expired_time }],
        channels: [],
        options: new Map(),
      },
      terms,
    );
    expect(accounts[0]?.keys).toHaveLength(1);
    expect(notes).toEqual([]);
  }
});

describe("one-api on SQLite", () => {
  let lab: ImportLab;
  let file: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
  let first: any;
  beforeAll(async () => {
    lab = await openImportLab();
    file = lab.path("one-api.db");
    fillOneApi(file);
    first = jsonOf(
      await lab.cli("import", "one-api", "--from", file, "--out", lab.folder, "--json"),
    );
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test("quotas become balances to the nano-USD, without any free credit for them", async () => {
    const accounts = await lab.accounts();
    expect(accounts.Ada).toMatchObject({ paid: "25", free: "0", email: "ada@example.com" });
    expect(accounts["小明 🦊"]).toMatchObject({ paid: "0.000002", free: "0", state: "active" });
    expect(first).toMatchObject({ accounts_created: 6, credited_usd: 26.000002 });
  });

  test("negative, too large, disabled or deleted rows are named and never guessed", async () => {
    const accounts = await lab.accounts();
    expect(accounts["Root User"]?.paid).toBe("0");
    expect(accounts["In Debt"]?.paid).toBe("0");
    expect(accounts.Disabled).toMatchObject({ paid: "1", state: "suspended" });
    expect(accounts.gone).toBeUndefined();
    expect(first.notes).toEqual(
      expect.arrayContaining([
        "user 1 'root': an administrator there, a customer like others here",
        "user 1 'root': a quota of 500000000000000 is not credited: too large",
        "user 4 'debtor': the quota is below zero (-$0.50); here the balance is $0.00",
        "user 5 'disabled': disabled there; suspended here",
        "user 6 'gone': deleted there, with a quota of 500000; left out",
        "user 7 'twin': an administrator there, a customer like others here",
        "ada@example.com: user:2, user:7 share it, and stay apart accounts",
        "group 'vip': its 1 users paid 0.5 times the prices; here once",
        "user 3 'xiaoming': the e-mail address '小明@@x' must be one plain address, such as " +
          "ada@example.org: the account has none",
      ]),
    );
  });

  test("keys are new ones with the old names, addresses and limits", async () => {
    const accounts = await lab.accounts();
    expect(accounts.Ada?.keys).toEqual([
      { name: "unlimited", limit: null, ips: ["10.0.0.0/8", "192.0.2.7"], models: ["gpt-test"] },
      { name: "ключ", limit: null, ips: [], ends: "2099-01-01", budgets: { total: "2.5" } },
    ]);
    const lines = lab.keyLines();
    expect(lines).toHaveLength(2);
    for (const [, key = ""] of lines) expect(isWellFormedKey("gateway", key)).toBe(true);
    expect(lines[0]?.slice(3)).toEqual(["Ada", "ada@example.com", "unlimited", "0xyz"]);
    expect(first.notes).toEqual(
      expect.arrayContaining([
        "token 3 'old' (…0xyz): expired there; no new key",
        "token 4 'off' (…0xyz): disabled there; no new key",
        "token 5 'bad net' (…0xyz): its addresses cannot be kept: 'my home' is neither an IP " +
          "address nor a CIDR block; no new key",
        "token 6 'empty' (…0xyz): its quota is used up; no new key",
        "token 7: its user 99 is gone; no new key",
      ]),
    );
    for (const key of KEYS) expect(JSON.stringify([lines, first.notes])).not.toContain(key);
  });

  test("channels and ratios become models that Farebox reads", async () => {
    const { providers, models } = lab.models();
    expect(providers).toEqual({
      Main: { base_url: "https://api.openai.com/v1", api_key_env: "MAIN_API_KEY" },
      "main-2": { base_url: "http://10.0.0.9:8000/v1" },
    });
    expect(models).toHaveLength(1);
    expect(models[0]).toMatchObject({
      id: "gpt-test",
      pricing: [{ input_usd_per_m: "2.5", output_usd_per_m: "10" }],
      routes: [
        { provider: "Main", model: "gpt-test-2026" },
        { provider: "main-2", model: "gpt-test" },
      ],
    });
    const text = JSON.stringify(lab.models());
    expect(() => parseCatalogue(text, { MAIN_API_KEY: "k" })).not.toThrow();
    expect(first.notes).toEqual(
      expect.arrayContaining([
        "channel 3 'claude': its type 14 does not speak OpenAI's protocol; left out",
        "channel 4 'off': disabled there; left out",
        "model 'no-price': its price is not in the option ModelRatio; left out",
        "model 'half-price': its output price is not in the option CompletionRatio; left out",
        "model '模型': such a name is not possible here; left out",
        "model 'gpt-test': its context length is not known; 128000 is assumed",
        "provider 'Main': put its API key into the variable MAIN_API_KEY",
      ]),
    );
  });

  test("a second run changes nothing, even if balances there changed", async () => {
    const before = [await lab.accounts(), lab.keyLines()];
    new Database(file).run("UPDATE users SET quota = quota + 5000000");
    const again = jsonOf(
      await lab.cli("import", "one-api", "--from", file, "--out", lab.folder, "--json"),
    );
    expect(again).toMatchObject({
      accounts_created: 0,
      accounts_known: 6,
      keys_issued: 0,
      keys_known: 2,
      credited_usd: 0,
    });
    expect([await lab.accounts(), lab.keyLines()]).toEqual(before);
    await lab.expectClean();
  });

  test("the same database under another name is another source", async () => {
    const args = ["--from", file, "--name", "second", "--dry-run", "--json"];
    const other = jsonOf(await lab.cli("import", "one-api", ...args));
    expect(other).toMatchObject({ dry_run: true, accounts_created: 6, keys_issued: 2 });
    expect(Object.keys(await lab.accounts())).toHaveLength(6);
  });
});

describe("new-api on Postgres", () => {
  let lab: ImportLab;
  beforeAll(async () => {
    lab = await openImportLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test("its own columns count: limits of models, addresses, soft deletion, bonus", async () => {
    const url = await lab.emptyDatabase();
    await fillNewApi(url);
    const args = ["--from", url, "--out", lab.folder, "--json"];
    const { notes, ...rest } = jsonOf(await lab.cli("import", "one-api", ...args));
    expect(rest).toMatchObject({ product: "new-api", accounts_created: 1, credited_usd: 4.294967 });
    const accounts = await lab.accounts();
    expect(accounts.Olá).toMatchObject({ paid: "4.294967" });
    expect(accounts.Olá?.keys).toEqual([
      { name: "main", limit: null, ips: ["2001:db8::/32"], models: ["m1", "m2"] },
    ]);
    expect(notes).toEqual(
      expect.arrayContaining([
        "user 1 'ola': an invitation bonus of 77 quota is left out",
        "user 2 'deleted': deleted there, with a quota of 1; left out",
        "token 1 'main' (…wxyz): its models m2 are allowed, but none of that name is imported",
        "token 1 'main' (…wxyz): of the group 'vip' there, which Farebox does not have",
        "model 'paid-by-call': it is paid by the call there; left out",
      ]),
    );
    expect(lab.models().models[0].pricing).toEqual([
      // 0.3572 of a million quota, of which a USD has a million there: rounded up, never down.
      {
        input_usd_per_m: "0.357201",
        output_usd_per_m: "1.071602",
        cached_input_usd_per_m: "0.035721",
      },
    ]);
    await lab.expectClean();
  });
});

test("two imports at once bring everything once, whichever of them wins", async () => {
  await using lab = await openImportLab();
  const file = lab.path("one-api.db");
  fillOneApi(file);
  const run = (folder: string) =>
    lab.cli("import", "one-api", "--from", file, "--out", lab.path(folder));
  const both = await Promise.all([run("one"), run("two")]);
  expect(both.some(({ code }) => code === 0)).toBe(true);
  for (const { code, err } of both) {
    if (code !== 0) expect(err).toContain("Another import is running: repeat this one after it");
  }
  const again = await lab.cli("import", "one-api", "--from", file, "--out", lab.folder, "--json");
  expect(jsonOf(again)).toMatchObject({ accounts_created: 0, keys_issued: 0, credited_usd: 0 });
  const accounts = await lab.accounts();
  expect(Object.keys(accounts)).toHaveLength(6);
  expect(accounts.Ada).toMatchObject({ paid: "25", keys: [{}, {}] });
  await lab.expectClean();
});

describe("a database that is not theirs", () => {
  let lab: ImportLab;
  beforeAll(async () => {
    lab = await openImportLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test("is refused in words, without its password, and nothing is written", async () => {
    const own = lab.world.databaseUrl;
    const notThere = new URL(own.replace(/\/[^/]*$/, "/nowhere"));
    notThere.password = "swordfish";
    const sqlite = lab.path("empty.db");
    new Database(sqlite).close();
    writeFileSync(lab.path("text.db"), "this is no database at all, only a text of some length");
    for (const [from, message] of [
      [own, "no database of one-api or new-api: it has no table users"],
      [sqlite, "no database of one-api or new-api: it has no table users"],
      [notThere.href, "cannot be read"],
      [lab.path("missing.db"), "There is no file"],
      [lab.path("text.db"), "cannot be read: file is not a database"],
      ["oracle://u:swordfish@db/x", "must begin with postgres:// or mysql://"],
      ["mysql://u:p@ss-swordfish@db:none/x", "is no URL"],
      ["root:swordfish@tcp(localhost:3306)/oneapi", "must begin with postgres:// or mysql://"],
      ["host=db user=u password=swordfish dbname=x", "must begin with postgres:// or mysql://"],
    ] as const) {
      const { code, err } = await lab.cli("import", "one-api", "--from", from, "--out", lab.folder);
      expect([from, code]).toEqual([from, 1]);
      expect(err).toContain(message);
      expect(err).not.toContain("swordfish");
    }
    expect(await Bun.file(join(lab.folder, "models.json")).exists()).toBe(false);
  });

  test("wrong options are named before anything is opened", async () => {
    for (const [args, message] of [
      [[], "needs --from URL"],
      [["--from", "x", "--scopes", "chat"], "--scopes must contain only"],
      [["--from", "x", "--context-length", "12"], "--context-length must be a whole number"],
      [["--from", "x", "--name", "a\nb"], "--name must have 1 to 64 characters"],
    ] as const) {
      const { code, err } = await lab.cli("import", "one-api", ...args);
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    }
  });
});

function fillOneApi(file: string): void {
  using db = new Database(file);
  db.exec(ONE_API_SQLITE);
  const user = db.query(
    "INSERT INTO users (id, username, password, display_name, role, status, email, quota, " +
      "`group`) VALUES (?, ?, 'x', ?, ?, ?, ?, ?, ?)",
  );
  user.run(1, "root", "Root User", 100, 1, "", 500_000_000_000_000, "default");
  user.run(2, "ada", "Ada", 1, 1, "ada@example.com", 12_500_000, "vip");
  user.run(3, "xiaoming", "小明 🦊", 1, 1, "小明@@x", 1, "default");
  user.run(4, "debtor", "In Debt", 1, 1, null, -250_000, "default");
  user.run(5, "disabled", "Disabled", 1, 2, "off@example.com", 500_000, "default");
  user.run(6, "gone", "Gone", 1, 3, "gone@example.com", 500_000, "default");
  user.run(7, "twin", "", 10, 1, "ADA@example.com", null, "default");
  const token = db.query(
    "INSERT INTO tokens (user_id, key, status, name, expired_time, remain_quota, " +
      "unlimited_quota, models, subnet) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const row = (...values: (string | number | null)[]) => token.run(...values);
  row(2, KEYS[0] ?? "", 1, "unlimited", -1, 0, 1, "gpt-test", "10.0.0.0/8, 192.0.2.7");
  row(2, KEYS[1] ?? "", 1, "ключ", 4_070_908_800, 1_250_000, 0, null, "");
  row(2, KEYS[2] ?? "", 1, "old", 1_600_000_000, 1, 0, null, "");
  row(2, KEYS[3] ?? "", 2, "off", -1, 1, 0, null, "");
  row(2, KEYS[4] ?? "", 1, "bad net", -1, 1, 0, null, "my home");
  row(3, KEYS[5] ?? "", 1, "empty", -1, 0, 0, null, null);
  row(99, KEYS[6] ?? "", 1, "orphan", -1, 1, 0, null, null);
  const channel = db.query(
    "INSERT INTO channels (type, key, status, name, base_url, models, model_mapping, priority) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  channel.run(50, "", 1, "main", "http://10.0.0.9:8000", "gpt-test,no-price", "", 0);
  const mapping = JSON.stringify({ "gpt-test": "gpt-test-2026" });
  channel.run(1, "sk-up", 1, "Main", null, "gpt-test,half-price,模型, gpt-test", mapping, 5);
  channel.run(14, "sk-up", 1, "claude", "", "claude", "{}", 0);
  channel.run(1, "sk-up", 2, "off", "", "gpt-test", "not json", 0);
  const option = db.query("INSERT INTO options VALUES (?, ?)");
  option.run("ModelRatio", '{"gpt-test": 1.25, "half-price": 1, "模型": 1, "constructor": 1}');
  option.run("CompletionRatio", '{"gpt-test": 4, "模型": 1}');
  option.run("GroupRatio", '{"default": 1, "vip": 0.5}');
}

async function fillNewApi(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(NEW_API_POSTGRES);
  await sql.unsafe(`
    INSERT INTO users (username, password, display_name, quota, aff_quota, deleted_at) VALUES
      ('ola', 'x', 'Olá', 4294967, 77, NULL), ('deleted', 'x', 'Deleted', 1, 0, now());
    INSERT INTO tokens (user_id, key, name, unlimited_quota, model_limits_enabled, model_limits,
        allow_ips, "group", deleted_at) VALUES
      (1, '${"k".repeat(44)}wxyz', 'main', true, true, 'm1,m2', E'2001:db8::/32\\n', 'vip', NULL),
      (1, '${"l".repeat(44)}wxyz', 'dropped', true, false, '', '', '', now());
    INSERT INTO channels (type, key, name, models) VALUES (43, 'sk', 'ds', 'm1,paid-by-call');
    INSERT INTO options VALUES ('QuotaPerUnit', '1000000'), ('ModelRatio', '{"m1": 0.3572005}'),
      ('CompletionRatio', '{"m1": 3}'), ('CacheRatio', '{"m1": 0.1}'),
      ('ModelPrice', '{"paid-by-call": 0.1}');`);
  await sql.end();
}
