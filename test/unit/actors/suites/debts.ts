// Tests payments that are taken back: the amount they leave owed, how it is paid, and which calls
// are refused meanwhile.

import { describe, expect, test } from "bun:test";
import { LEASE_MS } from "../../../../src/core/access/limits.ts";
import type { OperationKind } from "../../../../src/core/journal/journal.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { expectSound, ledgerOf, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  accountIn,
  DONE,
  hold,
  openAccount,
  usd,
  verdict,
  type World,
  walletOf,
} from "../../../support/stores/world.ts";
import { hasWallet } from "./redis-reads.ts";
import type { WorldFactory } from "./world-factory.ts";

/** Books an operation unchanged and gives it to Redis. */
async function operate(
  world: World,
  account: TestAccount,
  kind: OperationKind,
  dollars: string,
  balance: "paid" | "free" = "paid",
): Promise<void> {
  const amount = dollars.startsWith("-") ? -usd(dollars.slice(1)) : usd(dollars);
  await world.database.sql`
    INSERT INTO operations (account, number, kind, balance, amount)
    SELECT ${account.row.number}, coalesce(max(number), 0) + 1, ${kind}, ${balance},
      ${amount.toString()}::bigint
    FROM operations WHERE account = ${account.row.number}`;
  await account.actor.applyOperations();
}

/** Available and held paid credit, and the owed amount. */
async function paidOf(account: TestAccount) {
  const { paid, heldPaid, owed } = await walletOf(account);
  return { paid, held: heldPaid, owed };
}

const NONE = usd("0");

