// Tests keys and limits by the command line, which shows the data of the console's pages.

import { expect, setDefaultTimeout, test } from "bun:test";
import { cliOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

setDefaultTimeout(120_000);

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
  expect([code, err]).toEqual([1, `The key ${keyId} is revoked and cannot be renamed\n`]);
  const { keys } = JSON.parse((await cli("key", "list", row.id, "--json")).out);
  expect(keys[0].name).toBe("before");
});
