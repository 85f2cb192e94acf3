// Tests wallets that come and go in Redis while other processes read, change and use them.

import { beforeAll, describe, expect, test } from "bun:test";
import type { AccountActors } from "../../../../actors/account-actors.ts";
import { hydrate } from "../../../../actors/scripts/wallet-scripts.ts";
import { NO_FREE_ENDS } from "../../../../src/core/money/free-lots.ts";
import {
  type WalletRecord,
  WalletRepository,
} from "../../../../src/store/accounts/wallet-repository.ts";
import { Gate, openProcess } from "../../../support/product/actor-process.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  accountIn,
  balances,
  DONE,
  fewAtOnce,
  hold,
  nano,
  openAccount,
  usd,
  verdictOrError,
  type World,
} from "../../../support/stores/world.ts";
import { bucketRecordOf, hasWallet } from "./redis-reads.ts";
import type { WorldFactory } from "./world-factory.ts";

/** A repository that returns a wallet only when the gate opens. */
class SlowBook extends WalletRepository {
  gate: Gate | null = null;
  /** The readings of wallets so far. */
  readings = 0;

  override async readWallet(accountId: string): Promise<WalletRecord | null> {
    this.readings += 1;
    const record = await super.readWallet(accountId);
    await this.#wait();
    return record;
  }

  async #wait(): Promise<void> {
    const { gate } = this;
    this.gate = null;
    await gate?.pass();
  }
}

/** Another process with a slow ledger. */
function slowProcess(world: World) {
  const books: SlowBook[] = [];
  const process = openProcess(world, {
    repository: (database) => {
      const repository = new SlowBook(database);
      books.push(repository);
      return repository;
    },
  });
  const [repository] = books;
  if (repository === undefined) throw new Error("The process has no book");
  return { ...process, repository };
}

/** Begins to build the wallet, up to the moment when it has been read. */
async function buildSlowly(other: ReturnType<typeof slowProcess>, account: TestAccount) {
  const gate = new Gate();
  other.repository.gate = gate;
  const building = accountIn(other.accounts, account).actor.hydrate();
  await gate.reached;
  return { gate, building };
}

const codeIn = (accounts: AccountActors, account: TestAccount) =>
  verdictOrError(accountIn(accounts, account), usd("1"));

