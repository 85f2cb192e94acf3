// Tests keys and limits by the command line, which shows the data of the console's pages.

import { expect, test } from "bun:test";
import { cliOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import {
  ask,
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
  verdict,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

test("key list and account limits show the use of a key, and key rename its name", async () => {
  const account = await openAccount(world, { paid: "5", monthlyLimit: "2" });
  const { row, keyId } = account;
  const open = await hold(account, usd("0.5"));
  await open.settle(usd("0.000000001"), DONE);
  const named = await cli("key", "rename", row.id, keyId, "--name", " laptop ");
  expect(named.out).toBe(`Key ${keyId} is called 'laptop'.\n`);
  const list = await cli("key", "list", row.id, "--json");
  expect(JSON.parse(list.out)).toMatchObject({
    account: row.id,
    keys: [{ id: keyId, name: "laptop", monthly_limit_usd: 2, month_spent_usd: 1e-9 }],
  });
  const text = await cli("key", "list", row.id);
  expect(text.out).toContain("$0.000000001 of $2 this month");
  const limits = await cli("account", "limits", row.id);
  expect(limits.out).toContain("limited by the balance");
  expect(limits.out).toMatch(/laptop {2}1 of 60 requests a minute\n/);
  const json = await cli("account", "limits", row.id, "--json");
  expect(JSON.parse(json.out)).toMatchObject({
    tier: "starter",
    binds: "balance",
    open_calls: 0,
    mail: null,
    keys: [{ id: keyId, requests: 1 }],
  });
});

test("account limits shows what a key used of its own limits, and what is left", async () => {
  const { row, keyId, actor } = await openAccount(world, { paid: "50", tokensPerDay: 100_000 });
  await actor.admit(ask(keyId, usd("0.5"), { tokens: 40_000 }));
  const { out } = await cli("account", "limits", row.id);
  expect(out).toMatch(/ 40000 of 100000 tokens a day +60000 left +all of it from 20\S+T00:00:00/);
  expect(out).not.toContain("tokens a minute");
  const json = JSON.parse((await cli("account", "limits", row.id, "--json")).out);
  expect(json.keys).toMatchObject([
    { id: keyId, requests_day: null, tokens_day: { used: 40_000, most: 100_000, left: 60_000 } },
  ]);
});

test("key rename reports a key of another account as missing", async () => {
  const [mine, other] = [await openAccount(world), await openAccount(world)];
  const { code, err } = await cli("key", "rename", mine.row.id, other.keyId, "--name", "mine");
  expect(code).toBe(1);
  expect(err).toContain(`There is no key ${other.keyId}`);
});

test("key rename refuses a key that is revoked, and the name stays", async () => {
  const { row, keyId } = await openAccount(world);
  await cli("key", "rename", row.id, keyId, "--name", "before");
  await cli("key", "revoke", keyId);
  const { code, err } = await cli("key", "rename", row.id, keyId, "--name", "after");
  expect([code, err]).toEqual([1, `The key ${keyId} is revoked and cannot be changed\n`]);
  const { keys } = JSON.parse((await cli("key", "list", row.id, "--json")).out);
  expect(keys[0].name).toBe("before");
});

test("account budget and key budget bound the spending of calls in a span", async () => {
  const account = await openAccount(world, { paid: "50" });
  const { row, keyId } = account;
  await (await hold(account, usd("0.5"))).settle(usd("0.5"), DONE);
  const set = await cli("key", "budget", row.id, keyId, "--span", "day", "--usd", "3");
  expect(set.out).toBe("The budget of the UTC day of the key test key: $3.\n");
  await cli("account", "budget", row.id, "--span", "5h", "--usd", "2");
  await (await hold(account, usd("1.5"))).settle(usd("1.25"), DONE);
  const json = JSON.parse((await cli("account", "limits", row.id, "--json")).out);
  expect(json).toMatchObject({
    binds: "budget",
    binds_budget: { span: "5h", left_usd: "0.75" },
    budgets: [
      { key: null, span: "5h", amount_usd: "2", spent_usd: "1.25", left_usd: "0.75" },
      { key: keyId, span: "day", amount_usd: "3", spent_usd: "1.25", left_usd: "1.75" },
    ],
  });
  const text = await cli("account", "limits", row.id);
  expect(text.out).toContain("limited by the budget of five hours of the account");
  expect(text.out).toMatch(/account +5h +\$1\.25 of \$2 spent +\$0\.75 left +renews at 20/);
  await cli("account", "budget", row.id, "--span", "5h", "--usd", "none");
  expect(await verdict(account, usd("1.7"))).toBe("admitted");
  expect(await verdict(account, usd("1.8"))).toBe("key_budget_exceeded");
});

test("account budget refuses a fifth budget of account and key, and unknown spans", async () => {
  const account = await openAccount(world, { budgets: { "5h": "1", day: "1", week: "1" } });
  const { row, keyId } = account;
  const key = (span: string) => cli("key", "budget", row.id, keyId, "--span", span, "--usd", "1");
  expect((await key("day")).code).toBe(0);
  expect((await key("week")).err).toContain("may have 4 budgets together");
  expect((await key("year")).err).toContain("--span must be one of 5h, day, week, total");
  const other = await openAccount(world);
  const foreign = await cli("key", "budget", row.id, other.keyId, "--span", "day", "--usd", "1");
  expect(foreign.err).toContain(`There is no key ${other.keyId}`);
});

test("key set disables a key, ends it and limits its models, and key list shows that", async () => {
  const account = await openAccount(world, { paid: "5" });
  const { row, keyId } = account;
  const set = (...words: string[]) => cli("key", "set", row.id, keyId, ...words);
  const ends = "2031-12-31T00:00:00.000Z";
  const told = await set("--models", "m, other-*", "--ends", "2031-12-31", "--disabled", "yes");
  expect(told.out).toBe(`Key ${keyId}: disabled; ends ${ends}; models m, other-*.\n`);
  expect(await verdict(account, usd("1"))).toBe("invalid_api_key");
  const json = JSON.parse((await set("--disabled", "no", "--json")).out);
  expect(json).toMatchObject({ disabled_at: null, ends_at: ends, models: ["m", "other-*"] });
  expect(await verdict(account, usd("1"))).toBe("admitted");
  const list = await cli("key", "list", row.id);
  expect(list.out).toMatch(/m,other-\* .*ends 2031-12-31/);
  expect(JSON.parse((await cli("key", "list", row.id, "--json")).out)).toMatchObject({
    keys: [{ models: ["m", "other-*"], ends_at: ends, disabled_at: null }],
  });
  await set("--models", "other-*");
  expect(await verdict(account, usd("1"))).toBe("model_not_allowed");
  const free = await set("--models", "any", "--ends", "none");
  expect(free.out).toBe(`Key ${keyId}: no end; any model.\n`);
  expect(await verdict(account, usd("1"))).toBe("admitted");
});

test("key create takes an end and models; key set refuses wrong limits by name", async () => {
  const { row, keyId } = await openAccount(world);
  const made = ["--scopes", "models", "--models", "m*", "--ends", "2031-12-31", "--json"];
  expect((await cli("key", "create", row.id, ...made)).code).toBe(0);
  const { keys } = JSON.parse((await cli("key", "list", row.id, "--json")).out);
  expect(keys[1]).toMatchObject({ models: ["m*"], ends_at: "2031-12-31T00:00:00.000Z" });
  for (const [words, message] of [
    [[], "Give at least one option: they say what changes"],
    [["--disabled", "maybe"], "--disabled must be yes or no, but is 'maybe'"],
    [["--ends", "2001-01-01"], "--ends must be in the future, but is 2001-01-01T00:00:00.000Z"],
    [["--models", "a b"], "--models must contain only ids of models"],
  ] as const) {
    const { code, err } = await cli("key", "set", row.id, keyId, ...words);
    expect([code, err.includes(message)]).toEqual([2, true]);
  }
});
