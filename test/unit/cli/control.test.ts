// Tests the commands about runs and burn-rate rules, and the month for FinOps tools: the next call
// counts by each change, and the activity of the account names it.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monthText } from "../../../src/core/money/months.ts";
import { focusRows } from "../../support/focus-rows.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import { act } from "../../support/stores/burn-lab.ts";
import { DONE, hold, openAccount, openWorld, usd, verdict } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const folder = sharedFolder("control");

const RUN = "nightly-7";
/** A call of a run, which it begins if it is the first one. */
const run = { id: RUN, step: "plan", max: usd("2"), seconds: 3_600 };

/** The operator's changes of an account in words, oldest first. */
async function linesOf(account: string): Promise<string[]> {
  const { entries } = jsonOf(await cli("account", "activity", account, "--json"));
  const lines = (entries as Record<"actor" | "action" | "about", string>[]).map(
    ({ actor, action, about }) => `${actor} ${action} ${about}`,
  );
  return lines.reverse();
}

test("run list and run show tell the budget of a run, and what its calls cost", async () => {
  const account = await openAccount(world, { paid: "20" });
  const { id, keyId } = account;
  expect((await cli("run", "list", id)).out).toBe("No runs.\n");
  await (await hold(account, usd("0.5"), { run })).settle(usd("0.25"), DONE);
  const open = await hold(account, usd("0.5"), { run });
  await world.flush();
  const use = { max_usd: "2", spent_usd: "0.25", held_usd: "0.5", left_usd: "1.25" };
  const line = { id: RUN, state: "active", ...use, key: { id: keyId, name: "test key" } };
  const list = jsonOf(await cli("run", "list", id, "--json"));
  expect(list).toMatchObject({ runs: [line], next: null });
  expect((await cli("run", "list", id)).out).toMatch(
    /^nightly-7 {2}active {2}\$0\.25 of \$2 {2}left \$1\.25 {2}ends 20\S+Z {2}test key\n$/,
  );
  const sums = { calls: 1, refused: 0, cost_usd: "0.25" };
  expect(jsonOf(await cli("run", "show", id, RUN, "--json"))).toMatchObject({
    ...line,
    services: [{ service: "chat", ...sums }],
    models: [{ service: "chat", model: "m", ...sums }],
    steps: [{ step: "plan", ...sums }],
  });
  const { out } = await cli("run", "show", id, RUN);
  expect(out).toMatch(/^held +\$0\.5$/m);
  expect(out).toEndWith("\n\nby step\n  plan  1 calls  0 refused  $0.25\n");
  await open.release(DONE);
});

test("run change pauses, resumes, lowers, raises and prolongs a run", async () => {
  const account = await openAccount(world, { paid: "20" });
  const { id } = account;
  await (await hold(account, usd("0.5"), { run })).settle(usd("0.5"), DONE);
  const change = (...words: string[]) => cli("run", "change", id, RUN, ...words);
  const paused = jsonOf(await change("--pause", "--json"));
  expect(paused).toMatchObject({ id: RUN, state: "paused", spent_usd: "0.5" });
  expect(await verdict(account, usd("0.1"), { run })).toBe("run_paused");
  expect((await change("--resume", "--usd", "0.6")).out).toMatch(/^left +\$0\.1$/m);
  expect(await verdict(account, usd("0.1"), { run })).toBe("admitted");
  expect(await verdict(account, usd("0.2"), { run })).toBe("run_budget_exceeded");
  const raised = jsonOf(await change("--usd", "5", "--ttl", "7200", "--json"));
  expect(raised).toMatchObject({ state: "active", max_usd: "5", left_usd: "4.5" });
  const lastsMs = Date.parse(raised.ends_at) - Date.parse(raised.created_at);
  expect(lastsMs).toBeGreaterThanOrEqual(7_200_000);
  expect(await verdict(account, usd("4.5"), { run })).toBe("admitted");
  expect(await linesOf(id)).toEqual([
    `operator run_changed run ${RUN}: paused`,
    `operator run_changed run ${RUN}: resumed, $0.6`,
    `operator run_changed run ${RUN}: $5, 7200 s from now`,
  ]);
});

