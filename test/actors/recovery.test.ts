// Buckets that several processes find lost at the same time: one rebuilds them, and nothing that is
// served meanwhile is dropped.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Book } from "../../src/store/book.ts";
import { Ledger } from "../../src/store/ledger.ts";
import { eventually } from "../support/eventually.ts";
import { testRedisUrl } from "../support/services.ts";
import {
  balances,
  DONE,
  hold,
  openAccount,
  openWorld,
  type TestAccount,
  usd,
  type World,
} from "../support/world.ts";
import { type ActorProcess, openProcess } from "./actor-process.ts";
import { expectSound } from "./suites/book-check.ts";

const NONE = usd("0");

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function second(book?: (...of: ConstructorParameters<typeof Book>) => Book) {
  const redisUrl = await testRedisUrl();
  return openProcess({ redisUrl, databaseUrl: world.databaseUrl, ...(book && { book }) });
}

async function spend(account: TestAccount, amount: string): Promise<void> {
  await (await hold(account, usd(amount))).settle(usd(amount), DONE);
}

/** Runs `before` ahead of what a process tells Redis in a recovery. */
function delayRecovery({ redis }: Pick<ActorProcess, "redis">, before: () => Promise<void>): void {
  const evaluate = redis.eval.bind(redis) as (...args: readonly unknown[]) => Promise<unknown>;
  const delayed = async (...args: readonly unknown[]) => {
    await before();
    return await evaluate(...args);
  };
  Object.defineProperty(redis, "eval", { value: delayed });
}

async function isAnybodyWaiting(): Promise<boolean> {
  const [row] = await world.database.sql`
    SELECT count(*)::int AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return Number(row?.waiting) > 0;
}

async function epochs(account: TestAccount): Promise<readonly number[]> {
  const cursors = await new Ledger(world.database).cursors();
  const cursor = cursors.find(({ bucket }) => bucket === account.row.bucket);
  return [Number(await world.redis.hget(account.actor.keys.meta, "epoch")), Number(cursor?.epoch)];
}

test("what is spent after one process rebuilt a bucket outlasts the other's recovery", async () => {
  await using first = await second();
  await using other = await second();
  const account = await openAccount(world, { paid: usd("10") });
  await spend(account, "1");
  await world.flush();
  await world.redis.flushall();
  const before = (await epochs(account))[1] ?? 0;
  let isOtherThere = false;
  const spent = Promise.withResolvers<void>();
  delayRecovery(other, async () => {
    isOtherThere = true;
    await spent.promise;
  });

  let recovering: Promise<void> | null = null;
  delayRecovery(first, async () => {
    recovering ??= other.accounts.scripts.prepare();
    await eventually("both recover", async () => isOtherThere || (await isAnybodyWaiting()));
  });
  const actor = first.accounts.of(account.row.id, account.row.bucket);
  await first.accounts.scripts.prepare();
  await spend({ ...account, actor }, "2");
  spent.resolve();
  await recovering;
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("2"), held: NONE });
  expect(await epochs(account)).toEqual([before + 1, before + 1]);
  await expectSound(world, account);
});

test("a bucket that two find contradicting is rebuilt once", async () => {
  await using other = await second();
  const account = await openAccount(world, { paid: usd("10") });
  const { bucket } = account.row;
  await spend(account, "1");
  await world.flush();
  const [, epoch = 0] = await epochs(account);
  await world.accounts.rebuild(bucket, epoch);
  await spend(account, "2");
  await other.accounts.rebuild(bucket, epoch);
  expect(await epochs(account)).toEqual([epoch + 1, epoch + 1]);
  expect((await balances(account)).free).toBe(usd("2"));
  await expectSound(world, account);
});

test("a recovery that dies before its commit is done again above what it left", async () => {
  class DyingBook extends Book {
    override recovery(rebuild: Parameters<Book["recovery"]>[0]): Promise<void> {
      return super.recovery(async (...of) => {
        await rebuild(...of);
        throw new Error("killed");
      });
    }
  }
  await using dying = await second((database) => new DyingBook(database));
  const account = await openAccount(world, { paid: usd("10") });
  await spend(account, "1");
  await world.flush();
  const [, epoch = 0] = await epochs(account);
  await world.redis.flushall();
  await expect(dying.accounts.scripts.prepare()).rejects.toThrow();
  expect(await epochs(account)).toEqual([epoch + 1, epoch]);
  // Served before the next process looks; the journal of this epoch is not in the book's.
  await spend(account, "2");
  await world.flush();
  expect(await epochs(account)).toEqual([epoch + 2, epoch + 2]);
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("4"), held: NONE });
  await spend(account, "3");
  await expectSound(world, account);
});

test("buckets that two processes rebuild all at once never wait in a circle", async () => {
  await using other = await second();
  const account = await openAccount(world, { paid: usd("10") });
  await spend(account, "1");
  await world.flush();
  const buckets = Array.from({ length: 64 }, (_, bucket) => bucket);
  const processes = [world.accounts, other.accounts];
  await Promise.all(processes.flatMap((one) => buckets.map((bucket) => one.rebuild(bucket))));
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("4"), held: NONE });
  await expectSound(world, account);
}, 30_000);