export const hydrationSuite = (open: WorldFactory): void =>
  describe("wallets that come and go", () => {
    const world = suiteWorld(() => open());
    beforeAll(async () => {
      await world.accounts.scripts.prepare();
    });

    test("a key revoked while another process builds the wallet is refused", async () => {
      await using other = slowProcess(world);
      const account = await openAccount(world);
      const { gate, building } = await buildSlowly(other, account);
      await world.store.revokeKey(account.keyId, new Date());
      await account.actor.configure();
      gate.open();
      await building;
      expect(await codeIn(other.accounts, account)).toBe("invalid_api_key");
      expect(await codeIn(world.accounts, account)).toBe("invalid_api_key");
    });

    test("a call beside an account's first is not refused for credit on its way", async () => {
      await using other = slowProcess(world);
      const account = await openAccount(world, { paid: "10" });
      const operationsAfter = other.repository.operationsAfter.bind(other.repository);
      const refused: string[] = [];
      // Another process calls at the moment when this one has read the operations.
      other.repository.operationsAfter = async (accountId, after) => {
        const operations = await operationsAfter(accountId, after);
        refused.push(await codeIn(world.accounts, account));
        return operations;
      };
      expect(await codeIn(other.accounts, account)).toBe("admitted");
      expect(refused).not.toContain("insufficient_credits");
      expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("5"), held: nano(0n) });
    });

    test("parallel calls without a wallet read it from Postgres once", async () => {
      await using other = slowProcess(world);
      const account = await openAccount(world, { paid: "10" });
      const verdicts = await fewAtOnce(Array.from({ length: 8 }), () =>
        codeIn(other.accounts, account),
      );
      expect(new Set(verdicts)).toEqual(new Set(["admitted"]));
      expect(other.repository.readings).toBe(1);
    });

    test("a failed reading fails the calls that shared it, and no later one", async () => {
      await using other = slowProcess(world);
      const account = await openAccount(world, { paid: "10" });
      const readWallet = other.repository.readWallet.bind(other.repository);
      other.repository.readWallet = () => Promise.reject(new Error("Postgres is away"));
      const calls = [1, 2].map(() => codeIn(other.accounts, account));
      expect(await Promise.all(calls)).toEqual(["service_unavailable", "service_unavailable"]);
      other.repository.readWallet = readWallet;
      expect(await codeIn(other.accounts, account)).toBe("admitted");
    });

    test("a wallet that was read before an eviction is not built from that reading", async () => {
      await using other = slowProcess(world);
      const account = await openAccount(world, { paid: "10" });
      const { gate, building } = await buildSlowly(other, account);
      const open = await hold(account, usd("4"));
      await open.settle(usd("4"), DONE);
      await world.flush();
      expect(await account.actor.evict(0)).toBe(true);
      gate.open();
      await building;
      expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("1"), held: nano(0n) });
    });

    test("a wallet read before a rebuild of its bucket is not built after it", async () => {
      await using other = slowProcess(world);
      const account = await openAccount(world, { paid: "10" });
      const { gate, building } = await buildSlowly(other, account);
      const open = await hold(account, usd("15"));
      await open.settle(usd("15"), DONE);
      await world.flush();
      await world.accounts.rebuild([{ bucket: account.row.bucket }]);
      gate.open();
      await building;
      expect(await balances(account)).toEqual({ paid: nano(0n), free: nano(0n), held: nano(0n) });
    });

    test("eviction spares a wallet with a hold, with unflushed entries, or just used", async () => {
      const account = await openAccount(world);
      const open = await hold(account, usd("1"));
      await world.flush();
      expect(await account.actor.evict(0)).toBe(false);
      await open.settle(usd("1"), DONE);
      expect(await account.actor.evict(0)).toBe(false);
      await world.flush();
      expect(await account.actor.evict(60_000)).toBe(false);
      expect(await account.actor.evict(0)).toBe(true);
      expect(await balances(account)).toEqual({ paid: nano(0n), free: usd("4"), held: nano(0n) });
    });

    test("two processes that use, flush and evict one wallet invent no cent", async () => {
      await using other = slowProcess(world);
      const account = await openAccount(world, { paid: "100", paidAt: new Date(0) });
      const spend = async (accounts: AccountActors) => {
        const open = await hold(accountIn(accounts, account), usd("0.01"));
        await open.settle(usd("0.01"), DONE);
      };
      for (let round = 0; round < 30; round++) {
        const evicting = async (accounts: AccountActors) => {
          await world.flush();
          await accountIn(accounts, account).actor.evict(0);
        };
        await Promise.all([
          spend(world.accounts),
          evicting(other.accounts),
          spend(other.accounts),
          evicting(world.accounts),
        ]);
        // In the next round both processes find no wallet, and build it at the same time.
        await evicting(world.accounts);
        expect(await hasWallet(world, account)).toBe(false);
      }
      expect(await balances(account)).toEqual({
        paid: usd("100"),
        free: usd("4.4"),
        held: nano(0n),
      });
    });

    test("an account with thousands of keys can be built", async () => {
      const account = await openAccount(world);
      const { scripts } = world.accounts;
      const { epoch, evictions } = await bucketRecordOf(world, account);
      const spending = Array.from({ length: 6_000 }, (_, index) => ({
        key: `key_${index}`,
        month: 209901,
        spent: usd("1"),
        monthBefore: 0,
        spentBefore: usd("0"),
      }));
      const record = await new WalletRepository(world.database).readWallet(account.row.id);
      if (record === null) throw new Error("The account is gone");
      const built = await scripts.run(hydrate, {
        ...record,
        freeEnds: NO_FREE_ENDS,
        nowMs: 0,
        account: account.row.id,
        keys: account.actor.keys,
        epoch,
        evictions,
        pending: [],
        spending,
      });
      expect(built).toBe("ok");
    });
  });
