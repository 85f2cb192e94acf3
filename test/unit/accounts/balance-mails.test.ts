// Tests mails and events about balances: low ones, once each until the next top-up, and free credit
// before it ends.

import { expect, test } from "bun:test";
import { addBalanceEvents, sendBalanceMails } from "../../../src/accounts/balance-notices.ts";
import { billingUrls } from "../../../src/core/account-page.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { BalanceNotices } from "../../../src/store/accounts/balance-notices.ts";
import { openMailbox, type ReadMail } from "../../support/fakes/mailbox.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { receive } from "../../support/stores/webhook-lab.ts";
import { DONE, hold, openAccount, openWorld, pay, usd } from "../../support/stores/world.ts";

const billingUrl = billingUrls("https://farebox.example", "https://shop.example/thanks");

const world = await shared(openWorld());
const mailbox = await shared(openMailbox(world.database));

/** Runs the job at a time, twice at once as two workers may, and reads the mails to the address. */
async function mailsTo(email: string, aheadMs = 0): Promise<readonly ReadMail[]> {
  await world.flush();
  const notices = new BalanceNotices(world.database);
  const now = () => Date.now() + aheadMs;
  const deps = { notices, brand: () => DEFAULT_BRAND, billingUrl, now };
  await Promise.all([sendBalanceMails(deps), sendBalanceMails(deps)]);
  return await mailbox.read(email);
}

async function spend(account: TestAccount, cost: string, freeEligible = false) {
  await (await hold(account, usd(cost), { freeEligible })).settle(usd(cost), DONE);
}

async function topUp(account: TestAccount, amount: string): Promise<void> {
  await pay(world, account, usd(amount));
  await account.actor.applyOperations();
}

test("a mail reports a low balance at 20 % and 5 %, once each until the next top-up", async () => {
  const email = "low@example.test";
  const account = await openAccount(world, { email, paid: "20" });
  await spend(account, "16");
  expect(await mailsTo(email)).toEqual([]);
  await spend(account, "0.01");
  const [low, ...others] = await mailsTo(email);
  expect(others).toEqual([]);
  expect(low?.subject).toBe("Your balance is below 20 % of your last top-up");
  for (const body of [low?.text, low?.html]) {
    expect(body).toContain("$3.99 of paid balance are left");
    expect(body).toContain("$20.00");
  }
  expect(low?.links).toContain(billingUrl(account.row.id));
  await spend(account, "1");
  expect(await mailsTo(email)).toEqual([]);
  await spend(account, "2");
  expect(await mailsTo(email)).toMatchObject([
    { subject: "Your balance is below 5 % of your last top-up" },
  ]);
  expect(await mailsTo(email)).toEqual([]);
  await topUp(account, "10");
  expect(await mailsTo(email)).toEqual([]);
  await spend(account, "10.9");
  expect(await mailsTo(email)).toMatchObject([
    { subject: "Your balance is below 5 % of your last top-up" },
  ]);
  expect(await mailsTo(email)).toEqual([]);
});

test("a credit that the ledger does not have yet is no low balance", async () => {
  const email = "early@example.test";
  const account = await openAccount(world, { email });
  await account.actor.applyOperations();
  await world.flush();
  await pay(world, account, usd("20"));
  expect(await mailsTo(email)).toEqual([]);
});

test("a balance that was never paid, or is refunded in full, is no low balance", async () => {
  const [never, refunded] = ["never@example.test", "refunded@example.test"];
  const free = await openAccount(world, { email: never });
  await free.actor.applyOperations();
  const account = await openAccount(world, { email: refunded });
  const id = await pay(world, account, usd("20"));
  const terms = { actor: "operator", reason: "test", reference: null };
  await world.payments.change(id, { terms, decide: ({ amount }) => ({ refunded: amount }) });
  await account.actor.applyOperations();
  expect([...(await mailsTo(never)), ...(await mailsTo(refunded))]).toEqual([]);
});

test("a mail reports free credit once, seven days before it ends, if some is left", async () => {
  const [email, spent] = ["free@example.test", "spent@example.test"];
  const account = await openAccount(world, { email });
  await account.actor.applyOperations();
  await spend(await openAccount(world, { email: spent }), "5", true);
  expect(await mailsTo(email, 82 * DAY_MS)).toEqual([]);
  const [mail, ...others] = await mailsTo(email, 84 * DAY_MS);
  expect(others).toEqual([]);
  const day = new Date(Date.now() + 90 * DAY_MS).toISOString().slice(0, 10);
  expect(mail?.subject).toBe(`Your free credit ends on ${day}`);
  expect(mail?.text).toContain("$5.00 of free credit are left");
  expect(mail?.html).toContain("$5.00 of free credit are left");
  expect(await mailsTo(email, 84 * DAY_MS)).toEqual([]);
  expect(await mailsTo(spent, 84 * DAY_MS)).toEqual([]);
});

