// Tests that the command line reads the data of the pages.

import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSink } from "../../../src/cli/sink.ts";
import { cliOf, environmentOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import { DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const exports = sharedFolder("exports");

test("usage, log, receipt, ledger and overview of an account", async () => {
  const account = await openAccount(world, { paid: "20" });
  const { id } = account.row;
  const open = await hold(account, usd("1"));
  await open.settle(usd("0.25"), DONE);
  await world.flush();
  const day = new Date().toISOString().slice(0, 10);
  const range = ["--from", day, "--to", new Date(Date.parse(day) + 86_400_000).toISOString()];
  const used = jsonOf(await cli("usage", "show", id, ...range, "--json"));
  expect(used).toMatchObject({ total: { calls: 1, cost_usd: "0.25" } });
  const lines = (await cli("usage", "show", id, ...range)).out.trim().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain('"chat","Chat",1,0,');
  const listed = jsonOf(await cli("request", "list", id, "--json"));
  expect(listed).toMatchObject({ requests: [{ id: open.id, cost_usd: "0.25" }] });
  const shown = jsonOf(await cli("request", "show", id, open.id, "--json"));
  expect(shown).toMatchObject({ held_usd: "1", charged_usd: "0.25", returned_usd: "0.75" });
  expect((await cli("request", "show", id, open.id)).out).toMatch(/charged +\$0\.25/);
  const booked = jsonOf(await cli("account", "ledger", id, "--json"));
  expect(booked).toMatchObject({ entries: [{ kind: "charge", request_id: open.id }, {}, {}] });
  expect((await cli("account", "ledger", id)).out).toMatch(/charge +-\$0\.25 /);
  expect((await cli("account", "overview", id)).out).toMatch(/\$0\.25 of \$100\n/);
  const seen = jsonOf(await cli("account", "overview", id, "--json"));
  expect(seen).toMatchObject({ today: { calls: 1, cost_usd: "0.25" } });
  const unknown = await cli("usage", "repair", "acct_0000000000000000000000");
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("There is no account")]);
  const folder = await cli("log", "export", id, ...range, "--out", "/no/such/folder.csv");
  const named = "--out: '/no/such/folder.csv' cannot be written (ENOENT): is its folder there?\n";
  expect([folder.code, folder.err]).toEqual([2, named]);
  const wrong = await cli("usage", "show", id, ...range, "--zone", "Nowhere/Town");
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("zone must be")]);
  const old = await cli("usage", "show", id, ...range, "--step", "1d", "--zone", "US/Pacific-New");
  expect([old.code, old.err]).toEqual([1, expect.stringContaining("zone must be")]);
});

test("two commands that export a log to one file at once each write it whole", async () => {
  const { id } = (await openAccount(world, { paid: "20" })).row;
  const file = join(exports, "month.csv");
  const command = ["log", "export", id, "--from", "2026-11-01", "--to", "2026-12-01"];
  const other = await openSink(file);
  await other.write("rows of the other command\n");
  expect((await cli(...command, "--out", file)).code).toBe(0);
  expect(readFileSync(file, "utf8")).toMatch(/^"?time/);
  await other.finish();
  await other.close();
  expect([readFileSync(file, "utf8"), readdirSync(exports)]).toEqual([
    "rows of the other command\n",
    ["month.csv"],
  ]);
});

test("the leftovers of a killed export are removed by a later one, and nothing else", async () => {
  const { id } = (await openAccount(world, { paid: "20" })).row;
  const command = ["log", "export", id, "--from", "2026-11-01", "--to", "2026-12-01"];
  const old = new Date(Date.now() - 2 * 3_600_000);
  const names = ["killed.csv.part-1", "other.csv.part-1", "killed.csv.part-two"];
  for (const name of names) {
    writeFileSync(join(exports, name), "half of a row");
    utimesSync(join(exports, name), old, old);
  }
  writeFileSync(join(exports, "killed.csv.part-2"), "another runs");
  expect((await cli(...command, "--out", join(exports, "killed.csv"))).code).toBe(0);
  const left = readdirSync(exports).filter((name) => name !== "month.csv");
  expect(left.sort()).toEqual([
    "killed.csv",
    "killed.csv.part-2",
    "killed.csv.part-two",
    "other.csv.part-1",
  ]);
});

test("the margin of a month, for people, as CSV and as JSON", async () => {
  const account = await openAccount(world, { paid: "20" });
  const open = await hold(account, usd("1"));
  const lane = "cheap";
  await open.settle(usd("0.3"), { ...DONE, lane, upstreamCost: usd("0.12") });
  const json = jsonOf(await cli("report", "margin", "--json"));
  expect(json).toMatchObject({ month: new Date().toISOString().slice(0, 7), by: "route" });
  const row = {
    service: "models",
    model: "m",
    route: lane,
    day: null,
    calls: 1,
    charged_usd: "0.3",
    free_usd: "0.3",
    known_calls: 1,
    known_charged_usd: "0.3",
    upstream_usd: "0.12",
    margin_usd: "0.18",
    margin_percent: "60.00",
    unknown_charged_usd: "0",
    provider_calls: 0,
    provider_usd: "0",
    local_usd: "0.12",
  };
  expect(json.rows).toContainEqual(row);
  const { out } = await cli("report", "margin", "--csv");
  expect(out).toContain('"models","m","cheap",,1,0.3,0.3,1,0.3,0.12,0.18,60.00,0,0,0,0.12\n');
  const shown = await cli("report", "margin", "--by", "model");
  expect(shown.out).toMatch(/models +m +\d+ +\$0\.\d+ +\$0\.12 +\$0 +\$0\.18 +60\.00%/);
  const wrong = await cli("report", "margin", "--month", "2026-13");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("--month must be a month")]);
});

test.skipIf(!existsSync("/dev/full"))(
  "output that a full disk does not take is no success",
  async () => {
    const { id } = (await openAccount(world, { paid: "20" })).row;
    const month = ["--from", "2026-11-01", "--to", "2026-12-01"];
    for (const command of [
      ["account", "show", id],
      ["log", "export", id, ...month],
    ]) {
      const child = Bun.spawn([process.execPath, "src/cli/main.ts", ...command], {
        cwd: join(import.meta.dir, "../../.."),
        env: { PATH: process.env.PATH ?? "", ...(await environmentOf(world)) },
        stdio: ["ignore", Bun.file("/dev/full"), "pipe"],
      });
      const [code, err] = await Promise.all([child.exited, new Response(child.stderr).text()]);
      expect([command, code, err]).toEqual([command, 1, expect.stringContaining("ENOSPC")]);
    }
  },
);

test("a reader that stops reading ends a command in order", async () => {
  const { id } = (await openAccount(world, { paid: "20" })).row;
  const child = Bun.spawn(
    ["sh", "-c", '"$0" src/cli/main.ts account show "$1" | true', process.execPath, id],
    {
      cwd: join(import.meta.dir, "../../.."),
      env: { PATH: process.env.PATH ?? "", ...(await environmentOf(world)) },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
});
