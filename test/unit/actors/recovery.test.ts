// Tests buckets that several processes find lost at the same time: one process rebuilds them, and
// no change that is served meanwhile is lost.

import { expect, test } from "bun:test";
import { asBytes } from "../../../actors/scripts/script.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { eventually } from "../../support/eventually.ts";
import { type ActorProcess, openProcess } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound } from "../../support/stores/ledger-checks.ts";
import {
  accountIn,
  balances,
  DONE,
  hold,
  isAnyLockAwaited,
  openAccount,
  openWorld,
  usd,
  verdictOrError,
} from "../../support/stores/world.ts";
import { bucketRecordOf } from "./suites/redis-reads.ts";

const NONE = usd("0");

const world = await shared(openWorld());

async function spend(account: TestAccount, amount: string): Promise<void> {
  await (await hold(account, usd(amount))).settle(usd(amount), DONE);
}

/** Runs `before` ahead of each change of a process to Redis in a recovery. */
function delayRecovery({ redis }: Pick<ActorProcess, "redis">, before: () => Promise<void>): void {
  const evaluate = asBytes(redis).evalBuffer.bind(redis) as (
    ...args: readonly unknown[]
  ) => Promise<unknown>;
  const delayed = async (...args: readonly unknown[]) => {
    await before();
    return await evaluate(...args);
  };
  Object.defineProperty(redis, "evalBuffer", { value: delayed });
}

async function epochs(account: TestAccount): Promise<readonly number[]> {
  const cursors = await new Ledger(world.database).cursors();
  const cursor = cursors.find(({ bucket }) => bucket === account.row.bucket);
  return [(await bucketRecordOf(world, account)).epoch, Number(cursor?.epoch)];
}

test("spending after one process rebuilt a bucket outlasts the other's recovery", async () => {
  await using first = openProcess(world);
  await using other = openProcess(world);
  const account = await openAccount(world, { paid: "10" });
  await spend(account, "1");
  await world.flush();
  const before = (await epochs(account))[1] ?? 0;
  await world.redis.flushall();
  let isOtherThere = false;
  const spent = Promise.withResolvers<void>();
  delayRecovery(other, async () => {
    isOtherThere = true;
    await spent.promise;
  });

  let recovering: Promise<void> | null = null;
  delayRecovery(first, async () => {
    recovering ??= other.accounts.scripts.prepare();
    await eventually("both recover", async () => isOtherThere || (await isAnyLockAwaited(world)));
  });
  await first.accounts.scripts.prepare();
  await spend(accountIn(first.accounts, account), "2");
  spent.resolve();
  await recovering;
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("2"), held: NONE });
  expect(await epochs(account)).toEqual([before + 1, before + 1]);
  await expectSound(world, account);
});

/** Resets Redis to its state before the last change of the account's access document. */
async function forgetChange({ actor }: TestAccount, change: () => Promise<unknown>) {
  const { wallet, document } = actor.keys;
  const before = await Promise.all([wallet, document].map((key) => world.redis.getBuffer(key)));
  await change();
  await actor.configure();
  await world.redis.mset(wallet, before[0] ?? "", document, before[1] ?? "");
}

function codeIn({ accounts }: Pick<ActorProcess, "accounts">, account: TestAccount) {
  return verdictOrError(accountIn(accounts, account), usd("1"));
}

test("a key that an older Redis took for valid is refused by the first call", async () => {
  await using other = openProcess(world);
  const account = await openAccount(world);
  await spend(account, "1");
  await forgetChange(account, () => world.store.revokeKey(account.keyId, new Date()));
  expect(await codeIn(other, account)).toBe("admitted");
  await world.redis.function("FLUSH");
  await using third = openProcess(world);
  expect(await codeIn(third, account)).toBe("invalid_api_key");
  expect(await codeIn(other, account)).toBe("invalid_api_key");
  expect(await codeIn(world, account)).toBe("invalid_api_key");
});

test("if a bucket came back older, all access documents are given again, however old", async () => {
  const account = await openAccount(world);
  await spend(account, "1");
  await forgetChange(account, () =>
    world.store.change(account.row, { state: "suspended", stateReason: "dispute" }, new Date()),
  );
  await world.database.sql`UPDATE accounts SET changed_at = now() - interval '3 days'`;
  await world.redis.del(`{b${(account.row.bucket + 1) % 64}}:bucket`);
  await world.redis.function("FLUSH");
  await using other = openProcess(world);
  expect(await codeIn(other, account)).toBe("account_inactive");
});

test("a bucket that two processes find contradicting is rebuilt once", async () => {
  await using other = openProcess(world);
  const account = await openAccount(world, { paid: "10" });
  const { bucket } = account.row;
  await spend(account, "1");
  await world.flush();
  const [, epoch = 0] = await epochs(account);
  await world.accounts.rebuild([{ bucket, epoch }]);
  await spend(account, "2");
  await other.accounts.rebuild([{ bucket, epoch }]);
  expect(await epochs(account)).toEqual([epoch + 1, epoch + 1]);
  expect((await balances(account)).free).toBe(usd("2"));
  await expectSound(world, account);
});

test("a recovery that dies before its commit is repeated with a higher epoch", async () => {
  class DyingBook extends WalletRepository {
    override lostDocuments(): never {
      throw new Error("killed");
    }
  }
  await using dying = openProcess(world, { repository: (database) => new DyingBook(database) });
  const account = await openAccount(world, { paid: "10" });
  await spend(account, "1");
  await world.flush();
  const [, epoch = 0] = await epochs(account);
  await world.redis.flushall();
  await expect(dying.accounts.scripts.prepare()).rejects.toThrow();
  expect(await epochs(account)).toEqual([epoch + 1, epoch]);
  // Served before the next process looks; the ledger has no entries of this epoch's journal.
  await spend(account, "2");
  await world.flush();
  expect(await epochs(account)).toEqual([epoch + 2, epoch + 2]);
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("4"), held: NONE });
  await spend(account, "3");
  await expectSound(world, account);
});

test("buckets that two processes rebuild all at once never wait in a circle", async () => {
  await using other = openProcess(world);
  const account = await openAccount(world, { paid: "10" });
  await spend(account, "1");
  await world.flush();
  const buckets = Array.from({ length: 64 }, (_, bucket) => bucket);
  const processes = [world.accounts, other.accounts];
  await Promise.all(processes.flatMap((one) => buckets.map((bucket) => one.rebuild([{ bucket }]))));
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("4"), held: NONE });
  await expectSound(world, account);
});