test("run commands refuse impossible values and unknown runs, and change nothing", async () => {
  const { id } = await openAccount(world);
  for (const [words, message] of [
    [[], "--pause, --resume, --usd or --ttl is needed"],
    [["--pause", "--resume"], "--pause and --resume exclude each other"],
    [["--ttl", "59"], "--ttl must be a number from 60 to 2592000"],
    [["--ttl", "1h"], "--ttl must be a number from 60 to 2592000"],
    [["--usd", "many"], "--usd: 'many' is not a decimal"],
  ] as const) {
    const { code, err } = await cli("run", "change", id, RUN, ...words);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  }
  for (const words of [
    ["run", "show", id, RUN],
    ["run", "change", id, RUN, "--pause"],
  ]) {
    const { code, err } = await cli(...words);
    expect([code, err]).toEqual([1, "There is no such run\n"]);
  }
  expect(await linesOf(id)).toEqual([]);
});

test("burn-rule add, list and remove keep the rules of an account", async () => {
  const { id, keyId } = await openAccount(world);
  expect((await cli("burn-rule", "list", id)).out).toBe("No burn-rate rules.\n");
  const slow = ["--action", "slow", "--requests", "2", "--minutes", "30", "--key", keyId];
  const terms = ["--above", "5", "--times", "3", ...slow, "--json"];
  const { account, rule } = jsonOf(await cli("burn-rule", "add", id, ...terms));
  expect(account).toBe(id);
  const each = await cli("burn-rule", "add", id, "--above", "9", "--action", "alert");
  expect(each.out).toMatch(/^Rule \d+: each key: \$9 in five minutes: alert\.\n$/);
  const own = { number: rule, key: keyId, above_usd: "5", times_usual: 3, action: "slow" };
  const other = { key: null, above_usd: "9", times_usual: null, action: "alert", minutes: null };
  expect(jsonOf(await cli("burn-rule", "list", id, "--json"))).toMatchObject({
    rules: [{ ...own, requests_per_minute: 2, minutes: 30 }, other],
    lasting: [],
  });
  const [head = "", ...rows] = (await cli("burn-rule", "list", id)).out.trimEnd().split("\n");
  expect(head.split(/ {2,}/)).toEqual([
    "rule",
    "key",
    "above",
    "usual",
    "action",
    "requests",
    "ends",
  ]);
  expect(rows.map((row) => row.split(/ {2,}/).slice(1))).toEqual([
    [keyId, "$5", "3 times", "slow", "2/min", "30 min"],
    ["each key", "$9", "-", "alert", "-", "-"],
  ]);
  const remove = () => cli("burn-rule", "remove", id, String(rule));
  expect((await remove()).out).toBe(`Rule ${rule} is removed.\n`);
  const again = await remove();
  expect([again.code, again.err]).toEqual([1, `The account has no burn-rate rule ${rule}\n`]);
  expect(jsonOf(await cli("burn-rule", "list", id, "--json")).rules).toMatchObject([other]);
  expect(await linesOf(id)).toEqual([
    "operator burn_rule_added test key: $5 and 3 times the usual in five minutes: 2 requests a " +
      "minute for 30 min",
    "operator burn_rule_added each key: $9 in five minutes: alert",
    `operator burn_rule_removed rule ${rule}`,
  ]);
});

test("burn-rule commands refuse impossible terms by the name of the option", async () => {
  const [{ id }, other] = [await openAccount(world), await openAccount(world)];
  const above = ["--above", "5", "--action"];
  for (const [words, code, message] of [
    [["--action", "alert"], 2, "needs --above N"],
    [[...above, "stop"], 2, "--action must be one of alert, slow, pause"],
    [[...above, "slow", "--minutes", "30"], 2, "--requests is needed by a rule that slows down"],
    [[...above, "pause"], 2, "--minutes is needed by this action"],
    [[...above, "alert", "--minutes", "30"], 2, "--minutes is only for 'slow' and 'pause'"],
    [[...above, "pause", "--minutes", "4"], 2, "--minutes must be a whole number from 5 to"],
    [[...above, "alert", "--times", "1"], 2, "--times must be a whole number from 2 to 1000"],
    [["--above", "0.001", "--times", "2", "--action", "alert"], 2, "--above must be at least 0.01"],
    [[...above, "alert", "--key", other.keyId], 1, `There is no key ${other.keyId}`],
  ] as const) {
    const refused = await cli("burn-rule", "add", id, ...words);
    expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(message)]);
  }
  const { code, err } = await cli("burn-rule", "remove", id, "first");
  expect([code, err]).toEqual([2, "'first' is not a rule's number\n"]);
  expect(jsonOf(await cli("burn-rule", "list", id, "--json")).rules).toEqual([]);
});

