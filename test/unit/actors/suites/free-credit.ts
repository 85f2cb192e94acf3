// Tests free credit: five dollars, 90 days, only for eligible models, and before any paid credit.

import { describe, expect, test } from "bun:test";
import { auditAccount } from "../../../../src/accounts/audit-account.ts";
import { LEASE_MS } from "../../../../src/core/access/limits.ts";
import { AuditRepository } from "../../../../src/store/audit/audit.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import type { AccountTerms, TestAccount } from "../../../support/stores/accounts.ts";
import { expectSound, ledgerOf, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  balances,
  DONE,
  hold,
  openAccount,
  usd,
  verdict,
  type World,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

/** Gives one dollar of free credit for 90 days, booked by Postgres at this time. */
async function give(world: World, account: TestAccount, createdAt: Date): Promise<void> {
  const expiresAt = new Date(createdAt.getTime() + 90 * 86_400_000);
  await world.database.sql`
    INSERT INTO operations (account, number, kind, balance, amount, created_at, expires_at)
    SELECT ${account.row.number}, max(number) + 1, 'credit', 'free', 1000000000,
      ${createdAt.toISOString()}::timestamptz, ${expiresAt.toISOString()}::timestamptz
    FROM operations WHERE account = ${account.row.number}`;
  await account.actor.applyOperations();
}

const PAID_ONLY = { freeEligible: false };
const NONE = usd("0");

export const freeCreditSuite = (open: WorldFactory): void =>
  describe("free credit", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));
    const account = (more: AccountTerms = {}) =>
      openAccount(world, { createdAt: clock.daysAgo(0), ...more });

    test("pays only for eligible calls", async () => {
      const mine = await account({ paid: "10", paidAt: clock.daysAgo(0) });
      expect(await verdict(mine, usd("10.000000001"), PAID_ONLY)).toBe("insufficient_credits");
      const open1 = await hold(mine, usd("10"), PAID_ONLY);
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("5"), held: usd("10") });
      expect(await open1.settle(usd("7"), DONE)).toMatchObject({ charged: usd("7"), free: NONE });
      expect(await balances(mine)).toEqual({ paid: usd("3"), free: usd("5"), held: NONE });
      await expectSound(world, mine);
    });

    test("is held first, charged first, and the rest of each balance goes back to it", async () => {
      const mine = await account({ paid: "10", paidAt: clock.daysAgo(0) });
      const cheap = await hold(mine, usd("8"));
      expect(await balances(mine)).toEqual({ paid: usd("7"), free: NONE, held: usd("8") });
      expect(await cheap.settle(usd("2"), DONE)).toMatchObject({
        charged: usd("2"),
        free: usd("2"),
      });
      expect(await balances(mine)).toEqual({ paid: usd("10"), free: usd("3"), held: NONE });
      const dear = await hold(mine, usd("6"));
      expect(await dear.settle(usd("4"), DONE)).toMatchObject({
        charged: usd("4"),
        free: usd("3"),
      });
      expect(await balances(mine)).toEqual({ paid: usd("9"), free: NONE, held: NONE });
      await expectSound(world, mine);
    });

    test("pays in its 90 days to the last millisecond, and not in the next", async () => {
      clock.set("2031-03-15T12:00:00.000Z");
      const mine = await account();
      clock.ms += 90 * 86_400_000 - 1;
      expect(await verdict(mine, usd("5"))).toBe("admitted");
      clock.ms += 1;
      expect(await verdict(mine, usd("0.000000001"))).toBe("insufficient_credits");
      expect((await mine.actor.view(mine.keyId)).free).toBe(NONE);
    });

    test("that a hold took before its end still pays for that call", async () => {
      clock.set("2031-03-15T12:00:00.000Z");
      const mine = await account();
      clock.ms += 90 * 86_400_000 - 1;
      const late = await hold(mine, usd("3"));
      clock.ms += 10;
      expect(await late.settle(usd("2"), DONE)).toMatchObject({
        charged: usd("2"),
        free: usd("2"),
      });
      // The rest of the hold has ended too.
      expect(await verdict(mine, usd("0.1"))).toBe("insufficient_credits");
      await mine.actor.expireFree(clock.ms);
      expect(await balances(mine)).toEqual({ paid: NONE, free: NONE, held: NONE });
      await expectSound(world, mine);
      const kinds = (await ledgerOf(world, mine)).map((row) => [row.kind, row.free_delta]);
      expect(kinds.slice(1)).toEqual([
        ["charge", usd("-2")],
        ["free_expired", usd("-3")],
      ]);
    });

    test("leaves the balance once, with an entry of its own, by the worker alone", async () => {
      clock.set("2031-03-15T12:00:00.000Z");
      const mine = await account({ paid: "10", paidAt: clock.daysAgo(0) });
      await mine.actor.expireFree(clock.ms);
      expect(await balances(mine)).toEqual({ paid: usd("10"), free: usd("5"), held: NONE });
      clock.ms += 90 * 86_400_000;
      const paid = await hold(mine, usd("10"));
      // Calls neither spend the ended credit nor take it away: only the worker does.
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("5"), held: usd("10") });
      expect((await mine.actor.view(mine.keyId)).free).toBe(NONE);
      await mine.actor.expireFree(clock.ms);
      await mine.actor.expireFree(clock.ms);
      expect(await paid.settle(usd("1"), DONE)).toMatchObject({ charged: usd("1"), free: NONE });
      await expectSound(world, mine);
      const kinds = (await ledgerOf(world, mine)).map((row) => row.kind);
      expect(kinds).toEqual(["credit", "credit", "free_expired", "charge"]);
    });

    test("that ended is not prolonged by a late settlement that gives it back", async () => {
      clock.set("2031-03-15T12:00:00.000Z");
      const mine = await account();
      clock.ms += 90 * 86_400_000 - 2 * LEASE_MS;
      const open1 = await hold(mine, usd("3"), { stream: true });
      open1.checkpoint(usd("2"));
      await world.accounts.renewLeases();
      clock.ms += LEASE_MS;
      await sweepOne(world, mine, open1.id);
      clock.ms += LEASE_MS;
      await give(world, mine, new Date(clock.ms));
      const settled = { charged: usd("0.5"), free: usd("0.5"), left: usd("1") };
      expect(await open1.settle(usd("0.5"), DONE)).toMatchObject(settled);
      expect(await balances(mine)).toEqual({ paid: NONE, free: usd("1"), held: NONE });
      await expectSound(world, mine);
      const kinds = (await ledgerOf(world, mine)).map((row) => [row.kind, row.free_delta]);
      expect(kinds.slice(-2)).toEqual([
        ["late_charge", usd("1.5")],
        ["free_expired", usd("-1.5")],
      ]);
      const repository = new AuditRepository(world.database);
      const deps = { redis: world.redis, repository, graceMs: 60_000, scriptTime: clock.now };
      expect((await auditAccount(deps, mine.row)).difference).toBeNull();
    });

    test("stays over when the clock jumps back, or the wallet is rebuilt", async () => {
      clock.set("2031-03-15T12:00:00.000Z");
      const mine = await account();
      await mine.actor.state();
      clock.ms += 90 * 86_400_000;
      await mine.actor.expireFree(clock.ms);
      clock.ms -= 10 * 86_400_000;
      expect(await verdict(mine, usd("1"))).toBe("insufficient_credits");
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await verdict(mine, usd("1"))).toBe("insufficient_credits");
      await expectSound(world, mine);
    });

    test("ends before new credit only if both clocks agree", async () => {
      clock.set("2031-03-15T12:00:00.000Z");
      const [mine, other] = [await account(), await account()];
      await Promise.all([mine.actor.state(), other.actor.state()]);
      const bookedAt = new Date(clock.ms);
      clock.ms += 100 * 86_400_000;
      await give(world, mine, bookedAt);
      expect(await balances(mine)).toMatchObject({ free: usd("6") });
      await give(world, other, new Date(clock.ms));
      expect(await balances(other)).toMatchObject({ free: usd("1") });
      for (const one of [mine, other]) await expectSound(world, one);
    });

    test("is not given to an application account", async () => {
      const mine = await account({ surface: "application" });
      expect(await balances(mine)).toEqual({ paid: NONE, free: NONE, held: NONE });
    });
  });
