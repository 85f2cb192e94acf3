import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { announceProcess, retractProcess } from "../../../actors/layout-upgrade.ts";
import { audit } from "../../../src/accounts/audit.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { auditDeps } from "../../support/stores/audit-lab.ts";
import {
  openPaymentLab,
  payer,
  SECRET_KEY,
  WEBHOOK_SECRET,
} from "../../support/stores/payment-lab.ts";
import { createTestDatabase } from "../../support/stores/services.ts";
import { DONE, hold, usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const folders = sharedFolder("backup");
const lab = await shared(openPaymentLab());
const cli = await cliOf(lab.world, {
  STRIPE_SECRET_KEY: SECRET_KEY,
  STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  STRIPE_API_BASE: lab.sandbox.url,
  STRIPE_RETURN_URL: "https://farebox.example/",
});

const folderOf = (name: string) => join(folders, name);

/** The JSON answer of a command that must succeed. */
async function run(...words: readonly string[]) {
  return jsonOf(await cli(...words, "--json"));
}

async function call(account: TestAccount, amount: string): Promise<void> {
  const { actor } = account;
  await actor.applyOperations();
  await (await hold(account, usd(amount))).settle(usd(amount), DONE);
}

async function paidOf(id: string): Promise<number> {
  return (await run("account", "show", id)).balance.paid_usd;
}

test("a restore goes back in time, loses no payment and names the rest", async () => {
  const holder = await payer(lab);
  await call(holder, "6");
  const folder = folderOf("whole");
  const made = await run("backup", folder);
  expect(made).toMatchObject({ folder, accounts: 1 });
  expect(await run("backup", "check", folder)).toMatchObject({ ok: true, problems: [] });

  await run("account", "adjust", holder.row.id, "--usd", "3", "--reason", "goodwill", "--id", "T1");
  const extra = await run("key", "create", holder.row.id, "--scopes", "models");
  await run("key", "revoke", holder.keyId);
  await lab.pay(holder, "7");
  const newcomer = await lab.account();
  await lab.pay(newcomer, "10");
  await lab.settle();
  const [first] = (await run("topup", "list", holder.row.id)).top_ups.slice(-1);
  await run("topup", "refund", first.id, "--usd", "5", "--id", "R1");
  await lab.settle();
  await call(newcomer, "2");

  const dry = await run("restore", folder, "--dry-run");
  expect(dry.lost).toMatchObject({
    accounts: [{ id: newcomer.row.id, surface: "gateway" }],
    revoked_keys: [{ id: holder.keyId, account: holder.row.id }],
    charged_usd: "2",
    states: [],
  });
  expect(dry.lost.keys.map(({ id }: { id: string }) => id)).toContain(extra.id);
  expect(dry.lost.operations).toContainEqual(
    expect.objectContaining({
      account: holder.row.id,
      kind: "adjustment",
      amount_usd: "3",
      reason: "goodwill",
      reference: "T1",
      provider: null,
    }),
  );
  expect(await paidOf(holder.row.id)).toBe(24);

  const done = await run("restore", folder, "--yes");
  expect(done).toMatchObject({ ok: true, problems: [], lost: dry.lost });
  const results = done.payments.map((one: { account: string; result: string }) => [
    one.account,
    one.result,
  ]);
  expect(results.toSorted()).toEqual(
    [
      [holder.row.id, "read"],
      [holder.row.id, "remade"],
      [newcomer.row.id, "account_remade"],
    ].toSorted(),
  );
  // Of $20, the account spent $1 before the backup besides the free credit; after the backup $5
  // were refunded and $7 paid.
  expect(await paidOf(holder.row.id)).toBe(21);
  expect(await paidOf(newcomer.row.id)).toBe(10);
  const { keys } = await run("account", "show", holder.row.id);
  expect(keys.find(({ id }: { id: string }) => id === holder.keyId).revoked_at).not.toBeNull();
  expect(await run("backup", "check")).toMatchObject({ ok: true, payments: 3 });
  expect((await audit(auditDeps(lab.world), null)).difference).toBeNull();
});

test("a restore into a new database gives no charges back", async () => {
  const holder = await payer(lab);
  await call(holder, "6");
  await run("backup", folderOf("moved"));
  await using created = await createTestDatabase();
  const moved = await cliOf(lab.world, { DATABASE_URL: created.url });
  const { lost } = jsonOf(await moved("restore", folderOf("moved"), "--dry-run", "--json"));
  expect(lost.charged_usd).toBe("0");
});

describe("a restore changes nothing", () => {
  test("without the option that confirms it, or with both options", async () => {
    for (const words of [["restore"], ["restore", "--yes", "--dry-run"]]) {
      const { code, err } = await cli(...words);
      expect([code, err]).toEqual([
        2,
        "'restore' needs either --dry-run, to see what is lost, or --yes\n",
      ]);
    }
  });

  test("while a process runs, and names it", async () => {
    const { redis } = lab.world;
    await announceProcess(redis, "proc_test");
    const { code, err } = await cli("restore", "--yes");
    await retractProcess(redis, "proc_test");
    expect([code, err]).toEqual([1, expect.stringContaining("These processes run: proc_test")]);
  });

  test("from a folder that is not a complete backup", async () => {
    const { code, err } = await cli("restore", folderOf("nowhere"), "--yes");
    expect([code, err]).toEqual([1, expect.stringContaining("is no complete backup")]);
  });

  test("from a backup of another release, and says which", async () => {
    const folder = folderOf("other-release");
    await run("backup", folder);
    changeManifest(folder, (manifest) => manifest.migrations.pop());
    const { code, err } = await cli("restore", folder, "--yes");
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("The backup was made by release 0.1.0"),
    ]);
  });

  test("from a file that was changed; the check names the table", async () => {
    const folder = folderOf("changed");
    await run("backup", folder);
    const file = join(folder, "accounts.copy.gz");
    writeFileSync(file, readFileSync(file).subarray(0, -20));
    for (const words of [
      ["backup", "check", folder],
      ["restore", folder, "--yes"],
    ]) {
      const { code, err } = await cli(...words);
      expect([code, err]).toEqual([
        1,
        expect.stringContaining("the file of accounts cannot be read"),
      ]);
    }
  });

  test("from rows that Postgres refuses, halfway through", async () => {
    const account = await payer(lab);
    const folder = folderOf("refused");
    await run("backup", folder);
    const rows = Buffer.from("not a row of payments\n");
    writeFileSync(join(folder, "payments.copy.gz"), gzipSync(rows));
    changeManifest(folder, ({ tables }) => {
      const sha256 = new Bun.CryptoHasher("sha256").update(rows).digest("hex");
      tables.payments = { ...tables.payments, sha256, rows: 1 };
    });
    const { code, err } = await cli("restore", folder, "--yes");
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("The rows of payments do not fit; the log of Postgres says why."),
    ]);
    expect(await paidOf(account.row.id)).toBe(20);
  });
});

