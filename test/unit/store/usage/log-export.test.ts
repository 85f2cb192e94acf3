import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metadataText } from "../../../../src/core/journal/journal.ts";
import { csvLine } from "../../../../src/core/text/csv.ts";
import { openDatabase } from "../../../../src/store/servers/database.ts";
import {
  exportCalls,
  exportLog,
  OPERATOR_HEADINGS,
} from "../../../../src/store/usage/log-export.ts";
import { ALL_CALLS } from "../../../../src/store/usage/log-filter.ts";
import { cliProcessOf, jsonOf, startCli } from "../../../support/product/run-cli.ts";
import { atEnd, shared } from "../../../support/shared.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { ASKED, DONE, hold, openAccount, openWorld, usd } from "../../../support/stores/world.ts";

const folder = mkdtempSync(join(tmpdir(), "farebox-export-"));
atEnd(() => rmSync(folder, { recursive: true, force: true }));
const world = await shared(openWorld());
const cli = cliProcessOf(world);

async function exported(account: TestAccount, from: Date, to: Date): Promise<string[]> {
  let csv = "";
  const range = { account: account.row.number, from, to };
  for await (const page of exportLog(world.database, range)) csv += page.csv;
  expect(csv).toEndWith("\r\n");
  return csv.slice(0, -2).split("\r\n");
}

const ALWAYS = [new Date("2020-01-01"), new Date("2100-01-01")] as const;

test("csvLine() quotes text, leaves numbers bare and defuses formulas", () => {
  expect(csvLine(["a", 1, null, { decimal: "0.0000001" }, 'b"c,d'])).toBe(
    '"a",1,,0.0000001,"b""c,d"\r\n',
  );
  for (const start of ["=", "+", "-", "@", "\t", "\r"]) {
    expect(csvLine([`${start}SUM(A1)`])).toBe(`"'${start}SUM(A1)"\r\n`);
  }
  expect(csvLine(["a=b", "", "ä;'"])).toBe(`"a=b","","ä;'"\r\n`);
});

test("each call is one row in the columns' order, with its exact cost and UTC time", async () => {
  const account = await openAccount(world, { paid: "20" });
  const open = await hold(account, usd("0.00002"));
  await open.settle(usd("0.000000001"), { ...DONE, firstTokenMs: 7, promptTokens: 11 });
  await world.flush();
  const [header, row, ...rest] = await exported(account, ...ALWAYS);
  expect(header).toBe(OPERATOR_HEADINGS.map((name) => `"${name}"`).join(","));
  expect(rest).toEqual([]);
  expect(row).toMatch(
    new RegExp(
      `^"20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z","${open.id}","${account.keyId}",` +
        '"test key","/v1/chat/completions","models","m",200,,12,7,11,0,4,1,0.000000001,"DE",' +
        '"0011223344556677",,0.00002,0.000000001,[^,]*,,,,,,,,,,,,,,,$',
    ),
  );
});

test("a key whose name is a formula cannot run in a spreadsheet", async () => {
  const account = await openAccount(world);
  const name = '=HYPERLINK("http://evil.test","x")';
  const terms = { name, scopes: ["models"], ipAllowlist: [], monthlyLimit: null } as const;
  const key = await world.store.createKey(account.row, terms);
  await account.actor.configure();
  await (await hold({ ...account, keyId: key.id }, usd("0.001"))).release(DONE);
  await world.flush();
  const [, row] = await exported(account, ...ALWAYS);
  expect(row).toContain(`,"'=HYPERLINK(""http://evil.test"",""x"")",`);
});

test("a summary row stands for many refused requests and has no request id", async () => {
  const account = await openAccount(world);
  const minute = Math.floor(Date.now() / 60_000) - 2;
  const { refused } = account.actor.keys;
  await account.actor.applyOperations();
  const field = `${account.row.id}|${account.keyId}|${minute}`;
  await world.redis.hset(refused, field, 137, `${field}|metadata`, metadataText(ASKED));
  const { sweepExpired } = await import("../../../../workers/sweep.ts");
  expect(await sweepExpired({ scripts: world.accounts.scripts })).toMatchObject({ summaries: 1 });
  await world.flush();
  const [, row] = await exported(account, ...ALWAYS);
  expect(row).toContain(`00.000Z",,"${account.keyId}","test key"`);
  expect(row).toContain('"m",429,"refused_summary",0,,0,0,0,37,0,');
});

