// Tests that a key that is refused again and again costs Redis at most one script a second, and
// that all its refusals are in the log.

import { beforeEach, expect, test } from "bun:test";
import { countRefused, summarise } from "../../../actors/scripts/wallet-scripts.ts";
import { metadataText } from "../../../src/core/journal/journal.ts";
import { openProcess, TestClock, tapScripts } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound, logOf } from "../../support/stores/ledger-checks.ts";
import { refusalIn } from "../../support/stores/verdicts.ts";
import {
  ASKED,
  accountIn,
  ask,
  openAccount,
  openAccountAlone,
  openWorld,
  usd,
  verdict,
} from "../../support/stores/world.ts";

/** The limit of the Free tier in a minute. */
const LIMIT = 20;
const WITHOUT_TIER = { scope: "mail" } as const;

const clock = new TestClock("2031-03-15T12:00:30.200Z");
let account: TestAccount;
const world = await shared(openWorld(clock.options));
beforeEach(async () => {
  clock.set("2031-03-15T12:00:30.200Z");
  account = await openAccountAlone(world, { createdAt: clock.daysAgo(0) });
});

/** The refusal codes of this many requests, one after the other. */
async function refused(times: number): Promise<string[]> {
  const codes: string[] = [];
  for (let count = 0; count < times; count += 1) {
    codes.push(await verdict(account, usd("0"), WITHOUT_TIER));
  }
  return codes;
}

/** Refusals that Redis decided, in this minute. */
async function decided(): Promise<number> {
  const counts = await world.accounts.scripts.redis.hgetall(account.actor.keys.refused);
  const minute = Math.floor(clock.ms / 60_000);
  return Number(counts[`${account.row.id}|${account.keyId}|${minute}`] ?? 0);
}

test("a key refused more than 3 times its limit is answered 429 without a script", async () => {
  const codes = await refused(200);
  expect(codes.slice(0, 3 * LIMIT + 1)).toEqual(Array(3 * LIMIT + 1).fill("tier_required"));
  expect(codes.slice(3 * LIMIT + 1)).toEqual(Array(139).fill("rate_limit_exceeded"));
  expect(await decided()).toBe(61);
});

test("it is so for the rest of the second, and again after one more refusal", async () => {
  await refused(100);
  clock.ms += 799;
  expect(await refused(1)).toEqual(["rate_limit_exceeded"]);
  clock.ms += 1;
  expect(await refused(3)).toEqual(["tier_required", "rate_limit_exceeded", "rate_limit_exceeded"]);
  expect(await decided()).toBe(62);
});

test("the next minute starts a new count, and other keys are not affected", async () => {
  await refused(100);
  const other = await openAccount(world, { createdAt: clock.daysAgo(0) });
  expect(await verdict(other, usd("0"))).toBe("admitted");
  // The window counts its oldest second as a whole.
  clock.ms += 61_000;
  expect(await refused(1)).toEqual(["tier_required"]);
  expect(await verdict(account, usd("0"))).toBe("admitted");
});

test("429 carries the limit, nothing left, and a time to wait", async () => {
  await refused(100);
  const { actor, keyId } = account;
  const { rate, error } = refusalIn(await actor.admit(ask(keyId, usd("0"), WITHOUT_TIER)));
  expect(rate).toMatchObject({ limit: LIMIT, remaining: 0 });
  expect(error.retryAfterSeconds).toBeGreaterThan(0);
});

test("every refusal is in the log: 100 rows at most, and one for the rest", async () => {
  await refused(200);
  await world.accounts.renewLeases();
  await refused(50);
  const { scripts } = world.accounts;
  const { keys } = account.actor;
  clock.ms += 60_000;
  await world.accounts.renewLeases();
  expect(await scripts.run(summarise, { keys, nowMs: clock.ms })).toBe(1);
  expect(await scripts.run(summarise, { keys, nowMs: clock.ms })).toBe(0);
  expect(await world.accounts.scripts.redis.hgetall(keys.refused)).toEqual({});
  await expectSound(world, account);
  const rows = await logOf(world, account);
  expect(rows.filter((row) => row.error_code === "tier_required")).toHaveLength(61);
  expect(rows.filter((row) => row.error_code === "refused_summary")).toMatchObject([
    { requests: 189, status: 429, cost: 0n },
  ]);
});

test("refusals that are reported after their minute's summary are in the log too", async () => {
  await refused(200);
  const { scripts } = world.accounts;
  const { keys } = account.actor;
  await world.accounts.renewLeases();
  await refused(50);
  clock.ms += 60_000;
  const summed = { keys, nowMs: clock.ms };
  expect(await scripts.run(summarise, summed)).toBe(1);
  await world.accounts.renewLeases();
  expect(await scripts.run(summarise, summed)).toBe(1);
  await expectSound(world, account);
  const rows = await logOf(world, account);
  const summaries = rows.filter((row) => row.error_code === "refused_summary");
  expect(summaries.map(({ requests }) => Number(requests)).sort()).toEqual([139, 50]);
});

test("refusals counted without an answer are reported again, and count once", async () => {
  await using other = openProcess(world, clock.options);
  const { actor } = accountIn(other.accounts, account);
  for (let count = 0; count < 100; count += 1) {
    await actor.admit(ask(account.keyId, usd("0"), WITHOUT_TIER));
  }
  let sent = 0;
  tapScripts(other.redis, async (send) => {
    sent += 1;
    const reply = await send();
    if (sent === 1) throw new Error("Connection is closed.");
    return reply;
  });
  await other.accounts.renewLeases();
  await other.accounts.renewLeases();
  expect(sent).toBe(2);
  clock.ms += 60_000;
  const { keys } = account.actor;
  expect(await world.accounts.scripts.run(summarise, { keys, nowMs: clock.ms })).toBe(1);
  await expectSound(world, account);
  const rows = await logOf(world, account);
  expect(rows.filter((row) => row.error_code === "refused_summary")).toMatchObject([
    { requests: 39 },
  ]);
});

test("a repeated report counts once, even if an older release deleted its count", async () => {
  const { scripts } = world.accounts;
  const { keys } = account.actor;
  const { row, keyId } = account;
  await refused(1);
  const minute = Math.floor(clock.ms / 60_000);
  const sent = { keys, minute, refusals: 7, account: row.id, keyId, name: "one" };
  const metadata = metadataText(ASKED);
  await scripts.run(countRefused, { ...sent, metadata });
  await scripts.run(countRefused, { ...sent, metadata });
  await scripts.redis.hdel(keys.refused, `${row.id}|${keyId}|${minute}`);
  clock.ms += 60_000;
  expect(await scripts.run(summarise, { keys, nowMs: clock.ms })).toBe(1);
  expect(await scripts.redis.hgetall(keys.refused)).toEqual({});
  await expectSound(world, account);
  const rows = await logOf(world, account);
  expect(rows.filter((one) => one.error_code === "refused_summary")).toMatchObject([
    { requests: 7 },
  ]);
});