test("a folder that is not empty gets no backup", async () => {
  writeFileSync(folderOf("something"), "");
  const { code, err } = await cli("backup", folders);
  expect([code, err]).toEqual([1, expect.stringContaining("is not empty: name a new folder")]);
});

test("of backups into one folder at the same time, only one is made", async () => {
  const folder = folderOf("wanted-by-many");
  const made = await Promise.all([1, 2, 3].map(() => cli("backup", folder)));
  expect(made.map(({ code }) => code).toSorted()).toEqual([0, 1, 1]);
  expect((await cli("backup", "check", folder)).code).toBe(0);
});

test("without a folder, a restore names the records that only Redis has", async () => {
  const account = await payer(lab);
  await account.actor.state();
  const { sql } = lab.world.database;
  // As a Postgres restored to the time before the credit would have it.
  await lab.world.flush();
  const [gone] = await sql`
    SELECT a.number FROM accounts a WHERE a.id = ${account.row.id}`;
  await sql`ALTER TABLE ledger_entries DISABLE TRIGGER ledger_append_only`;
  await sql`DELETE FROM ledger_entries WHERE account = ${gone?.number} AND operation = 2`;
  await sql`ALTER TABLE ledger_entries ENABLE TRIGGER ledger_append_only`;
  await sql`UPDATE top_ups SET status = 'open', payment = NULL, applied_read = 0
    WHERE account = ${gone?.number}`;
  await sql`DELETE FROM operations WHERE account = ${gone?.number} AND number = 2`;
  await sql`DELETE FROM payments WHERE account = ${gone?.number}`;
  const { lost } = await run("restore", "--dry-run");
  expect(lost.wallets_ahead).toEqual([
    expect.objectContaining({
      account: account.row.id,
      operations: 1,
      paid_usd: "20",
      free_usd: "5",
      lost: [expect.objectContaining({ kind: "credit", amount_usd: "20" })],
    }),
  ]);
  const done = await run("restore", "--yes");
  expect(done.problems).toEqual([]);
  expect(await paidOf(account.row.id)).toBe(20);
});

interface AnyManifest {
  readonly migrations: string[];
  readonly tables: Record<string, object>;
}

function changeManifest(folder: string, change: (manifest: AnyManifest) => unknown): void {
  const file = join(folder, "manifest.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  change(manifest);
  writeFileSync(file, JSON.stringify(manifest));
}
