// Tests burn-rate rules: the keys that they find, once for each breach, and their measures against
// a key.

import { beforeEach, expect, test } from "bun:test";
import { resumeKey } from "../../../src/accounts/burn-rates.ts";
import type { StoredDocument } from "../../../src/core/access/access.ts";
import { type BurnTerms, burnProblem } from "../../../src/core/access/burn-rules.ts";
import { readBurnRates } from "../../../src/core/configuration/burn-section.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/durations.ts";
import { monthBefore, monthOf, nextMonthMs } from "../../../src/core/money/months.ts";
import {
  deleteOldAlarms,
  endMeasures,
  listLasting,
} from "../../../src/store/accounts/burn-alarms.ts";
import { removeBurnRule } from "../../../src/store/accounts/burn-rules.ts";
import { readDocument } from "../../../src/store/accounts/documents.ts";
import { openMailbox } from "../../support/fakes/mailbox.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { type BurnWorker, burnTerms, burnWorker, giveRule } from "../../support/stores/burn-lab.ts";
import { refusalIn } from "../../support/stores/verdicts.ts";
import { receive } from "../../support/stores/webhook-lab.ts";
import {
  accountIn,
  administrationOf,
  ask,
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
  verdict,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const { database } = world;
const mailbox = await shared(openMailbox(database));
const also = async () => {};

/** The time of the workers, ms. */
let nowMs = Date.now();
let first: BurnWorker;

beforeEach(async () => {
  for (const table of ["burn_alarms", "burn_rules", "burn_samples", "burn_checks"]) {
    await database.sql`DELETE FROM ${database.sql(table)}`;
  }
  nowMs = Date.now();
  first = burnWorker(world, () => nowMs);
});

async function charge(account: TestAccount, cost: string): Promise<void> {
  const taken = await hold(account, usd(cost), { freeEligible: false });
  await taken.settle(usd(cost), DONE);
}

async function spend(account: TestAccount, cost: string): Promise<void> {
  await charge(account, cost);
  await world.flush();
}

/** Lets the workers check every ten seconds for so long; returns how many alarms were raised. */
async function pass(ms: number, worker = first): Promise<number> {
  await world.flush();
  let fired = 0;
  for (const end = nowMs + ms; nowMs < end; ) {
    nowMs += Math.min(10 * SECOND_MS, end - nowMs);
    fired += await worker.check();
  }
  return fired;
}

async function withRule(terms: Partial<BurnTerms> = {}, email?: string): Promise<TestAccount> {
  const account = await openAccount(world, {
    paid: "100",
    ...(email !== undefined && { email }),
  });
  await giveRule(world, account, terms);
  await first.check();
  return account;
}

test("a rule fires once for a breach, over two workers and after a restart", async () => {
  const account = await withRule();
  const second = burnWorker(world, () => nowMs);
  await spend(account, "0.6");
  expect(await pass(30 * SECOND_MS)).toBe(0);
  await spend(account, "0.4");
  nowMs += 10 * SECOND_MS;
  const fired = await Promise.all([first.check(), second.check()]);
  expect(fired[0] + fired[1]).toBe(1);
  expect([...first.alarms, ...second.alarms]).toEqual(["pause"]);
  expect(await pass(MINUTE_MS)).toBe(0);
  expect(await burnWorker(world, () => nowMs).check()).toBe(0);
});

test("spending that takes longer than five minutes is no breach", async () => {
  const account = await withRule();
  for (let part = 0; part < 6; part += 1) {
    await spend(account, "0.3");
    expect(await pass(2 * MINUTE_MS)).toBe(0);
  }
  await spend(account, "0.4");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("a paused key is refused with 402 key_paused until the pause ends by itself", async () => {
  const account = await withRule({ minutes: 10 });
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
  const end = new Date(nowMs + 10 * MINUTE_MS).toISOString();
  const { error } = refusalIn(await account.actor.admit(ask(account.keyId, usd("0.1"))));
  expect(error).toMatchObject({ code: "key_paused", status: 402 });
  expect(error.message).toBe(
    `A burn-rate rule paused this key until ${end}, because it spent much at once`,
  );
  const other = accountIn(world.process(), account).actor;
  expect(await other.admit(ask(account.keyId, usd("0.1")))).toMatchObject({ verdict: "refused" });
  expect(await verdict(account, usd("0"))).toBe("admitted");
  expect(await verdict(account, usd("0.1"), { scope: null })).toBe("admitted");
  await pass(10 * MINUTE_MS);
  expect(await verdict(account, usd("0.1"))).toBe("admitted");
  expect(first.alarms).toEqual(["pause"]);
});

test("a slowed key makes fewer requests, and the refusal says until when", async () => {
  const account = await withRule({ action: "slow" });
  await spend(account, "1");
  await pass(10 * SECOND_MS);
  const end = new Date(nowMs + 30 * MINUTE_MS).toISOString();
  const { error } = refusalIn(await account.actor.admit(ask(account.keyId, usd("0.1"))));
  expect(error).toMatchObject({
    code: "rate_limit_exceeded",
    message: `This key allows 1 requests a minute until ${end}, by a burn-rate rule`,
  });
});

test("a rule has one measure against a key, however often the key spends fast", async () => {
  const terms = { action: "slow", requestsPerMinute: 1_000, minutes: 10_080 } as const;
  const account = await withRule(terms);
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
  for (let burst = 0; burst < 3; burst += 1) {
    expect(await pass(6 * MINUTE_MS)).toBe(0);
    await spend(account, "1");
    expect(await pass(10 * SECOND_MS)).toBe(0);
  }
  expect(await listLasting(database, account.row.number)).toHaveLength(1);
});

test("of many measures against a key the strictest count, and are applied once", async () => {
  const account = await withRule({ minutes: 10 });
  await giveRule(world, account, { minutes: 60 });
  await giveRule(world, account, { action: "slow", requestsPerMinute: 5, minutes: 90 });
  await giveRule(world, account, { action: "slow", requestsPerMinute: 3, minutes: 20 });
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(4);
  expect(first.applied).toEqual([account.id]);
  const in60 = nowMs + 60 * MINUTE_MS;
  expect(await measuresOf(account)).toEqual([
    [0, in60],
    [3, nowMs + 20 * MINUTE_MS],
  ]);
  const in90 = nowMs + 90 * MINUTE_MS;
  await pass(20 * MINUTE_MS);
  expect(await measuresOf(account)).toEqual([
    [0, in60],
    [5, in90],
  ]);
});

/** The measures against the key of an account in its access document. */
async function measuresOf({ id }: TestAccount) {
  const read = await readDocument(database.db, id);
  const { keys }: StoredDocument = JSON.parse(read?.document ?? "");
  return keys[0]?.burn;
}

test("people end a pause themselves, and the same breach does not fire again", async () => {
  const account = await withRule();
  await spend(account, "1");
  await pass(10 * SECOND_MS);
  expect(await verdict(account, usd("0.1"))).toBe("key_paused");
  const deps = administrationOf(world, () => nowMs);
  const resumed = { key: account.keyId, also };
  expect(await resumeKey(deps, account.row, resumed)).toMatchObject({ applied: true });
  expect(await verdict(account, usd("0.1"))).toBe("admitted");
  expect(await pass(2 * MINUTE_MS)).toBe(0);
  const again = resumeKey(deps, account.row, resumed);
  expect(again).rejects.toThrow("No burn-rate rule slows or pauses this key");
  // Once the key was slow for five minutes, the next breach is another one.
  expect(await pass(6 * MINUTE_MS)).toBe(0);
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("a breach that people let go on does not fire again at the end of its pause", async () => {
  const account = await withRule({ minutes: 10 });
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
  const { row, keyId } = account;
  const ended = { account: row.number, keyId, now: new Date(nowMs), also };
  expect(await endMeasures(database, ended)).toBe(true);
  await account.actor.configure();
  for (let part = 0; part < 8; part += 1) {
    await spend(account, "0.5");
    expect(await pass(2 * MINUTE_MS)).toBe(0);
  }
});

test("holder and receivers are notified, and the account has a line", async () => {
  const email = "burning@example.test";
  const account = await withRule({ action: "alert" }, email);
  await receive(world, account, { url: "http://127.0.0.1:1/", events: ["key.burn_rate"] });
  await spend(account, "1.5");
  expect(await pass(MINUTE_MS)).toBe(1);
  expect(await verdict(account, usd("0.1"))).toBe("admitted");
  const [mail, ...others] = await mailbox.read(email);
  expect(others).toEqual([]);
  expect(mail?.subject).toBe('Your key "test key" spends fast');
  expect(mail?.text).toContain("$1.50 within five minutes");
  expect(mail?.links).toContain(`https://farebox.example/dashboard/${account.id}/limits`);
  const { number } = account.row;
  const events = await database.sql<{ data: string }[]>`
    SELECT data FROM webhook_events WHERE account = ${number}`;
  expect(events.map(({ data }) => JSON.parse(data))).toEqual([
    { key: account.keyId, spent_usd: "1.5", threshold_usd: "1", action: "alert", until: null },
  ]);
  const lines = await database.sql`
    SELECT actor, action, about FROM activity WHERE account = ${number}`;
  expect(lines.map(({ actor, action, about }) => ({ actor, action, about }))).toEqual([
    {
      actor: "system",
      action: "burn_rule_fired",
      about: "test key: $1.5 in five minutes, by the rule $1 in five minutes: alert",
    },
  ]);
});

test("a rule of the operator is for the keys of every account", async () => {
  const account = await openAccount(world, { paid: "10" });
  const worker = burnWorker(world, () => nowMs, [burnTerms()]);
  await worker.check();
  await spend(account, "1");
  expect(await pass(MINUTE_MS, worker)).toBe(1);
  expect(await verdict(account, usd("0.1"))).toBe("key_paused");
});

test("a worker without rules of the operator hides no spending from one with them", async () => {
  const account = await openAccount(world, { paid: "10" });
  const worker = burnWorker(world, () => nowMs, [burnTerms()]);
  await worker.check();
  for (let part = 0; part < 4; part += 1) {
    await spend(account, "0.25");
    await pass(30 * SECOND_MS);
  }
  expect(await pass(10 * SECOND_MS, worker)).toBe(1);
  // The rules are gone everywhere: after one window nobody looks at the key any more.
  await pass(6 * MINUTE_MS);
  expect(await database.sql`SELECT FROM burn_samples`).toHaveLength(0);
});

test("a rule of one key leaves the others alone", async () => {
  const account = await openAccount(world, { paid: "10" });
  const { id } = await world.store.createKey(account.row, {
    name: "other",
    scopes: ["models"],
    ipAllowlist: [],
    monthlyLimit: null,
  });
  await giveRule(world, account, { key: id });
  await first.check();
  await spend(account, "2");
  expect(await pass(MINUTE_MS)).toBe(0);
  await account.actor.configure();
  await spend({ ...account, keyId: id }, "1");
  expect(await pass(MINUTE_MS)).toBe(1);
  expect(await verdict(account, usd("0.1"))).toBe("admitted");
});

test("spending of a key before its rule, or while nobody checked, is no breach", async () => {
  const account = await openAccount(world, { paid: "100" });
  await database.sql`UPDATE keys SET created_at = now() - interval '1 day'
    WHERE id = ${account.keyId}`;
  await spend(account, "5");
  const number = await giveRule(world, account);
  expect(await pass(MINUTE_MS)).toBe(0);
  // All workers are away for an hour, in which the key spends slowly.
  await spend(account, "5");
  nowMs += HOUR_MS;
  expect(await pass(MINUTE_MS)).toBe(0);
  await removeBurnRule(database, account.row.number, { number, now: new Date(nowMs), also });
  await pass(10 * SECOND_MS);
  await spend(account, "5");
  await pass(10 * SECOND_MS);
  await giveRule(world, account);
  expect(await pass(MINUTE_MS)).toBe(0);
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("charges that reached the ledger late count for no rule", async () => {
  const account = await withRule();
  await pass(10 * SECOND_MS);
  for (let part = 0; part < 4; part += 1) {
    await charge(account, "0.4");
    nowMs += 4 * MINUTE_MS;
    await first.check();
  }
  expect(await pass(MINUTE_MS)).toBe(0);
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("a call that was open when its key was paused does not pause it again", async () => {
  const account = await withRule({ minutes: 5 });
  const open = await hold(account, usd("2"), { freeEligible: false });
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
  await pass(4 * MINUTE_MS);
  await open.settle(usd("2"), DONE);
  expect(await pass(6 * MINUTE_MS)).toBe(0);
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("a breach lasts over a time in which nobody checked", async () => {
  const account = await withRule({ action: "alert" });
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
  nowMs += 10 * MINUTE_MS;
  expect(await pass(10 * SECOND_MS)).toBe(0);
  await spend(account, "1");
  expect(await pass(MINUTE_MS)).toBe(0);
  expect(await pass(10 * MINUTE_MS)).toBe(0);
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("an alarm that cannot be stored holds up no other, and comes later", async () => {
  const [broken, whole] = [await withRule(), await withRule()];
  await spend(broken, "1");
  await spend(whole, "1");
  await database.sql.unsafe(`ALTER TABLE burn_alarms
    ADD CONSTRAINT refused CHECK (account <> ${broken.row.number})`);
  try {
    const failed = await pass(10 * SECOND_MS).catch(({ message }) => message);
    expect(failed).toBe("1 alarms of burn-rate rules were not raised");
    expect(first.applied).toEqual([whole.id]);
    expect(await verdict(whole, usd("0.1"))).toBe("key_paused");
  } finally {
    await database.sql`ALTER TABLE burn_alarms DROP CONSTRAINT refused`;
  }
  expect(await pass(10 * SECOND_MS)).toBe(1);
  expect(await verdict(broken, usd("0.1"))).toBe("key_paused");
});

test("accounts take turns, pauses first, and an inbox has at most 20 mails an hour", async () => {
  const email = "flood@example.test";
  const many = await withRule({ action: "alert" }, email);
  for (let rule = 0; rule < 18; rule += 1) await giveRule(world, many, { action: "alert" });
  await giveRule(world, many);
  const other = await withRule({ action: "alert" });
  const ofOperator = Array.from({ length: 5 }, (_, index) => {
    return burnTerms({ action: "alert", amount: usd(`0.${index + 1}`) });
  });
  await spend(many, "1");
  await spend(other, "1");
  expect(
    await pass(
      10 * SECOND_MS,
      burnWorker(world, () => nowMs, ofOperator),
    ),
  ).toBe(31);
  const alarms = await database.sql<{ account: bigint; action: string }[]>`
    SELECT account, action FROM burn_alarms ORDER BY number LIMIT 3`;
  expect(alarms.map(({ account, action }) => [Number(account), action])).toEqual([
    [many.row.number, "pause"],
    [other.row.number, "alert"],
    [many.row.number, "alert"],
  ]);
  expect(await mailbox.read(email)).toHaveLength(20);
});

test("a new key that spends at once is found by the first check", async () => {
  const account = await openAccount(world, { paid: "10" });
  await giveRule(world, account);
  await first.check();
  const { id } = await world.store.createKey(account.row, {
    name: "new",
    scopes: ["models"],
    ipAllowlist: [],
    monthlyLimit: null,
  });
  await account.actor.configure();
  await spend({ ...account, keyId: id }, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("times the usual wants as much as the quarters of an hour with spending had", async () => {
  const account = await withRule({ times: 10 });
  const { number } = account.row;
  await spend(account, "1");
  // Without a usual spending the rule does not fire.
  expect(await pass(MINUTE_MS)).toBe(0);
  const [key] = await database.sql`SELECT number FROM keys WHERE id = ${account.keyId}`;
  for (let quarter = 0; quarter < 8; quarter += 1) {
    const at = new Date(nowMs - DAY_MS + quarter * 15 * MINUTE_MS).toISOString();
    await database.sql`
      INSERT INTO usage_rollups (account, minutes, at, key, service, model, status, calls,
        prompt_tokens, cached_tokens, completion_tokens, cost, free_cost)
      VALUES (${number}, 15, ${at}, ${String(key?.number)}, 'models', 'm', 'ok', 1, 0, 0, 0,
        ${String(usd("0.9"))}, 0)`;
  }
  // The usual is $0.30 in five minutes, so the rule wants $3.
  expect(await pass(10 * SECOND_MS)).toBe(0);
  await spend(account, "1.9");
  expect(await pass(10 * SECOND_MS)).toBe(0);
  await spend(account, "0.1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("a rule that compares with the usual has an amount of at least one cent", () => {
  const problem = {
    field: "above_usd",
    must: "must be at least 0.01 with a number of times",
  } as const;
  expect(burnProblem(burnTerms({ times: 2, amount: usd("0.009999999") }))).toEqual(problem);
  expect(burnProblem(burnTerms({ times: 2, amount: usd("0.01") }))).toBeNull();
  expect(burnProblem(burnTerms({ amount: usd("0.000000001") }))).toBeNull();
  const refuse = (pointer: string, must: string) => {
    throw new Error(`${pointer} ${must}`);
  };
  const rule = { above_usd: "0.001", times_usual: 3, action: "alert" } as const;
  expect(() => readBurnRates([rule], refuse)).toThrow(`/burn_rates/0/above_usd ${problem.must}`);
});

/** Adds to the charges of an account's key for calls of a month. */
async function addToMonth({ row, keyId }: TestAccount, month: number, cost: string): Promise<void> {
  await database.sql`
    INSERT INTO month_spend (account, month, key, spent)
    SELECT ${row.number}, ${month}, number, ${String(usd(cost))}::bigint FROM keys
    WHERE id = ${keyId}
    ON CONFLICT (account, month, key) DO UPDATE SET spent = month_spend.spent + excluded.spent`;
}

test("months that take no charges any more are not read", async () => {
  const account = await withRule();
  await pass(10 * SECOND_MS);
  await addToMonth(account, monthBefore(monthBefore(monthOf(nowMs))), "50");
  expect(await pass(MINUTE_MS)).toBe(0);
  await addToMonth(account, monthBefore(monthOf(nowMs)), "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
});

test("spending over the turn of a month is summed, and no month counts twice", async () => {
  nowMs = nextMonthMs(nextMonthMs(Date.now())) - MINUTE_MS;
  const account = await withRule();
  const month = monthOf(nowMs);
  await addToMonth(account, monthBefore(month), "50");
  await addToMonth(account, month, "20");
  await database.sql`DELETE FROM burn_samples`;
  await pass(30 * SECOND_MS);
  await addToMonth(account, month, "0.5");
  expect(await pass(2 * MINUTE_MS)).toBe(0);
  expect(monthOf(nowMs)).toBeGreaterThan(month);
  await addToMonth(account, month, "0.2");
  await addToMonth(account, monthOf(nowMs), "0.2");
  expect(await pass(10 * SECOND_MS)).toBe(0);
  await addToMonth(account, monthOf(nowMs), "0.1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
  expect(await listLasting(database, account.row.number)).toMatchObject([{ spent: usd("1") }]);
});

test("alarms and removed rules are deleted after 90 days, but none that is not over", async () => {
  const [over, lasting] = [await withRule({ minutes: 5 }), await withRule({ action: "alert" })];
  await giveRule(world, over);
  const removed = await giveRule(world, over, { amount: usd("90") });
  await removeBurnRule(database, over.row.number, { number: removed, now: new Date(), also });
  await spend(over, "1");
  await spend(lasting, "1");
  expect(await pass(10 * SECOND_MS)).toBe(3);
  await pass(10 * MINUTE_MS);
  const count = async () => {
    const [row] = await database.sql<{ alarms: bigint; rules: bigint }[]>`
      SELECT (SELECT count(*) FROM burn_alarms) AS alarms,
        (SELECT count(*) FROM burn_rules) AS rules`;
    return { alarms: Number(row?.alarms), rules: Number(row?.rules) };
  };
  await deleteOldAlarms(database, new Date(nowMs));
  expect(await count()).toEqual({ alarms: 3, rules: 4 });
  await database.sql`UPDATE burn_alarms SET at = at - interval '91 days'`;
  await database.sql`UPDATE burn_rules SET removed_at = removed_at - interval '91 days'`;
  // The alert went on while its key spent, and the second pause lasts.
  await database.sql`UPDATE burn_alarms SET over_at = NULL
    WHERE account = ${lasting.row.number}`;
  await deleteOldAlarms(database, new Date(nowMs));
  expect(await count()).toEqual({ alarms: 2, rules: 3 });
  // Nobody watches the key of the alert any more.
  await database.sql`UPDATE burn_rules SET removed_at = now()
    WHERE account = ${lasting.row.number}`;
  await pass(10 * SECOND_MS);
  await deleteOldAlarms(database, new Date(nowMs));
  expect(await listLasting(database, over.row.number)).toHaveLength(1);
  expect((await count()).alarms).toBe(1);
});

test("a clock that runs ahead deletes no alarm", async () => {
  const account = await withRule({ minutes: 5 });
  await spend(account, "1");
  expect(await pass(10 * SECOND_MS)).toBe(1);
  await pass(10 * MINUTE_MS);
  await deleteOldAlarms(database, new Date(nowMs + 365 * DAY_MS));
  expect(await database.sql`SELECT FROM burn_alarms`).toHaveLength(1);
});