test("burn-rule alarms names what a rule did to a key, and key resume ends it", async () => {
  const [account, other] = [await openAccount(world, { paid: "20" }), await openAccount(world)];
  const { id, keyId } = account;
  expect((await cli("burn-rule", "alarms", id)).out).toBe("No alarms.\n");
  await act(world, account);
  expect(await verdict(account, usd("0.1"))).toBe("key_paused");
  const alarms = async () => jsonOf(await cli("burn-rule", "alarms", id, "--json")).alarms;
  const alarm = { key: { id: keyId, name: "test key" }, spent_usd: "2", threshold_usd: "1" };
  expect(await alarms()).toMatchObject([{ ...alarm, action: "pause", ended_at: null }]);
  expect((await cli("burn-rule", "alarms", id)).out).toMatch(
    /^20\S+Z {2}test key {2}\$2 of \$1 {2}pause {2}until 20\S+Z\n$/,
  );
  expect(jsonOf(await cli("burn-rule", "list", id, "--json")).lasting).toMatchObject([alarm]);
  const foreign = await cli("key", "resume", id, other.keyId);
  expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining("There is no key")]);
  expect(await verdict(account, usd("0.1"))).toBe("key_paused");
  const resumed = jsonOf(await cli("key", "resume", id, keyId, "--json"));
  expect(resumed).toEqual({ key: keyId, applied: true });
  expect(await verdict(account, usd("0.1"))).toBe("admitted");
  expect(await alarms()).toMatchObject([{ ...alarm, ended_at: expect.stringMatching(/^20/) }]);
  const again = await cli("key", "resume", id, keyId);
  const words = "No burn-rate rule slows or pauses this key\n";
  expect([again.code, again.err]).toEqual([1, words]);
  expect(await linesOf(id)).toEqual(["operator key_resumed test key"]);
});

test("usage focus writes what the calls of a month cost, the latest too", async () => {
  const configuration = join(folder, "farebox.json");
  writeFileSync(configuration, '{"brand":{"name":"Shop"},"providers":{},"models":[]}');
  const branded = await cliOf(world, { FAREBOX_CONFIG: configuration });
  const account = await openAccount(world, { paid: "20", free: "0" });
  const { id, keyId } = account;
  await (await hold(account, usd("0.5"))).settle(usd("0.25"), DONE);
  const month = monthText(Date.now());
  const file = join(folder, "focus.csv");
  const words = ["usage", "focus", id, "--month", month, "--out", file];
  expect(jsonOf(await branded(...words, "--json"))).toEqual({ id, month, rows: 1, file });
  expect(focusRows(readFileSync(file, "utf8"))).toMatchObject([
    { BilledCost: "0.25", BillingAccountId: id, SubAccountId: keyId, ProviderName: "Shop" },
  ]);
  expect((await branded(...words)).out).toBe(`Wrote 1 row to ${file}.\n`);
});

test("usage focus refuses a month that is none, or has not begun", async () => {
  const { id } = await openAccount(world);
  const out = ["--out", join(folder, "never.csv")];
  for (const [words, message] of [
    [out, "needs --month MONTH"],
    [["--month", "2026-13", ...out], "--month must be a month such as 2026-11, but is '2026-13'"],
    [["--month", "9999-12", ...out], "--month 9999-12 has not begun"],
    [["--month", "2026-11", "--json"], "--json needs --out"],
  ] as const) {
    const { code, err, out: said } = await cli("usage", "focus", id, ...words);
    expect([code, `${err}${said}`]).toEqual([2, expect.stringContaining(message)]);
  }
});
