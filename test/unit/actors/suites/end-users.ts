// Tests budgets of end users: one count for each end user, exact with open holds, across processes,
// the ends of spans and a rebuild.

import { describe, expect, test } from "bun:test";
import { eventually } from "../../../support/eventually.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import { createTestKey } from "../../../support/stores/accounts.ts";
import { ADA, BOB, endUserLab } from "../../../support/stores/end-user-lab.ts";
import { expectSound, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import { holdIn, holdsIn, messageIn, verdictIn } from "../../../support/stores/verdicts.ts";
import { accountIn, ask, DONE, usd, WORLD_PEPPER } from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

export const endUserSuite = (open: WorldFactory): void =>
  describe("end users", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));

    const lab = endUserLab(world, clock);
    const { account, named, set, admit, hold, spend, verdict, readUse } = lab;

    test("a default budget binds each end user to the nano, and held amounts count", async () => {
      const mine = await account();
      await set(mine, "day", "3");
      const first = await hold(mine, "2");
      expect(await verdict(mine, "1.000000001")).toBe("end_user_budget_exceeded");
      const second = await hold(mine, "1");
      expect(await verdict(mine, "0.000000001")).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "0")).toBe("admitted");
      expect(await verdict(mine, "3", BOB)).toBe("admitted");
      await first.settle(usd("0.5"), DONE);
      await second.release(DONE);
      expect(await verdict(mine, "2.500000001")).toBe("end_user_budget_exceeded");
      await spend(mine, "2.5");
      expect(await readUse(mine)).toMatchObject([{ spent: usd("3"), held: 0n, left: 0n }]);
      expect(await readUse(mine, BOB)).toMatchObject([{ spent: 0n, held: usd("3") }]);
      await expectSound(world, mine);
    });

    test("200 parallel calls of two processes pass as often as the budget allows", async () => {
      const mine = await account({ contract: "enterprise" });
      await set(mine, "day", "3");
      const actors = [mine.actor, accountIn(world.process(), mine).actor];
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          actors[index % 2]?.admit(ask(mine.keyId, usd("0.25"), { endUser: named(mine, ADA) })),
        ),
      );
      const admitted = holdsIn(answers);
      expect(admitted).toHaveLength(12);
      await Promise.all(admitted.map((call) => call.settle(usd("0.2"), DONE)));
      const use = { spent: usd("2.4"), held: 0n, left: usd("0.6") };
      expect(await readUse(mine)).toMatchObject([use]);
      await expectSound(world, mine);
    });

    test("all budgets of a call are taken, or none", async () => {
      const mine = await account({ budgets: { day: "2" }, keyBudgets: { total: "9" } });
      await set(mine, "week", "9");
      await set(mine, "5h", "1.6");
      await hold(mine, "1.5");
      expect(await verdict(mine, "0.6")).toBe("account_budget_exceeded");
      expect(await verdict(mine, "0.2")).toBe("end_user_budget_exceeded");
      expect((await mine.actor.view(mine.keyId)).budgets.map(({ held }) => held)).toEqual([
        usd("1.5"),
        usd("1.5"),
      ]);
      expect((await readUse(mine)).map(({ held }) => held)).toEqual([usd("1.5"), usd("1.5")]);
    });

    test("a call that names nobody, or costs nothing, counts for nobody", async () => {
      const mine = await account();
      await set(mine, "day", "1");
      const anonymous = await mine.actor.admit(ask(mine.keyId, usd("5")));
      expect(verdictIn(anonymous)).toBe("admitted");
      expect(await verdict(mine, "0")).toBe("admitted");
      const { sql } = world.database;
      expect(
        await sql`SELECT FROM end_user_counts c JOIN end_user_budgets b ON b.number = c.budget
        WHERE b.account = ${mine.row.number}`,
      ).toHaveLength(0);
    });

    test("an account without such budgets looks nothing up and stores nothing", async () => {
      const mine = await account();
      const endUser = named(mine, ADA);
      Object.defineProperty(endUser, "digests", {
        get: () => {
          throw new Error("The end user was hashed");
        },
      });
      const decision = await mine.actor.admit(ask(mine.keyId, usd("1"), { endUser }));
      expect(verdictIn(decision)).toBe("admitted");
      expect(await world.redis.exists(mine.actor.keys.budgets)).toBe(0);
    });

    test("a budget of a key's end users counts calls of that key alone", async () => {
      const mine = await account();
      const other = await createTestKey(world.store, mine.row);
      await set(mine, "day", "1", { key: mine.keyId });
      await set(mine, "day", "3");
      const second = { ...mine, keyId: other.id };
      await hold(mine, "1");
      expect(await verdict(mine, "0.1")).toBe("end_user_budget_exceeded");
      await hold(second, "2");
      expect(await verdict(second, "0.1")).toBe("end_user_budget_exceeded");
      expect(await readUse(mine, ADA, other.id)).toMatchObject([{ key: null, held: usd("3") }]);
      expect((await readUse(mine)).map(({ key, held }) => [key, held])).toEqual([
        [mine.keyId, usd("1")],
        [null, usd("3")],
      ]);
    });

    test("a budget of its own takes the place of default ones for the same span", async () => {
      const mine = await account();
      await set(mine, "day", "1");
      await set(mine, "week", "9");
      await spend(mine, "1");
      expect(await verdict(mine, "0.5")).toBe("end_user_budget_exceeded");
      await set(mine, "day", "4", { id: ADA });
      await spend(mine, "3");
      expect(await verdict(mine, "1.1")).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "1.1", BOB)).toBe("end_user_budget_exceeded");
      expect(await readUse(mine)).toMatchObject([
        { span: "day", isOwn: true, spent: usd("3"), left: usd("1") },
        { span: "week", isOwn: false, spent: usd("4") },
      ]);
      await set(mine, "day", null, { id: ADA });
      expect(await readUse(mine)).toMatchObject([
        { span: "day", isOwn: false, spent: usd("1"), left: 0n },
        { span: "week" },
      ]);
      await expectSound(world, mine);
    });

    test("a budget of nothing shuts one end user out, without any default budget", async () => {
      const mine = await account();
      await set(mine, "total", "0", { id: BOB });
      expect(await verdict(mine, "0.000000001", BOB)).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "100")).toBe("admitted");
    });

    test("another account's end user of the same id is another one", async () => {
      const [mine, theirs] = [await account(), await account()];
      await set(mine, "total", "0", { id: ADA });
      await set(theirs, "total", "5");
      expect(await verdict(theirs, "5")).toBe("admitted");
      expect(named(mine, ADA).digests).not.toEqual(named(theirs, ADA).digests);
    });

    test("a change holds from the next call on, in every process", async () => {
      const mine = await account();
      await set(mine, "day", "2");
      const elsewhere = accountIn(world.process(), mine);
      await hold(elsewhere, "1");
      await set(mine, "day", "1");
      expect(await verdict(elsewhere, "0.1")).toBe("end_user_budget_exceeded");
      await set(mine, "day", "1.5");
      expect(await verdict(elsewhere, "0.5")).toBe("admitted");
      await set(mine, "day", null);
      expect(await verdict(elsewhere, "50")).toBe("admitted");
    });

    test("a refusal names the span, its rest and its renewal, and no id", async () => {
      clock.set("2031-03-18T22:30:00.000Z");
      const mine = await account();
      await set(mine, "month", "1");
      await (await hold(mine, "1")).settle(usd("0.75"), DONE);
      expect(messageIn(await admit(mine, "0.3"))).toBe(
        "The call may cost up to $0.3; the budget of the UTC month of the end user has $0.25 " +
          "left, and renews at 2031-04-01T00:00:00.000Z",
      );
    });

    test.each([
      ["2031-01-31T23:59:59.999Z", "2031-02-01T00:00:00.000Z"],
      ["2032-02-29T23:59:59.999Z", "2032-03-01T00:00:00.000Z"],
      ["2031-12-31T23:59:59.999Z", "2032-01-01T00:00:00.000Z"],
      ["2100-02-28T23:59:59.999Z", "2100-03-01T00:00:00.000Z"],
    ])("the month of %s ends with it", async (last, next) => {
      clock.set(last);
      const mine = await account();
      await set(mine, "month", "2");
      const late = await hold(mine, "2");
      expect(await verdict(mine, "0.1")).toBe("end_user_budget_exceeded");
      expect(await readUse(mine)).toMatchObject([{ renewsAtMs: Date.parse(next) }]);
      clock.set(next);
      expect(await readUse(mine)).toMatchObject([{ held: 0n, left: usd("2") }]);
      await spend(mine, "1.5");
      await late.settle(usd("2"), DONE);
      expect(await readUse(mine)).toMatchObject([
        { startedAtMs: Date.parse(next), spent: usd("1.5") },
      ]);
      // A clock that goes back stays in the last month that was seen.
      clock.set(last);
      expect(await verdict(mine, "0.6")).toBe("end_user_budget_exceeded");
      await expectSound(world, mine);
    });

    test("a rebuild restores end users to the last flushed entry", async () => {
      clock.set("2031-04-05T08:00:00.000Z");
      const mine = await account();
      await set(mine, "5h", "3");
      await set(mine, "total", "9", { id: BOB });
      await (await hold(mine, "2")).settle(usd("1.25"), DONE);
      await spend(mine, "1", BOB);
      await world.flush();
      const before = [await readUse(mine), await readUse(mine, BOB)];
      await spend(mine, "0.5");
      await hold(mine, "0.25");
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect([await readUse(mine), await readUse(mine, BOB)]).toEqual(before);
      expect(await verdict(mine, "1.750000001")).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "1.75")).toBe("admitted");
      await expectSound(world, mine);
    });

    test("a call whose process died counts for its end user, also settled late", async () => {
      const mine = await account();
      await set(mine, "day", "3");
      const asked = ask(mine.keyId, usd("2"), { endUser: named(mine, ADA), stream: true });
      const lost = holdIn(await mine.actor.admit(asked));
      lost.checkpoint(usd("0.5"));
      await world.accounts.leases.renew();
      clock.ms += 90_000;
      await sweepOne(world, { ...mine, hasBudgets: true }, lost.id);
      expect(await readUse(mine)).toMatchObject([{ spent: usd("0.5"), held: 0n }]);
      await spend(mine, "2");
      expect(await lost.settle(usd("1.9"), DONE)).toMatchObject({ charged: usd("1") });
      expect(await readUse(mine)).toMatchObject([{ spent: usd("3"), held: 0n, left: 0n }]);
      await expectSound(world, mine);
    });

    test("an end user keeps its count and its own budget when the secret is replaced", async () => {
      const mine = await account();
      await set(mine, "day", "3");
      await set(mine, "week", "4", { id: ADA });
      await spend(mine, "2");
      const replaced = async (secrets: readonly [string, ...string[]], amount: string) => {
        // Another process, which knows nobody yet.
        const { actor } = accountIn(world.process(), mine);
        const endUser = named(mine, ADA, secrets);
        return verdictIn(await actor.admit(ask(mine.keyId, usd(amount), { endUser })));
      };
      expect(await replaced(["another secret", WORLD_PEPPER], "1.1")).toBe(
        "end_user_budget_exceeded",
      );
      // The rows of the end user move to the digest of the new secret beside the call.
      const [digest] = named(mine, ADA, ["another secret"]).digests;
      await eventually("the rows have the new digest", async () => {
        const [row] = await world.database.sql`
          SELECT (SELECT count(*) FROM end_user_budgets WHERE end_user = ${digest})
            + (SELECT count(*) FROM end_user_counts WHERE end_user = ${digest}) AS moved`;
        return Number(row?.moved) === 2;
      });
      expect(await replaced(["another secret"], "1.1")).toBe("end_user_budget_exceeded");
      expect(await replaced(["another secret"], "1")).toBe("admitted");
      await expectSound(world, mine);
    });

    test("two processes with secrets in another order count one end user once", async () => {
      const mine = await account({ contract: "enterprise" });
      await set(mine, "day", "3");
      const orders = [
        ["one secret", "another secret"],
        ["another secret", "one secret"],
      ] as const;
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, at) => {
          const { actor } = accountIn(world.process(), mine);
          const endUser = named(mine, ADA, orders[at % 2] ?? orders[0]);
          return actor.admit(ask(mine.keyId, usd("0.25"), { endUser }));
        }),
      );
      expect(answers.filter(({ verdict: one }) => one === "admitted")).toHaveLength(12);
    });

    test("a quote begins no end user, and is decided by the amount of the budget", async () => {
      const mine = await account();
      await set(mine, "day", "3");
      await set(mine, "week", "2");
      const quote = (amount: string) =>
        mine.actor.quote(ask(mine.keyId, usd(amount), { endUser: named(mine, ADA) }));
      const codeOf = async (amount: string) => (await quote(amount)).refusal?.code ?? null;
      expect(await codeOf("2")).toBeNull();
      expect(await codeOf("2.1")).toBe("end_user_budget_exceeded");
      expect((await quote("1")).spendable).toBe(usd("2"));
      const { sql } = world.database;
      expect(
        await sql`SELECT FROM end_user_counts c JOIN end_user_budgets b ON b.number = c.budget
        WHERE b.account = ${mine.row.number}`,
      ).toHaveLength(0);
      await hold(mine, "1");
      expect(await codeOf("1.1")).toBe("end_user_budget_exceeded");
      expect((await quote("1")).spendable).toBe(usd("1"));
    });
  });
