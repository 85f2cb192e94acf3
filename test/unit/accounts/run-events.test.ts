// Tests the events of runs for the webhooks of customers: one for each fact, and none for a change
// that changes nothing.

import { expect, test } from "bun:test";
import { addLimitEvents } from "../../../src/accounts/limit-events.ts";
import { changeOwnRun } from "../../../src/accounts/runs.ts";
import { MINUTE_MS } from "../../../src/core/durations.ts";
import type { RunChange } from "../../../src/store/accounts/runs.ts";
import { forgetEndedRuns } from "../../../workers/eviction.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { holdIn, verdictIn } from "../../support/stores/verdicts.ts";
import { receive, storedEvents } from "../../support/stores/webhook-lab.ts";
import { ask, DONE, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const { database, accounts } = world;
const RUN = { id: "nightly", step: null, max: usd("2"), seconds: 60 };

async function receiving(events: readonly string[]): Promise<TestAccount> {
  const account = await openAccount(world, { paid: "50" });
  await receive(world, account, { url: "http://127.0.0.1:1/", events });
  return account;
}

const call = ({ actor, keyId }: TestAccount, amount: string) =>
  actor.admit(ask(keyId, usd(amount), { run: RUN, freeEligible: false }));

async function change({ row }: TestAccount, wanted: RunChange): Promise<void> {
  const onDelayed = (_: string, error: unknown) => {
    throw error;
  };
  const deps = { database, actors: accounts, onDelayed };
  await changeOwnRun(deps, row, { run: RUN.id, change: wanted });
}

const eventsOf = (account: TestAccount) => storedEvents(database, account);

test("a run gives an event of each pause, resumption and change, and of its end", async () => {
  const types = ["run.paused", "run.resumed", "run.changed", "run.ended"];
  const account = await receiving(types);
  await holdIn(await call(account, "1")).settle(usd("0.75"), DONE);
  await change(account, { isPaused: true });
  await change(account, { isPaused: true });
  await change(account, { isPaused: false });
  await change(account, { amount: usd("3") });
  await change(account, { amount: usd("3") });
  await change(account, { seconds: 120 });
  await world.flush();
  const ended = { database, scripts: accounts.scripts, log: silent };
  await forgetEndedRuns({ ...ended, now: Date.now });
  const nowMs = Date.now() + 10 * MINUTE_MS;
  await forgetEndedRuns({ ...ended, now: () => nowMs });
  await forgetEndedRuns({ ...ended, now: () => nowMs });
  const events = await eventsOf(account);
  const run = (max_usd: string) => ({ run: RUN.id, max_usd, ends_at: expect.any(String) });
  expect(events).toEqual([
    ["run.paused", run("2")],
    ["run.resumed", run("2")],
    ["run.changed", run("3")],
    ["run.changed", run("3")],
    ["run.ended", { ...run("3"), spent_usd: "0.75" }],
  ]);
  const [, , , longer, last] = events.map(([, data]) => Date.parse(data.ends_at));
  expect(longer).toBe(Number(last));
  expect(longer).toBeGreaterThan(Date.parse(events[0]?.[1].ends_at));
});

test("a run that refuses calls for its amount gives one event a day", async () => {
  const account = await receiving(["run.budget_reached"]);
  for (let turn = 0; turn < 2; turn += 1) {
    expect(verdictIn(await call(account, "2.5"))).toBe("run_budget_exceeded");
    await world.flush();
    await Promise.all([addLimitEvents(database), addLimitEvents(database)]);
  }
  expect(await eventsOf(account)).toEqual([
    ["run.budget_reached", { run: RUN.id, key: account.keyId }],
  ]);
});

test("an account whose webhooks chose other types stores no event of its runs", async () => {
  const account = await receiving(["balance.low"]);
  expect(verdictIn(await call(account, "1"))).toBe("admitted");
  await change(account, { isPaused: true });
  expect(await eventsOf(account)).toEqual([]);
});