test("only that account's rows of that time, in order, over many pages", async () => {
  const account = await openAccount(world, { paid: "5" });
  const other = await openAccount(world, { paid: "5" });
  for (const each of [account, other]) await (await hold(each, usd("1"))).release(DONE);
  await world.flush();
  const { number } = account.row;
  await world.database.sql`SELECT ensure_request_log_partition('2026-01-01')`;
  await world.database.sql`SELECT ensure_request_log_partition('2026-02-01')`;
  await world.database.sql`
    INSERT INTO request_log SELECT '2026-01-31T23:00Z'::timestamptz + n * interval '1 second',
      ${number}, (SELECT min(number) FROM keys WHERE account = ${number}), gen_random_uuid(), 1, 1,
      NULL, 1, 0, 1, 1, 200, '/v1/me', 'account', NULL, NULL, NULL, NULL
    FROM generate_series(0, 7199) n`;
  const [, ...rows] = await exported(
    account,
    new Date("2026-01-31T23:30:00Z"),
    new Date("2026-02-01T00:30:00Z"),
  );
  expect(rows.length).toBe(3_600);
  const times = rows.map((row) => row.slice(1, 25));
  expect(times).toEqual([...times].sort());
  expect([times[0], times.at(-1)]).toEqual([
    "2026-01-31T23:30:00.000Z",
    "2026-02-01T00:29:59.000Z",
  ]);
});

test("an export that is not read to its end keeps no connection of the pool", async () => {
  const account = await openAccount(world);
  const { number } = account.row;
  await world.database.sql`SELECT ensure_request_log_partition('2026-03-01')`;
  // Many calls of one moment, so that a page ends among them.
  await world.database.sql`
    INSERT INTO request_log SELECT '2026-03-01T00:00Z'::timestamptz, ${number},
      (SELECT min(number) FROM keys WHERE account = ${number}), gen_random_uuid(), 1, 1, NULL,
      1, 0, 1, 1, 200, '/v1/me', 'account', NULL, NULL, NULL, NULL
    FROM generate_series(1, 2500) n`;
  const database = openDatabase(world.databaseUrl, { connectionsMax: 1 });
  await using _ = { [Symbol.asyncDispose]: () => database.close() };
  const pages = exportCalls(database, number, ALL_CALLS);
  const header = await pages.next();
  const first = await pages.next();
  expect([header.value?.rows, first.value?.rows]).toEqual([0, 1_000]);
  await database.ping();
  const seen = new Set(linesIn(first.value?.csv ?? ""));
  for await (const { csv } of pages) for (const line of linesIn(csv)) seen.add(line);
  expect(seen.size).toBe(2_500);
});

function linesIn(csv: string): string[] {
  return csv.slice(0, -2).split("\r\n");
}

test("the command writes calls of a moment ago, to stdout or into a file", async () => {
  const account = await openAccount(world, { paid: "5" });
  await (await hold(account, usd("1"))).settle(usd("0.25"), DONE);
  const words = ["log", "export", account.row.id, "--from", "2026-01-01", "--to", "2100-01-01"];
  const direct = await cli(...words);
  expect(direct).toMatchObject({ code: 0, err: "" });
  expect(direct.out.split("\r\n").length).toBe(3);
  expect(direct.out).toContain(",0.25,");
  const inFolder = cliProcessOf(world, { cwd: folder });
  const answer = jsonOf(await inFolder(...words, "--out", "log.csv", "--json"));
  expect(answer).toMatchObject({ id: account.row.id, rows: 1, file: "log.csv" });
  expect(readFileSync(join(folder, "log.csv"), "utf8")).toBe(direct.out);
  expect(readdirSync(folder)).toEqual(["log.csv"]);
  const unwritable = await inFolder(...words, "--out", "missing/log.csv");
  expect([unwritable.code, unwritable.err]).toEqual([
    2,
    expect.stringContaining("'missing/log.csv' cannot be written (ENOENT)"),
  ]);
});

test("a reader of stdout that closes early ends the export quietly", async () => {
  const account = await openAccount(world);
  const { number } = account.row;
  await world.database.sql`SELECT ensure_request_log_partition('2026-03-01')`;
  await world.database.sql`
    INSERT INTO request_log SELECT '2026-03-01T00:00Z'::timestamptz + n * interval '1 ms',
      ${number}, (SELECT min(number) FROM keys WHERE account = ${number}), gen_random_uuid(), 1, 1,
      NULL, 1, 0, 1, 1, 200, '/v1/me', 'account', NULL, NULL, NULL, NULL
    FROM generate_series(1, 50000) n`;
  const words = ["log", "export", account.row.id, "--from", "2026-03-01", "--to", "2026-04-01"];
  const child = await startCli(world, words);
  const reader = child.stdout.getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
  expect(await new Response(child.stderr).text()).toBe("");
  expect(await child.exited).toBe(0);
});
