import { expect, test } from "bun:test";
import { EndUser } from "../../../src/core/access/end-users.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import {
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
  verdict,
  WORLD_PEPPER,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const ID = "customer-4711";

test("end-user budget sets and removes budgets, which the next call counts by", async () => {
  const mine = await openAccount(world, { paid: "50" });
  const { id, keyId } = mine;
  const endUser = new EndUser(ID, { accountId: id, secrets: [WORLD_PEPPER] });
  const all = await cli("end-user", "budget", id, "--span", "month", "--usd", "1");
  expect(all.out).toBe("The budget of the UTC month of the end user, for each end user: $1.\n");
  await hold(mine, usd("1"), { endUser });
  expect(await verdict(mine, usd("0.1"), { endUser })).toBe("end_user_budget_exceeded");
  const own = ["--span", "month", "--usd", "5", "--user", ID];
  expect(jsonOf(await cli("end-user", "budget", id, ...own, "--json"))).toEqual({
    account: id,
    key: null,
    is_own: true,
    span: "month",
    usd: "$5",
    applied: true,
  });
  expect(await verdict(mine, usd("5"), { endUser })).toBe("admitted");
  const ofKey = ["--span", "day", "--usd", "0.5", "--key", keyId];
  expect((await cli("end-user", "budget", id, ...ofKey)).out).toContain("of test key: $0.5");
  expect(await verdict(mine, usd("0.6"), { endUser })).toBe("end_user_budget_exceeded");
  const shown = await cli("end-user", "show", id, "--user", ID);
  expect(shown.out).toEndWith(`In events and the log: ${endUser.digests[0]}\n`);
  expect(shown.out).toMatch(/month +own +all keys +\$0 of \$5/);
  expect(shown.out).toMatch(/day +each end user +key_\w+ +\$0 of \$0\.5/);
  expect((await cli("end-user", "budget", id, "--span", "day", "--usd", "none")).code).toBe(0);
  const none = ["--span", "month", "--usd", "none", "--user", ID];
  await cli("end-user", "budget", id, ...none);
  expect(await verdict(mine, usd("0.1"), { endUser })).toBe("end_user_budget_exceeded");
});

test("request list shows the run and the end user of a call, and filters by both", async () => {
  const mine = await openAccount(world, { paid: "50" });
  const { id } = mine;
  const named = (name: string) => new EndUser(name, { accountId: id, secrets: [WORLD_PEPPER] });
  await cli("end-user", "budget", id, "--span", "month", "--usd", "20");
  const run = { id: "nightly", step: null, max: usd("5"), seconds: 3_600 };
  for (const more of [{ endUser: named(ID) }, { endUser: named("other") }, { run }, {}]) {
    await (await hold(mine, usd("0.5"), more)).settle(usd("0.25"), DONE);
  }
  await world.flush();
  const hash = named(ID).digests[0];
  const list = async (...words: readonly string[]) =>
    jsonOf(await cli("request", "list", id, ...words, "--json")).requests;
  expect(await list()).toHaveLength(4);
  expect(await list("--end-user", hash)).toMatchObject([{ end_user: hash, run: null }]);
  expect(await list("--run", "nightly")).toMatchObject([{ end_user: null, run: "nightly" }]);
  expect(await list("--end-user", hash, "--run", "nightly")).toEqual([]);
  const { out } = await cli("request", "list", id);
  expect(out).toContain(` end user ${hash} `);
  expect(out).toContain(" run nightly ");
  const [{ id: request }] = await list("--end-user", hash);
  const shown = await cli("request", "show", id, request);
  expect(shown.out).toMatch(new RegExp(`^end user +${hash}$`, "m"));
});

test("end-user commands refuse impossible values, and name the option", async () => {
  const { id, keyId } = await openAccount(world, { paid: "50" });
  const budget = ["end-user", "budget", id, "--usd", "1"];
  for (const [words, message] of [
    [["--span", "year"], "--span must be"],
    [["--span", "day", "--user", ""], "--user"],
    [["--span", "day", "--user", "x".repeat(300)], "--user must have 1 to 256 characters"],
    [["--span", "day", "--user", ID, "--key", keyId], "name no key"],
    [["--span", "day", "--key", "key_none"], "There is no key key_none"],
  ] as const) {
    const { code, err } = await cli(...budget, ...words);
    expect([code !== 0, err.includes(message) ? message : err]).toEqual([true, message]);
  }
});
