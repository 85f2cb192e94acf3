// Tests that every process knows a change of access at its next call, without a further round trip.

import { describe, expect, test } from "bun:test";
import type { AccountActors } from "../../../../actors/account-actors.ts";
import { openProcess, tapScripts } from "../../../support/product/actor-process.ts";
import { createTestKey, type TestAccount } from "../../../support/stores/accounts.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  accountIn,
  DONE,
  hold,
  openAccount,
  usd,
  verdictOrError,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

const codeIn = (accounts: AccountActors, account: TestAccount) =>
  verdictOrError(accountIn(accounts, account), usd("1"));

export const accessSuite = (open: WorldFactory): void =>
  describe("access", () => {
    const world = suiteWorld(() => open());

    test("a revoked key is refused by the next call of another process", async () => {
      await using other = openProcess(world);
      const account = await openAccount(world);
      expect(await codeIn(other.accounts, account)).toBe("admitted");
      let scripts = 0;
      tapScripts(other.redis, (send) => {
        scripts += 1;
        return send();
      });
      // Usually one script admits and one ends the call.
      expect(await codeIn(other.accounts, account)).toBe("admitted");
      expect(scripts).toBe(2);
      await world.store.revokeKey(account.keyId, new Date());
      await account.actor.configure();
      expect(await codeIn(other.accounts, account)).toBe("invalid_api_key");
      expect(await codeIn(world.accounts, account)).toBe("invalid_api_key");
    });

    test("a key made elsewhere is known at its first call", async () => {
      await using other = openProcess(world);
      const account = await openAccount(world);
      expect(await codeIn(other.accounts, account)).toBe("admitted");
      const key = await createTestKey(world.store, account.row);
      await account.actor.configure();
      expect(await codeIn(other.accounts, { ...account, keyId: key.id })).toBe("admitted");
    });

    test("a suspended account is refused, keeps its keys, and is served when resumed", async () => {
      await using other = openProcess(world);
      const account = await openAccount(world);
      const { store } = world;
      expect(await codeIn(other.accounts, account)).toBe("admitted");
      const suspended = { state: "suspended" as const, stateReason: "dispute" };
      await store.change(account.row, suspended, new Date());
      await account.actor.configure();
      expect(await codeIn(other.accounts, account)).toBe("account_inactive");
      await store.change(account.row, { state: "active", stateReason: null }, new Date());
      await account.actor.configure();
      expect(await codeIn(other.accounts, account)).toBe("admitted");
    });

    test("a closed account has no keys any more", async () => {
      await using other = openProcess(world);
      const account = await openAccount(world);
      expect(await codeIn(other.accounts, account)).toBe("admitted");
      await world.store.change(account.row, { state: "closed" }, new Date());
      await account.actor.configure();
      expect(await codeIn(other.accounts, account)).toBe("invalid_api_key");
    });

    test("an open call of a revoked key ends at the next renewal, others go on", async () => {
      await using other = openProcess(world);
      const account = await openAccount(world);
      const key = await createTestKey(world.store, account.row);
      const { actor } = accountIn(other.accounts, account);
      const ending = await hold({ ...account, actor }, usd("1"));
      const going = await hold({ ...account, actor, keyId: key.id }, usd("1"));
      await world.store.revokeKey(account.keyId, new Date());
      await account.actor.configure();
      await other.accounts.renewLeases();
      expect([ending.signal.aborted, going.signal.aborted]).toEqual([true, false]);
      expect(await ending.settle(usd("0.5"), DONE)).toMatchObject({ charged: usd("0.5") });
      await going.release(DONE);
    });

    test("two changes handed over in the wrong order leave the newer one in force", async () => {
      const account = await openAccount(world);
      expect(await codeIn(world.accounts, account)).toBe("admitted");
      const older = await world.accounts.deps.repository.readDocument(account.row.id);
      await world.store.revokeKey(account.keyId, new Date());
      await account.actor.configure();
      const repository = world.accounts.deps.repository;
      const read = repository.readDocument.bind(repository);
      repository.readDocument = async () => older;
      await account.actor.configure();
      repository.readDocument = read;
      expect(await codeIn(world.accounts, account)).toBe("invalid_api_key");
    });
  });
