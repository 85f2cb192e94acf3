// Tests credits and charges whose ledger row Postgres refused. The balances of later entries
// include them, so a rebuilt wallet must not get the credits a second time, and its key has spent
// the charges.

import { expect, test } from "bun:test";
import { retryAll } from "../../../src/operator/queues.ts";
import { evictIdle } from "../../../workers/eviction.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { flushWithout, found, rebuiltWithoutGift } from "../../support/stores/audit-lab.ts";
import { changeWallet } from "../../support/stores/packed-wallet.ts";
import {
  balances,
  DONE,
  hold,
  openAccountAlone,
  openWorld,
  usd,
  verdict,
  walletOf,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const { sql } = world.database;

async function spend(account: TestAccount): Promise<void> {
  await (await hold(account, usd("0.02"))).settle(usd("0.01"), DONE);
}

async function evict({ actor }: TestAccount): Promise<void> {
  await changeWallet(world.redis, actor.keys.wallet, { usedMs: 1 });
  await evictIdle({ redis: world.redis, accounts: world.accounts, idleMs: 1_000, log: silent });
  expect(await world.redis.exists(actor.keys.wallet)).toBe(0);
}

/**
 * An account whose second operation, a gift of $3, is missing in the ledger before its last row.
 */
async function withGift(): Promise<TestAccount> {
  const account = await openAccountAlone(world);
  await spend(account);
  const terms = { kind: "adjustment", amount: usd("3"), reason: "gift", reference: null } as const;
  await world.store.adjust(account.row, terms);
  await account.actor.applyOperations();
  await spend(account);
  await flushWithout(world, "paid_delta = 3000000000");
  expect(await balances(account)).toMatchObject({ paid: usd("3"), free: usd("4.98") });
  return account;
}

test("a credit that the ledger lacks is not given again when its wallet comes back", async () => {
  const account = await withGift();
  await evict(account);
  expect(await balances(account)).toMatchObject({ paid: usd("3"), free: usd("4.98") });
  await spend(account);
  expect(await found(world, account)).toBe("");
  const results = await retryAll(world.database);
  expect(results.map(({ reason }) => reason)).toEqual([null]);
  await evict(account);
  expect(await balances(account)).toMatchObject({ paid: usd("3"), free: usd("4.97") });
  expect(await found(world, account)).toBe("");
});

test("nor when its bucket is rebuilt, and later operations are given once", async () => {
  const account = await withGift();
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  const terms = { kind: "adjustment", amount: usd("2"), reason: "more", reference: null } as const;
  await world.store.adjust(account.row, terms);
  expect(await balances(account)).toMatchObject({ paid: usd("5"), free: usd("4.98") });
  await account.actor.applyOperations();
  expect(await balances(account)).toMatchObject({ paid: usd("5") });
});

test("nor if only a later release knows its kind", async () => {
  const account = await withGift();
  const [row] = await sql`
    SELECT content FROM rejected_entries WHERE account = ${account.row.id}`;
  const content = Buffer.from(row?.content as Uint8Array);
  content.write("adjustmenX", content.indexOf("adjustment"));
  await sql`UPDATE rejected_entries SET content = ${content} WHERE account = ${account.row.id}`;
  await evict(account);
  expect(await balances(account)).toMatchObject({ paid: usd("3") });
});

test("spending that the ledger lacks counts for its key when the wallet comes back", async () => {
  const account = await openAccountAlone(world, { paid: "10", monthlyLimit: "5" });
  for (const cost of ["3", "1", "0.5"]) {
    await (await hold(account, usd(cost))).settle(usd(cost), DONE);
  }
  await flushWithout(world, "free_delta = -1000000000");
  await evict(account);
  expect(await walletOf(account)).toMatchObject({ spent: usd("4.5") });
  expect(await verdict(account, usd("0.6"))).toBe("key_budget_exceeded");
  expect(await verdict(account, usd("0.5"))).toBe("admitted");
  expect(await found(world, account)).toBe("");
  const results = await retryAll(world.database);
  const own = results.filter(({ rejection }) => rejection.account === account.row.id);
  expect(own.map(({ reason }) => reason)).toEqual([null]);
  expect(await found(world, account)).toBe("");
  await evict(account);
  expect(await found(world, account)).toBe("");
});

test("free credit that the ledger lacks still ends when it must", async () => {
  const account = await openAccountAlone(world);
  await spend(account);
  const { freeEnds } = await walletOf(account);
  await flushWithout(world, "free_delta = 5000000000");
  await evict(account);
  expect(await walletOf(account)).toMatchObject({ free: usd("4.99"), freeEnds });
});

test("a refused credit without later entries is given by the rebuild", async () => {
  const account = await rebuiltWithoutGift(world);
  expect(await balances(account)).toMatchObject({ paid: usd("3"), free: usd("4.99") });
  // The rebuilt wallet gives the refused entry's number to its own entry.
  await spend(account);
  await world.flush();
  await evict(account);
  expect(await balances(account)).toMatchObject({ paid: usd("3"), free: usd("4.98") });
});
