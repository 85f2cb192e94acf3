// Tests the events of limits that refused calls, and of mail that bounced.

import { expect, test } from "bun:test";
import { addLimitEvents } from "../../../src/accounts/limit-events.ts";
import { newId, newTimedId } from "../../../src/core/ids.ts";
import { MailMessages } from "../../../src/store/mail/mail-messages.ts";
import { exportCalls } from "../../../src/store/usage/log-export.ts";
import { ALL_CALLS } from "../../../src/store/usage/log-filter.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { endUserLab } from "../../support/stores/end-user-lab.ts";
import { verdictIn } from "../../support/stores/verdicts.ts";
import { receive, storedEvents } from "../../support/stores/webhook-lab.ts";
import { ask, DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const { database } = world;
const { named, set } = endUserLab(world, new TestClock(new Date().toISOString()));

const eventsOf = (account: TestAccount) => storedEvents(database, account);

async function receiving(events: readonly string[], paid = "1"): Promise<TestAccount> {
  const account = await openAccount(world, { paid, monthlyLimit: "0.5" });
  await receive(world, account, { url: "http://127.0.0.1:1/", events });
  return account;
}

/** Has a call refused, and looks for events, twice at once as two workers may. */
async function refuse({ actor, keyId }: TestAccount, bound: string): Promise<void> {
  const admission = await actor.admit(ask(keyId, usd(bound), { freeEligible: false }));
  expect(admission.verdict).toBe("refused");
  await world.flush();
  await Promise.all([addLimitEvents(database), addLimitEvents(database)]);
}

test("a budget of a key that refuses calls gives one event a day, with the key's id", async () => {
  const account = await receiving(["key.budget_reached"]);
  for (let call = 0; call < 3; call += 1) await refuse(account, "0.7");
  expect(await eventsOf(account)).toEqual([
    ["key.budget_reached", { key: account.keyId, code: "key_budget_exceeded", limit: "budget" }],
  ]);
});

test("another limit gives limit.reached, only to webhooks that chose it", async () => {
  const account = await receiving(["limit.reached"], "0.1");
  await refuse(account, "0.7");
  expect(await eventsOf(account)).toEqual([]);
  await refuse(account, "0.2");
  await refuse(account, "0.2");
  expect(await eventsOf(account)).toMatchObject([
    [
      "limit.reached",
      { key: account.keyId, code: "insufficient_credits", end_user: null, run: null },
    ],
  ]);
});

test("a budget of end users gives one event for each, with hash and run", async () => {
  const account = await receiving(["limit.reached"], "20");
  await set(account, "day", "0.1");
  const run = { id: "nightly", step: null, max: usd("5"), seconds: 60 };
  for (const [id, more] of [
    ["ada", {}],
    ["ada", { run }],
    ["bob", {}],
  ] as const) {
    const terms = { endUser: named(account, id), freeEligible: false, ...more };
    const refused = await account.actor.admit(ask(account.keyId, usd("0.2"), terms));
    expect(verdictIn(refused)).toBe("end_user_budget_exceeded");
  }
  await world.flush();
  await Promise.all([addLimitEvents(database), addLimitEvents(database)]);
  const shared = {
    key: account.keyId,
    code: "end_user_budget_exceeded",
    limit: "budget_day",
  };
  const [ada, bob] = ["ada", "bob"].map((id) => named(account, id).digests[0]);
  const events = await eventsOf(account);
  expect(events).toHaveLength(2);
  expect(events).toContainEqual(["limit.reached", { ...shared, end_user: ada, run: "nightly" }]);
  expect(events).toContainEqual(["limit.reached", { ...shared, end_user: bob, run: null }]);
  expect(JSON.stringify(events)).not.toMatch(/"(?:ada|bob)"/);
});

test("the CSV of the log names the end user that budgets count a call for", async () => {
  const account = await openAccount(world, { paid: "20" });
  const call = async (id: string) => {
    const terms = { endUser: named(account, id), freeEligible: false };
    await (await hold(account, usd("0.1"), terms)).settle(usd("0.1"), DONE);
  };
  await call("before");
  await set(account, "day", "1");
  await call("ada");
  await world.flush();
  let csv = "";
  for await (const page of exportCalls(database, account.row.number, ALL_CALLS)) csv += page.csv;
  const [head, first, second] = csv.split("\r\n");
  expect(head).toEndWith(',"end_user"');
  expect(first).toEndWith(",");
  expect(second).toEndWith(`,"${named(account, "ada").digests[0]}"`);
});

test("a webhook that we disabled gets a reached limit as a failed delivery", async () => {
  for (const [disabled, statuses] of [
    ["failing", ["failed"]],
    ["holder", []],
  ] as const) {
    const account = await receiving(["limit.reached"], "0.1");
    const { number } = account.row;
    await database.sql`
      UPDATE webhook_receivers SET disabled = ${disabled}, disabled_at = now()
      WHERE account = ${number}`;
    await refuse(account, "0.2");
    const rows = await database.sql<{ status: string }[]>`
      SELECT d.status FROM webhook_deliveries d JOIN webhook_receivers r ON r.number = d.receiver
      WHERE r.account = ${number}`;
    expect(rows.map(({ status }) => status)).toEqual([...statuses]);
  }
});

test("a message that bounces gives one event with id and domains, and no address", async () => {
  const account = await receiving(["mail.bounced"]);
  const messages = new MailMessages(database);
  const id = newId("message", random);
  await messages.insert({
    id,
    accountId: account.id,
    requestId: newTimedId("request", random, Date.now()),
    hold: "{}",
    recipients: 1,
    domains: ["example.com"],
    box: new Uint8Array(40),
    idempotency: null,
  });
  expect(await messages.bounce(id)).toBe(false);
  expect(await eventsOf(account)).toEqual([]);
  const { number } = account.row;
  await database.sql`UPDATE mail_messages SET status = 'sent' WHERE account = ${number}`;
  expect(await Promise.all([messages.bounce(id), messages.bounce(id)])).toEqual([true, true]);
  expect(await messages.bounce(newId("message", random))).toBe(true);
  expect(await eventsOf(account)).toEqual([
    ["mail.bounced", { message: id, domains: ["example.com"] }],
  ]);
});
