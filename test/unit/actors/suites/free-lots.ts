// Tests lots of free credit: each ends by itself, whatever calls hold, and the lot that ends first
// is spent first.

import { describe, expect, test } from "bun:test";
import { auditAccount } from "../../../../src/accounts/audit-account.ts";
import { LEASE_MS } from "../../../../src/core/access/limits.ts";
import { DAY_MS } from "../../../../src/core/durations.ts";
import { AuditRepository } from "../../../../src/store/audit/audit.ts";
import { bookOperation, lockAccount } from "../../../../src/store/ledger/operations.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { expectSound, ledgerOf, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  accountIn,
  balances,
  DONE,
  hold,
  openAccount,
  usd,
  verdict,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

const NONE = usd("0");
const START = "2031-03-15T12:00:00.000Z";

export const freeLotSuite = (open: WorldFactory): void =>
  describe("lots of free credit", () => {
    const clock = new TestClock(START);
    const world = suiteWorld(() => open(clock.options));

    /** An account with its $5 for 90 days, which may spend more than that in a month. */
    const account = async () => {
      clock.set(START);
      const mine = await openAccount(world, {
        createdAt: clock.daysAgo(0),
        contract: "enterprise",
      });
      await mine.actor.state();
      return mine;
    };

    const book = (mine: TestAccount, amount: string, days: number, bookedMs = clock.ms) =>
      world.database.db.transaction(async (tx) => {
        await lockAccount(tx, mine.row.number);
        const now = new Date(bookedMs);
        const expiresAt = new Date(bookedMs + days * DAY_MS);
        const credit = { kind: "credit", balance: "free", actor: "test", createdAt: now } as const;
        await bookOperation(tx, mine.row.number, { ...credit, amount: usd(amount), expiresAt });
      });

    const give = async (mine: TestAccount, amount: string, days: number) => {
      await book(mine, amount, days);
      await mine.actor.applyOperations();
    };

    const freeOf = async ({ actor, keyId }: TestAccount) => (await actor.view(keyId)).free;

    const spend = async (mine: TestAccount, cost: string) => {
      const call = await hold(mine, usd(cost));
      await call.settle(usd(cost), DONE);
    };

    /** A call that its process lost after this much, and that was swept. */
    const swept = async (mine: TestAccount, { held, streamed }: Record<string, string>) => {
      const call = await hold(mine, usd(held ?? ""), { stream: true });
      call.checkpoint(usd(streamed ?? ""));
      await world.accounts.renewLeases();
      clock.ms += LEASE_MS;
      await sweepOne(world, mine, call.id);
      return call;
    };

    /** The ledger's entries about ends, and nothing that the audit finds wrong. */
    const proven = async (mine: TestAccount) => {
      await expectSound(world, mine);
      const repository = new AuditRepository(world.database);
      const deps = { redis: world.redis, repository, graceMs: 60_000, scriptTime: clock.now };
      expect((await auditAccount(deps, mine.row)).difference).toBeNull();
      const rows = await ledgerOf(world, mine);
      return rows.filter(({ kind }) => kind === "free_expired").map((row) => row.free_delta);
    };

    test("end one by one, and the lot that ends first is spent first", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      await give(mine, "2", 120);
      await spend(mine, "1");
      expect(await freeOf(mine)).toBe(usd("10"));
      clock.ms += 10 * DAY_MS - 1;
      expect(await freeOf(mine)).toBe(usd("10"));
      clock.ms += 1;
      expect(await freeOf(mine)).toBe(usd("7"));
      expect(await verdict(mine, usd("7.000000001"))).toBe("insufficient_credits");
      await mine.actor.expireFree(clock.ms);
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-3")]);
      clock.ms += 80 * DAY_MS;
      expect(await freeOf(mine)).toBe(usd("2"));
      await mine.actor.expireFree(clock.ms);
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("2"), held: NONE });
      clock.ms += 30 * DAY_MS;
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-3"), usd("-5"), usd("-2")]);
    });

    test("that come later take nothing of earlier spending", async () => {
      const mine = await account();
      await spend(mine, "3");
      await give(mine, "4", 10);
      await spend(mine, "1");
      clock.ms += 10 * DAY_MS;
      expect(await freeOf(mine)).toBe(usd("2"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-3")]);
    });

    test("that come between two others leave earlier spending to those before", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      await spend(mine, "6");
      await give(mine, "4", 20);
      clock.ms += 10 * DAY_MS;
      await mine.actor.expireFree(clock.ms);
      expect(await freeOf(mine)).toBe(usd("7"));
      clock.ms += 10 * DAY_MS;
      await mine.actor.expireFree(clock.ms);
      expect(await freeOf(mine)).toBe(usd("3"));
      expect(await proven(mine)).toEqual([usd("-4")]);
    });

    test("held by a call at their end pay for it, and the rest is gone", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      const open1 = await hold(mine, usd("6"));
      clock.ms += 10 * DAY_MS;
      await mine.actor.expireFree(clock.ms);
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("3"), held: usd("6") });
      await open1.settle(usd("1"), DONE);
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("5"), held: NONE });
      expect(await proven(mine)).toEqual([usd("-3")]);
    });

    test("pay for no call that begins after their end, whatever others give back", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      const before = await hold(mine, usd("6"));
      clock.ms += 10 * DAY_MS;
      const after = await hold(mine, usd("3"));
      await before.settle(NONE, DONE);
      expect(await freeOf(mine)).toBe(usd("2"));
      expect(await verdict(mine, usd("2.000000001"))).toBe("insufficient_credits");
      await mine.actor.expireFree(clock.ms);
      await after.settle(usd("1"), DONE);
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("4"), held: NONE });
      expect(await proven(mine)).toEqual([usd("-4")]);
    });

    test("that come while ended credit is still there end by themselves", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      clock.ms += 10 * DAY_MS + 2_000;
      await give(mine, "3", 20);
      expect(await freeOf(mine)).toBe(usd("8"));
      clock.ms += 20 * DAY_MS;
      expect(await freeOf(mine)).toBe(usd("5"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-4"), usd("-3")]);
    });

    test("that come while calls hold ended credit end by themselves", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      const before = await hold(mine, usd("4"));
      clock.ms += 10 * DAY_MS;
      const after = await hold(mine, usd("1"));
      await give(mine, "3", 20);
      expect(await proven(mine)).toEqual([]);
      await before.settle(NONE, DONE);
      await after.settle(NONE, DONE);
      expect(await freeOf(mine)).toBe(usd("8"));
      clock.ms += 20 * DAY_MS;
      expect(await freeOf(mine)).toBe(usd("5"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-4"), usd("-3")]);
    });

    test("that come while calls hold ended credit all end by themselves", async () => {
      const mine = await account();
      const before = await hold(mine, usd("5"));
      clock.ms += 90 * DAY_MS;
      await give(mine, "3", 30);
      const after = await hold(mine, usd("1"));
      await give(mine, "2", 10);
      expect(await proven(mine)).toEqual([]);
      await before.settle(NONE, DONE);
      await after.settle(NONE, DONE);
      expect(await freeOf(mine)).toBe(usd("5"));
      clock.ms += 10 * DAY_MS;
      expect(await freeOf(mine)).toBe(usd("3"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-5"), usd("-2")]);
    });

    test("of each month end with it, whatever voucher goes on", async () => {
      const mine = await account();
      await give(mine, "1", 17);
      clock.ms += 17 * DAY_MS;
      await give(mine, "1", 30);
      expect(await freeOf(mine)).toBe(usd("6"));
      clock.ms += 30 * DAY_MS;
      await give(mine, "1", 31);
      expect(await freeOf(mine)).toBe(usd("6"));
      expect(await proven(mine)).toEqual([usd("-1"), usd("-1")]);
    });

    test("keep the excess that a late settlement returns after the next lot came", async () => {
      const mine = await account();
      await give(mine, "4", 30);
      const late = await swept(mine, { held: "9", streamed: "8" });
      await give(mine, "2", 120);
      await late.settle(usd("1"), DONE);
      expect(await freeOf(mine)).toBe(usd("10"));
      expect(await proven(mine)).toEqual([]);
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      clock.ms = Date.parse(START) + 30 * DAY_MS + LEASE_MS;
      expect(await freeOf(mine)).toBe(usd("7"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-3")]);
    });

    test("lose nothing that a late settlement gives back after all was spent", async () => {
      const mine = await account();
      await give(mine, "1", 1);
      clock.ms += DAY_MS - 1;
      const late = await swept(mine, { held: "6", streamed: "6" });
      await mine.actor.expireFree(clock.ms);
      await give(mine, "2", 120);
      await late.settle(usd("2"), DONE);
      expect(await freeOf(mine)).toBe(usd("6"));
      expect(await proven(mine)).toEqual([]);
      clock.ms += 89 * DAY_MS;
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-4")]);
    });

    test("that come after all was spent do not shorten a return", async () => {
      const mine = await account();
      const late = await swept(mine, { held: "5", streamed: "5" });
      await give(mine, "2", 30);
      await late.settle(usd("1"), DONE);
      expect(await freeOf(mine)).toBe(usd("6"));
      clock.ms += 30 * DAY_MS;
      expect(await freeOf(mine)).toBe(usd("4"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-2")]);
    });

    test("are forgotten only once their credit is removed", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      const bookedMs = clock.ms;
      clock.ms += 11 * DAY_MS + 2_000;
      await book(mine, "3", 50, bookedMs);
      await mine.actor.applyOperations();
      expect(await freeOf(mine)).toBe(usd("8"));
      await mine.actor.expireFree(clock.ms);
      clock.ms = bookedMs + 50 * DAY_MS;
      expect(await freeOf(mine)).toBe(usd("5"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-4"), usd("-3")]);
    });

    test("end as before in a wallet that was rebuilt", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      await spend(mine, "1");
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      await mine.actor.state();
      expect(await proven(mine)).toEqual([]);
      await world.flush();
      clock.ms += 10 * DAY_MS;
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await freeOf(mine)).toBe(usd("5"));
      await mine.actor.expireFree(clock.ms);
      expect(await proven(mine)).toEqual([usd("-3")]);
    });

    test("end only if the clock of Postgres agrees", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      const bookedMs = clock.ms;
      clock.ms += 10 * DAY_MS;
      await mine.actor.expireFree(bookedMs);
      expect((await balances(mine)).free).toBe(usd("9"));
      clock.ms -= DAY_MS;
      expect(await freeOf(mine)).toBe(usd("9"));
      expect(await proven(mine)).toEqual([]);
    });

    test("end once, while two processes end them, spend and add others", async () => {
      const mine = await account();
      await give(mine, "4", 10);
      const other = accountIn(world.process(), mine);
      await other.actor.state();
      const calls = await Promise.all([hold(mine, usd("1")), hold(other, usd("1"))]);
      clock.ms += 10 * DAY_MS;
      await book(mine, "3", 5);
      await Promise.all([
        ...[mine, other, mine, other].map(({ actor }) => actor.expireFree(clock.ms)),
        ...[mine, other].map(({ actor }) => actor.applyOperations()),
        ...calls.map((call) => call.settle(usd("0.25"), DONE)),
      ]);
      await mine.actor.expireFree(clock.ms);
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("8"), held: NONE });
      const gone = (await proven(mine)).reduce((sum, delta) => sum + delta, 0n);
      expect(gone).toBe(usd("-3.5"));
    });
  });
