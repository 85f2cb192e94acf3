import { expect, test } from "bun:test";
import { accountKeys, holdsKey } from "../../../actors/records/keys.ts";
import { REFUSED_ROWS_PER_MINUTE } from "../../../src/core/access/limits.ts";
import { metadataText } from "../../../src/core/journal/journal.ts";
import { HOLD_EXPIRED, sweepExpired } from "../../../workers/sweep.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { found } from "../../support/stores/audit-lab.ts";
import {
  ASKED,
  balances,
  DONE,
  hold,
  nano,
  openAccount,
  openAccountAlone,
  openWorld,
  usd,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());

const sweep = () => sweepExpired({ scripts: world.accounts.scripts });

/** Lets the lease of this process in the account's bucket run out. */
async function abandon({ actor }: TestAccount): Promise<void> {
  const { leases } = world.accounts;
  await world.redis.hset(actor.keys.leases, leases.owner, Date.now() - 1);
}

test("a hold whose owner is gone is settled to its checkpoint and logged as expired", async () => {
  const account = await openAccount(world, { paid: "10" });
  const streamed = await hold(account, usd("8"), { stream: true });
  streamed.checkpoint(usd("6.5"));
  await world.accounts.renewLeases();
  await hold(account, usd("2"));
  await abandon(account);
  expect(await sweep()).toEqual({ expired: 2, summaries: 0 });
  expect(await balances(account)).toEqual({ paid: usd("8.5"), free: nano(0n), held: nano(0n) });
  await world.flush();
  const rows = await world.database.sql`
    SELECT cost, status, error_code FROM request_log WHERE account = ${account.row.number}
    ORDER BY cost DESC`;
  const expired = { status: 500, error_code: HOLD_EXPIRED };
  expect([...rows]).toEqual([
    { cost: 6_500_000_000n, ...expired },
    { cost: 0n, ...expired },
  ]);
  expect(await found(world, account)).toBe("");
});

test("a hold with a live lease is left alone, and a second sweep finds nothing", async () => {
  const account = await openAccount(world, { paid: "10" });
  await hold(account, usd("3"));
  expect(await sweep()).toEqual({ expired: 0, summaries: 0 });
  expect((await balances(account)).held).toBe(usd("3"));
  await abandon(account);
  expect((await sweep()).expired).toBe(1);
  expect((await sweep()).expired).toBe(0);
});

test("an owner that comes back after the sweep pays its debt, once", async () => {
  const account = await openAccount(world, { paid: "10" });
  const open = await hold(account, usd("5"), { freeEligible: false });
  open.checkpoint(usd("1"));
  await world.accounts.renewLeases();
  await abandon(account);
  await sweep();
  expect((await balances(account)).paid).toBe(usd("9"));
  expect(await open.settle(usd("4"), DONE)).toMatchObject({ charged: usd("4") });
  expect((await balances(account)).paid).toBe(usd("6"));
  expect(await found(world, account)).toBe("");
});

test("an owner that comes back after its wallet was evicted pays too", async () => {
  const account = await openAccount(world, { paid: "10" });
  const open = await hold(account, usd("5"), { freeEligible: false });
  const cheap = await hold(account, usd("3"), { freeEligible: false });
  open.checkpoint(usd("1"));
  cheap.checkpoint(usd("2"));
  await world.accounts.renewLeases();
  await abandon(account);
  await sweep();
  await world.flush();
  expect(await account.actor.evict(0)).toBe(true);
  expect(await open.settle(usd("4"), DONE)).toMatchObject({ charged: usd("4") });
  await world.flush();
  expect(await account.actor.evict(0)).toBe(true);
  // The checkpoint was too high: the difference goes back.
  expect(await cheap.settle(usd("0.5"), DONE)).toMatchObject({ charged: usd("0.5") });
  expect((await balances(account)).paid).toBe(usd("5.5"));
  expect(await found(world, account)).toBe("");
});

test("sweeps of several processes at once expire each of many holds once", async () => {
  const account = await openAccount(world, { paid: "1000", paidAt: new Date(0) });
  const holds = [];
  for (let n = 0; n < 390; n += 1) holds.push(await hold(account, usd("0.5")));
  await abandon(account);
  const others = [world.process(), world.process()].map(({ scripts }) => sweepExpired({ scripts }));
  const swept = await Promise.all([sweep(), ...others]);
  expect(swept.reduce((sum, { expired }) => sum + expired, 0)).toBe(390);
  expect(await balances(account)).toEqual({ paid: usd("1000"), free: usd("5"), held: nano(0n) });
});

test("refused requests beyond those with rows become one summary of the ended minute", async () => {
  const account = await openAccount(world);
  await account.actor.applyOperations();
  const minute = Math.floor(Date.now() / 60_000) - 1;
  const field = `${account.row.id}|${account.keyId}|${minute}`;
  const metadata = metadataText(ASKED);
  const count = REFUSED_ROWS_PER_MINUTE + 23;
  await world.redis.hset(account.actor.keys.refused, field, count, `${field}|metadata`, metadata);
  expect((await sweep()).summaries).toBe(1);
  expect((await sweep()).summaries).toBe(0);
  await world.flush();
  const rows = await world.database.sql`
    SELECT requests, error_code FROM request_log WHERE account = ${account.row.number}`;
  expect([...rows]).toEqual([{ requests: 23, error_code: "refused_summary" }]);
});

test("a hold that cannot be settled stays and is named; its bucket is swept", async () => {
  const account = await openAccountAlone(world, { paid: "10" });
  const { actor, row } = account;
  await hold(account, usd("2"));
  const holds = holdsKey(row.bucket, world.accounts.leases.owner);
  const [bytes] = await world.redis.hvalsBuffer(holds);
  if (bytes === undefined) throw new Error("There is no hold");
  const stranger = row.id.replaceAll(/.$/g, "!");
  const { wallet } = accountKeys(stranger, row.bucket);
  const other = Buffer.from(bytes.toString("latin1").replace(row.id, stranger), "latin1");
  await world.redis.hset(holds, "req_torn", bytes.subarray(0, 40), "req_other", other);
  await world.redis.set(wallet, "torn");
  const minute = Math.floor(Date.now() / 60_000) - 1;
  const field = `${row.id}|${account.keyId}|${minute}`;
  await world.redis.hset(actor.keys.refused, field, REFUSED_ROWS_PER_MINUTE + 1);
  await abandon(account);

  const failed = await sweep().catch((error: unknown) => error);
  const [ofBucket] = failed instanceof AggregateError ? failed.errors : [];
  expect(ofBucket?.errors?.map(String).sort()).toEqual([
    "Error: The hold of req_other could not be settled",
    "Error: The hold of req_torn could not be settled",
  ]);
  expect(await balances(account)).toMatchObject({ paid: usd("10"), held: nano(0n) });
  expect(await world.redis.hlen(actor.keys.refused)).toBe(0);
  expect((await world.redis.hkeys(holds)).sort()).toEqual(["req_other", "req_torn"]);
  await world.redis.del(holds, wallet);
});
