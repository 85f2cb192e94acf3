import { afterEach, expect, test } from "bun:test";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { PendingWork } from "../../../src/store/accounts/pending-work.ts";
import { completeChanges } from "../../../workers/completer.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import { found } from "../../support/stores/audit-lab.ts";
import { sweepOne } from "../../support/stores/ledger-checks.ts";
import {
  balances,
  DONE,
  hold,
  nano,
  openAccount,
  openWorld,
  usd,
  verdict,
} from "../../support/stores/world.ts";

/** The scripts' clock is ahead by this time. */
let aheadMs = 0;
const now = () => Date.now() + aheadMs;

const world = await shared(openWorld({ now, scriptTime: now }));
afterEach(() => {
  aheadMs = 0;
});

function complete(
  accounts: Parameters<typeof completeChanges>[0]["accounts"] = world.accounts,
  postgresMs = now(),
) {
  const pendingWork = new PendingWork(world.database);
  return completeChanges({
    pendingWork,
    accounts,
    log: silent,
    now: async () => postgresMs,
    graceMs: -1_000,
  });
}

test("changes that a process committed before it died reach Redis, each once", async () => {
  const account = await openAccount(world);
  expect(await complete()).toMatchObject({ failed: 0 });
  expect(await balances(account)).toMatchObject({ paid: nano(0n), free: usd("5") });
  // Committed, and Redis was not informed: a payment, a suspension, a revocation.
  await world.payments.record(account.row, { amount: usd("7"), paidAt: new Date() });
  await world.store.revokeKey(account.keyId, new Date());
  expect((await balances(account)).paid).toBe(nano(0n));
  const done = await Promise.all([complete(), complete(), complete()]);
  expect(done.every(({ failed }) => failed === 0)).toBe(true);
  expect(await balances(account)).toMatchObject({ paid: usd("7"), free: usd("5") });
  await expect(verdict(account, usd("1"))).rejects.toThrow("revoked");
  await world.flush();
  expect(await complete()).toEqual({ applied: 0, expired: 0, failed: 0 });
  expect(await found(world, account)).toBe("");
});

test("a change that is in progress is left to the process that makes it", async () => {
  const account = await openAccount(world);
  await account.actor.configure();
  await world.flush();
  const young = await new PendingWork(world.database).unapplied(new Date(Date.now() - 60_000));
  expect(young.map(({ id }) => id)).not.toContain(account.row.id);
});

test("free credit whose time is over leaves the balance with an entry of its own", async () => {
  const createdAt = new Date(Date.now() - 90 * 86_400_000 - 1);
  const account = await openAccount(world, { createdAt, paid: "1" });
  await account.actor.applyOperations();
  const other = await openAccount(world);
  await other.actor.applyOperations();
  await world.flush();
  expect(await complete()).toMatchObject({ expired: 1 });
  expect(await balances(account)).toMatchObject({ paid: usd("1"), free: nano(0n) });
  expect((await balances(other)).free).toBe(usd("5"));
  await world.flush();
  expect(await complete()).toMatchObject({ expired: 0 });
  const rows = await world.database.sql`
    SELECT kind, free_delta FROM ledger_entries WHERE account = ${account.row.number}
    ORDER BY seq DESC LIMIT 1`;
  expect([...rows]).toEqual([{ kind: "free_expired", free_delta: -5_000_000_000n }]);
  expect(await found(world, account)).toBe("");
});

test("free credit that a call holds past its time goes when the call is settled", async () => {
  const createdAt = new Date(Date.now() - 90 * 86_400_000 + 60_000);
  const account = await openAccount(world, { createdAt });
  const open = await hold(account, usd("2"));
  aheadMs = 60_001;
  await world.flush();
  await complete();
  await open.settle(usd("0.5"), DONE);
  await world.flush();
  await complete();
  expect(await balances(account)).toEqual({ paid: nano(0n), free: nano(0n), held: nano(0n) });
  expect(await found(world, account)).toBe("");
});

test("free credit that a late settlement gives back after its time goes too", async () => {
  const createdAt = new Date(Date.now() - 90 * 86_400_000 + 2 * LEASE_MS);
  const account = await openAccount(world, { createdAt });
  const open = await hold(account, usd("5"), { stream: true });
  open.checkpoint(usd("5"));
  await world.accounts.renewLeases();
  aheadMs = LEASE_MS;
  await sweepOne(world, account, open.id);
  await world.flush();
  // Nothing of it is left when its time is over.
  aheadMs = 3 * LEASE_MS;
  await complete();
  await open.settle(usd("2"), DONE);
  expect((await balances(account)).free).toBe(usd("3"));
  await world.flush();
  await complete();
  expect(await balances(account)).toEqual({ paid: nano(0n), free: nano(0n), held: nano(0n) });
  expect(await found(world, account)).toBe("");
});

test("a lot that ends leaves the balance once, also after a worker died over it", async () => {
  const account = await openAccount(world);
  const { sql } = world.database;
  await sql`
    INSERT INTO operations (account, number, kind, balance, amount, expires_at)
    VALUES (${account.row.number}, 2, 'credit', 'free', 4000000000, now() + interval '1 day')`;
  await account.actor.applyOperations();
  const open = await hold(account, usd("1"));
  await world.flush();
  aheadMs = 86_400_001;
  // A worker that died before it noted that the lot has ended.
  await account.actor.expireFree(now());
  await Promise.all([complete(), complete()]);
  expect((await balances(account)).free).toBe(usd("5"));
  await open.settle(usd("0.25"), DONE);
  await world.flush();
  await complete();
  const running = await sql`
    SELECT number FROM operations WHERE account = ${account.row.number} AND NOT ended`;
  expect([...running]).toEqual([{ number: 1 }]);
  expect((await balances(account)).free).toBe(usd("5"));
  const rows = await sql`SELECT free_delta FROM ledger_entries
    WHERE account = ${account.row.number} AND kind = 'free_expired' ORDER BY seq`;
  expect(rows.map((row) => row.free_delta)).toEqual([-3_000_000_000n, -750_000_000n]);
  expect(await found(world, account)).toBe("");
});

test("a lot ends only when the clock of Redis agrees, and waits until then", async () => {
  const account = await openAccount(world);
  await world.database.sql`
    INSERT INTO operations (account, number, kind, balance, amount, expires_at)
    VALUES (${account.row.number}, 2, 'credit', 'free', 4000000000, now() + interval '1 day')`;
  await account.actor.applyOperations();
  await world.flush();
  // The clock of Postgres alone is ahead.
  const postgresMs = Date.now() + 86_400_001;
  for (const _ of [1, 2]) await complete(world.accounts, postgresMs);
  expect((await balances(account)).free).toBe(usd("9"));
  aheadMs = 86_400_001;
  await complete();
  expect((await balances(account)).free).toBe(usd("5"));
});

test("one account that fails does not delay the others", async () => {
  const bad = await openAccount(world, { paid: "1" });
  const good = await openAccount(world, { paid: "2" });
  const broken = () => Promise.reject(new Error("no"));
  const result = await complete({
    of: (id, bucket) =>
      id === bad.row.id
        ? { configure: broken, applyOperations: broken, expireFree: broken }
        : world.accounts.of(id, bucket),
  });
  expect(result.failed).toBe(1);
  expect((await balances(good)).paid).toBe(usd("2"));
});
