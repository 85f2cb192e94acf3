// Tests budgets of spans: exact with open holds, across the end of a span, and after a rebuild.

import { describe, expect, test } from "bun:test";
import type { BudgetUse } from "../../../../actors/account.ts";
import type { StandingSpan } from "../../../../src/core/access/budgets.ts";
import { HOUR_MS } from "../../../../src/core/durations.ts";
import { type NanoUsd, nano } from "../../../../src/core/money/money.ts";
import { setBudget } from "../../../../src/store/accounts/budgets.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import {
  type AccountTerms,
  createTestKey,
  type TestAccount,
} from "../../../support/stores/accounts.ts";
import { expectSound, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import { holdsIn, messageIn } from "../../../support/stores/verdicts.ts";
import {
  accountIn,
  ask,
  DONE,
  hold,
  openAccount,
  usd,
  verdict,
} from "../../../support/stores/world.ts";
import { hasWallet } from "./redis-reads.ts";
import type { WorldFactory } from "./world-factory.ts";

export const budgetSuite = (open: WorldFactory): void =>
  describe("budgets", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));

    /** An account of Build, which may have many calls open. */
    const account = (more: AccountTerms) => openAccount(world, { ...clock.aged, ...more });

    const set = async (
      mine: TestAccount,
      span: StandingSpan,
      amount: string | null,
      key: string | null = mine.keyId,
    ) => {
      const terms = { key, span, amount: amount === null ? null : usd(amount) };
      await setBudget(world.database, mine.row.number, terms);
      await mine.actor.configure();
    };

    test("a budget binds to the nano, and held amounts count", async () => {
      const mine = await account({ keyBudgets: { day: "3" } });
      const first = await hold(mine, usd("2"));
      expect(await verdict(mine, usd("1.000000001"))).toBe("key_budget_exceeded");
      const second = await hold(mine, usd("1"));
      expect(await verdict(mine, usd("0.000000001"))).toBe("key_budget_exceeded");
      expect(await verdict(mine, usd("0"))).toBe("admitted");
      await first.settle(usd("0.5"), DONE);
      await second.release(DONE);
      expect(await verdict(mine, usd("2.500000001"))).toBe("key_budget_exceeded");
      await (await hold(mine, usd("2.5"))).settle(usd("2.5"), DONE);
      expect(await useOf(mine)).toMatchObject([{ spent: usd("3"), held: usd("0"), left: 0n }]);
      await expectSound(world, mine);
    });

    test("200 parallel calls of two processes pass as often as a budget allows", async () => {
      const mine = await account({ budgets: { "5h": "3" }, contract: "enterprise" });
      const actors = [mine.actor, accountIn(world.process(), mine).actor];
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          actors[index % 2]?.admit(ask(mine.keyId, usd("0.25"))),
        ),
      );
      const admitted = holdsIn(answers);
      expect(admitted).toHaveLength(12);
      await Promise.all(admitted.map((call) => call.settle(usd("0.2"), DONE)));
      expect(await useOf(mine)).toMatchObject([{ spent: usd("2.4"), held: 0n, left: usd("0.6") }]);
    });

    test("all budgets of a call are taken, or none", async () => {
      const mine = await account({ budgets: { day: "2", week: "9" }, keyBudgets: { total: "9" } });
      await hold(mine, usd("1.5"));
      expect(await verdict(mine, usd("0.6"))).toBe("account_budget_exceeded");
      expect((await useOf(mine)).map(({ held }) => held)).toEqual(Array(3).fill(usd("1.5")));
    });

    test("the refusal is that of the first row of the error table", async () => {
      const mine = await account({
        keyBudgets: { week: "1" },
        ownCap: "2",
        budgets: { day: "3" },
        free: "0",
      });
      expect(await verdict(mine, usd("600"))).toBe("key_budget_exceeded");
      await set(mine, "week", null);
      expect(await verdict(mine, usd("600"))).toBe("monthly_limit_reached");
      await world.store.change(mine.row, { ownCap: null }, new Date(clock.ms));
      await mine.actor.configure();
      expect(await verdict(mine, usd("600"))).toBe("account_budget_exceeded");
      await set(mine, "day", "600", null);
      expect(await verdict(mine, usd("600"))).toBe("insufficient_credits");
    });

    test("a refusal names the span, its rest and its renewal", async () => {
      clock.set("2031-03-18T22:30:00.000Z");
      const mine = await account({ keyBudgets: { "5h": "1", day: "2", week: "3", total: "4" } });
      await (await hold(mine, usd("1"))).settle(usd("0.75"), DONE);
      const said = async (amount: string) =>
        messageIn(await mine.actor.admit(ask(mine.keyId, usd(amount))));
      expect(await said("0.3")).toBe(
        "The call may cost up to $0.3; the budget of five hours of the key has $0.25 left, and " +
          "renews at 2031-03-19T03:30:00.000Z",
      );
      await set(mine, "5h", null);
      expect(await said("1.3")).toContain(
        "the budget of the UTC day of the key has $1.25 left, and renews at 2031-03-19T00:00",
      );
      await set(mine, "day", null);
      expect(await said("2.3")).toContain(
        "the budget of the week of the key has $2.25 left, and renews at 2031-03-24T00:00:00.000Z",
      );
      await set(mine, "week", null);
      expect(await said("3.3")).toContain(
        "the budget of all time of the key has $3.25 left, and does not renew",
      );
    });

    test("five hours begin with the first call that is admitted, and stay", async () => {
      clock.set("2031-03-20T10:17:00.123Z");
      const mine = await account({ budgets: { "5h": "2" } });
      expect(await verdict(mine, usd("2.1"))).toBe("account_budget_exceeded");
      clock.ms += HOUR_MS;
      const began = clock.ms;
      await (await hold(mine, usd("1.5"))).settle(usd("1.5"), DONE);
      expect(await useOf(mine)).toMatchObject([
        { startedAtMs: began, renewsAtMs: began + 5 * HOUR_MS },
      ]);
      clock.ms += 5 * HOUR_MS - 1;
      expect(await verdict(mine, usd("0.6"))).toBe("account_budget_exceeded");
      clock.ms += 1;
      expect(await useOf(mine)).toMatchObject([{ startedAtMs: null, spent: 0n, left: usd("2") }]);
      await hold(mine, usd("2"));
      expect(await useOf(mine)).toMatchObject([{ startedAtMs: clock.ms, held: usd("2") }]);
    });

    test("a call counts in the span of its admission alone, whenever it is settled", async () => {
      clock.set("2031-03-22T23:59:59.900Z");
      const mine = await account({ keyBudgets: { day: "3" } });
      const late = await hold(mine, usd("3"));
      clock.set("2031-03-23T00:00:00.000Z");
      const fresh = await hold(mine, usd("3"));
      await late.settle(usd("2"), DONE);
      expect(await useOf(mine)).toMatchObject([{ spent: 0n, held: usd("3"), left: 0n }]);
      await fresh.settle(usd("1.5"), DONE);
      // A clock that goes back stays in the last day that was seen.
      clock.set("2031-03-22T23:59:59.999Z");
      expect(await verdict(mine, usd("1.500000001"))).toBe("key_budget_exceeded");
      expect(await spansOf(mine)).toEqual([
        [Date.UTC(2031, 2, 22), usd("2")],
        [Date.UTC(2031, 2, 23), usd("1.5")],
      ]);
      await expectSound(world, mine);
    });

    test("a late settlement takes no more than its own span has left", async () => {
      clock.set("2031-04-01T23:00:00.000Z");
      const mine = await account({ keyBudgets: { day: "3" } });
      const [lost, other] = [
        await hold(mine, usd("2"), { stream: true }),
        await hold(mine, usd("1")),
      ];
      lost.checkpoint(usd("0.5"));
      await world.accounts.leases.renew();
      clock.ms += 2 * HOUR_MS;
      await sweepOne(world, mine, lost.id);
      await other.settle(usd("1"), DONE);
      // The day of the admission is over, and it has 1.5 left; the new day knows nothing of it.
      expect(await lost.settle(usd("1.9"), DONE)).toMatchObject({ charged: usd("1.9") });
      expect(await useOf(mine)).toMatchObject([{ spent: 0n, held: 0n, left: usd("3") }]);
      expect(await spansOf(mine)).toEqual([[Date.UTC(2031, 3, 1), usd("2.9")]]);
      await expectSound(world, mine);
    });

    test("and an excess over the span is written off", async () => {
      clock.set("2031-04-03T10:00:00.000Z");
      const mine = await account({ keyBudgets: { day: "3" } });
      const lost = await hold(mine, usd("2"), { stream: true });
      lost.checkpoint(usd("0.5"));
      await world.accounts.leases.renew();
      clock.ms += 90_000;
      await sweepOne(world, mine, lost.id);
      await (await hold(mine, usd("2.2"))).settle(usd("2.2"), DONE);
      expect(await lost.settle(usd("1.9"), DONE)).toMatchObject({ charged: usd("0.8") });
      expect(await useOf(mine)).toMatchObject([{ spent: usd("3"), held: 0n, left: 0n }]);
      await expectSound(world, mine);
    });

    test("a rebuild restores budgets to the last flushed entry, all time included", async () => {
      clock.set("2031-04-05T08:00:00.000Z");
      const mine = await account({ keyBudgets: { "5h": "3", total: "9" }, budgets: { day: "4" } });
      await (await hold(mine, usd("2"))).settle(usd("1.25"), DONE);
      await (await hold(mine, usd("1"))).release(DONE);
      await world.flush();
      const before = await useOf(mine);
      await (await hold(mine, usd("0.5"))).settle(usd("0.5"), DONE);
      await hold(mine, usd("0.25"));
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await useOf(mine)).toEqual(before);
      expect(await verdict(mine, usd("1.750000001"))).toBe("key_budget_exceeded");
      expect(await verdict(mine, usd("1.75"))).toBe("admitted");
      await expectSound(world, mine);
    });

    test("a call that cost nothing begins five hours that a rebuild knows", async () => {
      clock.set("2031-04-06T08:00:00.000Z");
      const mine = await account({ keyBudgets: { "5h": "3" } });
      await (await hold(mine, usd("2"))).release(DONE);
      const before = await useOf(mine);
      await world.flush();
      clock.ms += HOUR_MS;
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await useOf(mine)).toEqual(before);
    });

    test("a wallet that is evicted takes its budgets along, and finds them again", async () => {
      clock.set("2031-04-07T08:00:00.000Z");
      const mine = await account({ keyBudgets: { total: "3" } });
      await (await hold(mine, usd("2"))).settle(usd("2"), DONE);
      const before = await useOf(mine);
      await world.flush();
      clock.ms += HOUR_MS;
      await mine.actor.evict(0);
      expect(await hasWallet(world, mine)).toBe(false);
      expect(await world.redis.exists(mine.actor.keys.budgets)).toBe(0);
      expect(await verdict(mine, usd("1.000000001"))).toBe("key_budget_exceeded");
      expect(await useOf(mine)).toEqual(before);
      expect(await verdict(mine, usd("1"))).toBe("admitted");
      await expectSound(world, mine);
    });

    test("a budget that is raised keeps its count; one set again begins at zero", async () => {
      clock.set("2031-04-08T08:00:00.000Z");
      const mine = await account({ keyBudgets: { day: "1" } });
      await (await hold(mine, usd("1"))).settle(usd("1"), DONE);
      expect(await verdict(mine, usd("0.5"))).toBe("key_budget_exceeded");
      await set(mine, "day", "1.5");
      await (await hold(mine, usd("0.5"))).settle(usd("0.25"), DONE);
      expect(await useOf(mine)).toMatchObject([{ spent: usd("1.25"), left: usd("0.25") }]);
      await set(mine, "day", "1");
      expect(await useOf(mine)).toMatchObject([{ spent: usd("1.25"), left: 0n }]);
      await set(mine, "day", null);
      expect(await verdict(mine, usd("5"))).toBe("admitted");
      await set(mine, "day", "1");
      expect(await useOf(mine)).toMatchObject([{ spent: 0n, held: 0n, left: usd("1") }]);
      await expectSound(world, mine);
    });

    test("a key's budget counts no other key; the account's counts all", async () => {
      const mine = await account({ keyBudgets: { day: "1" }, budgets: { week: "2.5" } });
      const other = await createTestKey(world.store, mine.row);
      await mine.actor.configure();
      await hold(mine, usd("1"));
      expect(await verdict(mine, usd("0.1"))).toBe("key_budget_exceeded");
      const second = { ...mine, keyId: other.id };
      await hold(second, usd("1.5"));
      expect(await verdict(second, usd("0.1"))).toBe("account_budget_exceeded");
    });

    /** The begin and the spending of each span that Postgres has. */
    async function spansOf(mine: TestAccount): Promise<[number, NanoUsd][]> {
      await world.flush();
      const rows = await world.database.sql`
        SELECT start, spent FROM budget_spend WHERE account = ${mine.row.number} ORDER BY start`;
      return rows.map((row) => [Number(row.start), nano(row.spent)]);
    }
  });

async function useOf(mine: TestAccount): Promise<readonly BudgetUse[]> {
  return (await mine.actor.view(mine.keyId)).budgets;
}