export const debtSuite = (open: WorldFactory): void =>
  describe("debts", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));
    const account = (paid: string) =>
      openAccount(world, {
        surface: "application",
        plan: "max",
        createdAt: clock.daysAgo(100),
        paid,
        paidAt: clock.daysAgo(0),
      });
    const kindsOf = async (mine: TestAccount) =>
      (await ledgerOf(world, mine)).map((row) => [row.kind, row.paid_delta, row.owed_after]);

    test("a reversal takes nothing that calls hold, and the account owes the rest", async () => {
      const mine = await account("10");
      const open1 = await hold(mine, usd("6"));
      await operate(world, mine, "reversal", "-7");
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: usd("6"), owed: usd("3") });
      expect(await verdict(mine, NONE)).toBe("payment_required");
      await open1.settle(usd("6"), DONE);
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("3") });
      await expectSound(world, mine);
      expect(await kindsOf(mine)).toEqual([
        ["credit", usd("10"), 0n],
        ["reversal", -usd("4"), usd("3")],
        ["charge", -usd("6"), usd("3")],
      ]);
    });

    test("credit that a call gives back pays the debt before anything else", async () => {
      const mine = await account("10");
      const open1 = await hold(mine, usd("10"));
      await operate(world, mine, "reversal", "-8");
      expect(await open1.settle(usd("1"), DONE)).toMatchObject({ left: usd("1") });
      expect(await paidOf(mine)).toEqual({ paid: usd("1"), held: NONE, owed: NONE });
      expect(await verdict(mine, usd("1"))).toBe("admitted");
      await expectSound(world, mine);
      expect((await kindsOf(mine)).slice(1)).toEqual([
        ["reversal", 0n, usd("8")],
        ["charge", -usd("1"), usd("8")],
        ["repayment", -usd("8"), 0n],
      ]);
    });

    test("a release without a charge repays by a ledger row of its own", async () => {
      const mine = await account("10");
      const open1 = await hold(mine, usd("10"));
      await operate(world, mine, "reversal", "-8");
      await open1.release(DONE);
      expect(await paidOf(mine)).toEqual({ paid: usd("2"), held: NONE, owed: NONE });
      await expectSound(world, mine);
    });

    test("the next credit pays the debt, whatever brings it", async () => {
      for (const kind of ["credit", "bonus", "restore", "adjustment"] as const) {
        const mine = await account("1");
        await operate(world, mine, "reversal", "-4");
        await operate(world, mine, kind, "2");
        expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("1") });
        await operate(world, mine, kind, "2");
        expect(await paidOf(mine)).toEqual({ paid: usd("1"), held: NONE, owed: NONE });
        await expectSound(world, mine);
      }
    });

    test("free credit pays no debt and serves no account that owes", async () => {
      const mine = await account("1");
      await operate(world, mine, "reversal", "-2");
      await operate(world, mine, "credit", "9", "free");
      expect(await walletOf(mine)).toMatchObject({ free: usd("9"), owed: usd("1") });
      expect(await verdict(mine, usd("1"))).toBe("payment_required");
      await expectSound(world, mine);
    });

    test("a negative adjustment stops at zero, and a forgiven debt is gone", async () => {
      const mine = await account("3");
      await operate(world, mine, "adjustment", "-5");
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: NONE });
      await operate(world, mine, "reversal", "-5");
      await operate(world, mine, "forgiven", "2");
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("3") });
      await operate(world, mine, "forgiven", "9");
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: NONE });
      expect(await verdict(mine, NONE)).toBe("admitted");
      await expectSound(world, mine);
    });

    test("an operation is refused only for the amount that it would add", async () => {
      const mine = await account("3");
      const most = "9007199.254740991";
      // Neither operation adds to a balance or to the owed amount.
      await operate(world, mine, "forgiven", most);
      await operate(world, mine, "reversal", "-5");
      await operate(world, mine, "adjustment", `-${most}`);
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("2") });
      await operate(world, mine, "forgiven", most);
      await operate(world, mine, "credit", "7");
      expect(await paidOf(mine)).toEqual({ paid: usd("7"), held: NONE, owed: NONE });
      await expectSound(world, mine);
    });

    test("a debt outlives an eviction, and a rebuild pays it from the holds of calls", async () => {
      const mine = await account("10");
      const open1 = await hold(mine, usd("10"));
      await operate(world, mine, "reversal", "-4");
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await paidOf(mine)).toEqual({ paid: usd("6"), held: NONE, owed: NONE });
      await operate(world, mine, "reversal", "-8");
      await expectSound(world, mine);
      await open1.release(DONE);
      await world.flush();
      await mine.actor.evict(0);
      expect(await hasWallet(world, mine)).toBe(false);
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("2") });
      await expectSound(world, mine);
    });

    test("a sweep and the late settlement after it may both repay", async () => {
      const mine = await account("10");
      const open1 = await hold(mine, usd("10"), { stream: true });
      await operate(world, mine, "reversal", "-10");
      open1.checkpoint(usd("6"));
      await world.accounts.renewLeases();
      clock.ms += LEASE_MS;
      await sweepOne(world, mine, open1.id);
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("6") });
      expect(await open1.settle(usd("2"), DONE)).toMatchObject({ charged: usd("2") });
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("2") });
      await expectSound(world, mine);
    });

    test("a late settlement takes nothing from an account that owes", async () => {
      const mine = await account("10");
      const open1 = await hold(mine, usd("4"));
      clock.ms += LEASE_MS;
      await sweepOne(world, mine, open1.id);
      await operate(world, mine, "reversal", "-11");
      expect(await open1.settle(usd("3"), DONE)).toMatchObject({ charged: NONE });
      expect(await paidOf(mine)).toEqual({ paid: NONE, held: NONE, owed: usd("1") });
      await expectSound(world, mine);
    });

    test("an operation that several processes pass on is applied once", async () => {
      const mine = await account("1");
      await operate(world, mine, "restore", "2");
      const other = accountIn(world.process(), mine).actor;
      await Promise.all([other, mine.actor, other].map((actor) => actor.applyOperations()));
      expect(await paidOf(mine)).toEqual({ paid: usd("3"), held: NONE, owed: NONE });
      await expectSound(world, mine);
    });
  });
