import { expect, test } from "bun:test";
import { audit } from "../../../src/accounts/audit.ts";
import { describe as inWords } from "../../../src/core/journal/audit-finding.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { auditDeps, charge, damageLedger } from "../../support/stores/audit-lab.ts";
import { hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

test("a clock of Redis that jumped back by months leaves every sound account proven", async () => {
  const clock = new TestClock("2031-03-15T12:00:00.000Z");
  await using world = await openWorld(clock.options);
  const account = await openAccount(world, {
    createdAt: clock.daysAgo(100),
    paid: "20",
    paidAt: clock.daysAgo(0),
  });
  const deps = { ...auditDeps(world), scriptTime: clock.now };
  const found = async () => {
    const { difference } = await audit(deps, account.row);
    return difference === null ? "" : inWords(difference);
  };
  await charge(account, usd("1"));
  clock.set("2031-06-15T12:00:00.000Z");
  await charge(account, usd("1"));
  // Calls now count in June, the last month seen, so that they do not escape the limits.
  clock.set("2031-03-16T12:00:00.000Z");
  await charge(account, usd("1"));
  await hold(account, usd("1"));
  expect(await found()).toBe("");
  const toJuly = (number: number) =>
    `UPDATE ledger_entries SET month = 203107 WHERE account = ${number} AND month = 203106`;
  await damageLedger(world, account, toJuly);
  expect(await found()).toContain("the month charged: expected 203106, found 203107");
});