test("a mail reports each lot of free credit that ends, with the rest of it", async () => {
  const email = "lots@example.test";
  const account = await openAccount(world, { email });
  await spend(account, "3", true);
  const { sql } = world.database;
  const give = (number: number, amount: bigint, days: number) => sql`
    INSERT INTO operations (account, number, kind, balance, amount, expires_at)
    VALUES (${account.row.number}, ${number}, 'credit', 'free', ${String(amount)}::bigint,
      ${new Date(Date.now() + days * DAY_MS).toISOString()}::timestamptz)`;
  await give(2, 4_000_000_000n, 20);
  await give(3, 1_000_000_000n, 120);
  await account.actor.applyOperations();
  await spend(account, "0.5", true);
  const [first, ...others] = await mailsTo(email, 15 * DAY_MS);
  expect(others).toEqual([]);
  expect(first?.text).toContain("$3.50 of free credit are left");
  const [second] = await mailsTo(email, 84 * DAY_MS);
  expect(second?.text).toContain("$2.00 of free credit are left");
  const [third] = await mailsTo(email, 115 * DAY_MS);
  expect(third?.text).toContain("$1.00 of free credit are left");
});

/** Looks for events, twice at once as two workers may, and reads the account's types and data. */
async function eventsOf({ row }: TestAccount, aheadMs = 0) {
  await world.flush();
  const notices = new BalanceNotices(world.database);
  const deps = { notices, now: () => Date.now() + aheadMs };
  await Promise.all([addBalanceEvents(deps), addBalanceEvents(deps)]);
  const events = await world.database.sql<{ type: string; data: string }[]>`
    SELECT type, data FROM webhook_events WHERE account = ${row.number}
    ORDER BY created_at, type`;
  return events.map(({ type, data }) => [type, JSON.parse(data)] as const);
}

const URL_OF_NOBODY = { url: "http://127.0.0.1:1/" };

test("an event reports 20 %, 5 % and one cent, once each until the next top-up", async () => {
  // Without an address of the holder: mails and events do not depend on one another.
  const account = await openAccount(world, { paid: "20" });
  await receive(world, account, {
    ...URL_OF_NOBODY,
    events: ["balance.low", "balance.empty"],
  });
  await spend(account, "16");
  expect(await eventsOf(account)).toEqual([]);
  await spend(account, "0.01");
  const low = ["balance.low", { percent: 20, paid_usd: "3.99", top_up_usd: "20" }] as const;
  expect(await eventsOf(account)).toEqual([low]);
  expect(await eventsOf(account)).toEqual([low]);
  await spend(account, "3");
  const lower = ["balance.low", { percent: 5, paid_usd: "0.99", top_up_usd: "20" }] as const;
  expect(await eventsOf(account)).toEqual([low, lower]);
  await spend(account, "0.98");
  expect(await eventsOf(account)).toEqual([low, lower]);
  await spend(account, "0.000000001");
  const empty = ["balance.empty", { paid_usd: "0.009999999", top_up_usd: "20" }] as const;
  expect(await eventsOf(account)).toEqual([low, lower, empty]);
  expect(await eventsOf(account)).toEqual([low, lower, empty]);
  await topUp(account, "10");
  expect(await eventsOf(account)).toHaveLength(3);
  await spend(account, "10.009");
  expect((await eventsOf(account)).slice(3)).toMatchObject([
    ["balance.low", { percent: 5 }],
    ["balance.empty", {}],
  ]);
});

test("a webhook that did not choose a type hides no other account, and gets no event", async () => {
  const account = await openAccount(world, { paid: "20" });
  await receive(world, account, { ...URL_OF_NOBODY, events: ["balance.empty"] });
  await spend(account, "19.5");
  expect(await eventsOf(account)).toEqual([]);
  await spend(account, "0.5");
  expect(await eventsOf(account)).toMatchObject([["balance.empty", { paid_usd: "0" }]]);
});

test("free credit of few days is told when half of them are over, not before", async () => {
  const email = "short@example.test";
  const account = await openAccount(world, { email, free: "0" });
  await world.database.sql`
    INSERT INTO operations (account, number, kind, balance, amount, expires_at)
    VALUES (${account.row.number}, 1, 'credit', 'free', 2000000000,
      ${new Date(Date.now() + 4 * DAY_MS).toISOString()}::timestamptz)`;
  await account.actor.applyOperations();
  expect(await mailsTo(email)).toEqual([]);
  expect(await mailsTo(email, 1.9 * DAY_MS)).toEqual([]);
  const [mail, ...others] = await mailsTo(email, 2.1 * DAY_MS);
  expect(others).toEqual([]);
  expect(mail?.text).toContain("$2.00 of free credit are left");
  expect(await mailsTo(email, 3 * DAY_MS)).toEqual([]);
});

test("an event reports free credit once, seven days before it ends", async () => {
  const account = await openAccount(world);
  await receive(world, account, { ...URL_OF_NOBODY, events: ["free_credit.ending"] });
  await account.actor.applyOperations();
  expect(await eventsOf(account, 82 * DAY_MS)).toEqual([]);
  expect(await eventsOf(account, 84 * DAY_MS)).toMatchObject([
    ["free_credit.ending", { free_usd: "5" }],
  ]);
  expect(await eventsOf(account, 84 * DAY_MS)).toHaveLength(1);
});
