// Tests limits on money and streams: open holds count, so that no number of calls exceeds the
// limits.

import { describe, expect, test } from "bun:test";
import { TestClock } from "../../../support/product/actor-process.ts";
import { type AccountTerms, createTestKey } from "../../../support/stores/accounts.ts";
import { expectSound } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  DONE,
  hold,
  openAccount,
  pay,
  usd,
  verdict,
  walletOf,
} from "../../../support/stores/world.ts";
import { hasWallet, keyStateOf } from "./redis-reads.ts";
import type { WorldFactory } from "./world-factory.ts";

export const capSuite = (open: WorldFactory): void =>
  describe("caps", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));

    const account = (paid: string, more: AccountTerms = {}) =>
      openAccount(world, {
        createdAt: clock.daysAgo(100),
        paid: paid,
        paidAt: clock.daysAgo(0),
        ...more,
      });

    test("a tier's streams are open at most, and one that ended makes room", async () => {
      const mine = await account("5");
      const streams = await Promise.all(
        Array.from({ length: 5 }, () => hold(mine, usd("0.1"), { stream: true })),
      );
      expect(await verdict(mine, usd("0.1"), { stream: true })).toBe("too_many_streams");
      expect(await verdict(mine, usd("0.1"))).toBe("admitted");
      await streams[0]?.release(DONE);
      await streams[1]?.settle(usd("0.05"), DONE);
      expect((await walletOf(mine)).streams).toBe(3);
      await hold(mine, usd("0.1"), { stream: true });
      await hold(mine, usd("0.1"), { stream: true });
      expect(await verdict(mine, usd("0.1"), { stream: true })).toBe("too_many_streams");
      await expectSound(world, mine);
    });

    test("a tier's monthly cap binds to the nano, and held amounts count", async () => {
      // The second payment lifts the balance above the cap of Starter.
      const mine = await account("40");
      await pay(world, mine, usd("9"), clock.daysAgo(0));
      await world.store.change(mine.row, { ownCap: usd("30") }, new Date(clock.ms));
      await mine.actor.configure();
      await mine.actor.applyOperations();
      const first = await hold(mine, usd("20"));
      expect(await verdict(mine, usd("10.000000001"))).toBe("monthly_limit_reached");
      const second = await hold(mine, usd("10"));
      expect(await verdict(mine, usd("0.000000001"))).toBe("monthly_limit_reached");
      expect(await verdict(mine, usd("0"))).toBe("admitted");
      await first.settle(usd("5"), DONE);
      await second.settle(usd("10"), DONE);
      expect(await verdict(mine, usd("15.000000001"))).toBe("monthly_limit_reached");
      expect(await verdict(mine, usd("15"))).toBe("admitted");
      await expectSound(world, mine);
    });

    test("the tier's own cap binds if the account holder's is higher or missing", async () => {
      const mine = await account("49");
      await pay(world, mine, usd("0.9"), clock.daysAgo(0));
      await mine.actor.applyOperations();
      await world.store.change(mine.row, { ownCap: usd("5000") }, new Date(clock.ms));
      await mine.actor.configure();
      expect(await verdict(mine, usd("101"))).toBe("monthly_limit_reached");
      expect(await verdict(mine, usd("99"))).toBe("insufficient_credits");
    });

    test("a key's budget binds with its open holds, and binds no other key", async () => {
      const mine = await account("50", { monthlyLimit: "3" });
      const open1 = await hold(mine, usd("2"));
      expect(await verdict(mine, usd("1.000000001"))).toBe("key_budget_exceeded");
      const open2 = await hold(mine, usd("1"));
      expect(await verdict(mine, usd("0.000000001"))).toBe("key_budget_exceeded");
      const other = await createTestKey(world.store, mine.row);
      await mine.actor.configure();
      expect(await verdict({ ...mine, keyId: other.id }, usd("20"))).toBe("admitted");
      await open1.settle(usd("0.5"), DONE);
      await open2.release(DONE);
      expect(await verdict(mine, usd("2.500000001"))).toBe("key_budget_exceeded");
      expect(await verdict(mine, usd("2.5"))).toBe("admitted");
      await expectSound(world, mine);
    });

    test("parallel calls over one budget pass exactly as often as it allows", async () => {
      const mine = await account("50", { monthlyLimit: "3" });
      const verdicts = await Promise.all(
        Array.from({ length: 30 }, () => hold(mine, usd("0.25")).catch(() => null)),
      );
      expect(verdicts.filter((open) => open !== null)).toHaveLength(12);
    });

    test("a call belongs to the month of its admission, whenever it is settled", async () => {
      clock.set("2031-03-31T23:59:59.900Z");
      const mine = await account("50", { monthlyLimit: "3" });
      const late = await hold(mine, usd("3"));
      expect(await verdict(mine, usd("0.1"))).toBe("key_budget_exceeded");
      clock.set("2031-04-01T00:00:00.000Z");
      // A new month: the open hold of the old one counts there, and only there.
      const fresh = await hold(mine, usd("3"));
      await late.settle(usd("2"), DONE);
      const { month, key: april } = await mine.actor.view(mine.keyId);
      expect([month, april.monthSpent, april.monthHeld]).toEqual([203104, usd("0"), usd("3")]);
      await fresh.settle(usd("1.5"), DONE);
      clock.set("2031-03-31T23:59:59.999Z");
      expect(await keyStateOf(world, mine)).toMatchObject({
        month: 203104,
        spent: usd("1.5"),
        held: usd("0"),
        previousSpent: usd("2"),
        previousHeld: usd("0"),
      });
      // A clock that went back counts in the month that it shows.
      expect(await verdict(mine, usd("1.000000001"))).toBe("key_budget_exceeded");
      expect(await verdict(mine, usd("1"))).toBe("admitted");
      await expectSound(world, mine);
      const spent = await world.database.sql`
        SELECT month, spent FROM month_spend WHERE account = ${mine.row.number} ORDER BY month`;
      expect(spent.map((row) => [row.month, row.spent])).toEqual([
        [203103, 2_000_000_000n],
        [203104, 1_500_000_000n],
      ]);
      // A wallet built from the ledger knows the spending of both months.
      clock.set("2031-04-02T00:00:00.000Z");
      await mine.actor.evict(0);
      expect(await hasWallet(world, mine)).toBe(false);
      expect(await verdict(mine, usd("1.500000001"))).toBe("key_budget_exceeded");
      expect(await verdict(mine, usd("1.5"))).toBe("admitted");
    });

    test("Lua and JavaScript agree on the month of any time", async () => {
      const mine = await account("50");
      for (let month = 0; month < 60; month++) {
        for (const edge of [Date.UTC(2027, month, 1) - 1, Date.UTC(2027, month, 1)]) {
          clock.ms = edge;
          const state = await mine.actor.state();
          const iso = new Date(edge).toISOString();
          expect(state.month).toBe(Number(iso.slice(0, 7).replace("-", "")));
        }
      }
    });
  });
