// Tests how counts of end users come and go: they begin with a call that is admitted, and leave
// Redis and Postgres without the loss of a charge.

import { describe, expect, test } from "bun:test";
import { AccountActor } from "../../../../actors/account-actor.ts";
import { parseBucket } from "../../../../actors/records/records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/core/durations.ts";
import { WalletRepository } from "../../../../src/store/accounts/wallet-repository.ts";
import { deleteOldEndUsers } from "../../../../workers/eviction.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { BOB, endUserLab } from "../../../support/stores/end-user-lab.ts";
import { expectSound } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import { verdictIn } from "../../../support/stores/verdicts.ts";
import { ask, DONE, usd } from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

export const endUserCountSuite = (open: WorldFactory): void =>
  describe("counts of end users", () => {
    const clock = new TestClock("2031-05-04T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));
    const lab = endUserLab(world, clock);
    const { account, named, set, hold, spend, verdict, forget, kept } = lab;

    const countOf = async (mine: TestAccount) => {
      const rows = await world.database.sql`SELECT FROM end_user_counts c
        JOIN end_user_budgets b ON b.number = c.budget WHERE b.account = ${mine.row.number}`;
      return rows.length;
    };

    test("a refused call begins no end user, and takes no memory of Redis", async () => {
      const mine = await account({ paid: "2" });
      await set(mine, "day", "3");
      await set(mine, "total", "9");
      expect(await verdict(mine, "2.5")).toBe("insufficient_credits");
      expect(await verdict(mine, "3.5")).toBe("end_user_budget_exceeded");
      expect(await countOf(mine)).toBe(0);
      expect(await kept(mine)).toBe(0);
      expect(await verdict(mine, "1.5")).toBe("admitted");
      expect(await countOf(mine)).toBe(2);
      expect(await kept(mine)).toBe(2);
    });

    test("a call begins its run and its end user, each once", async () => {
      const mine = await account();
      await set(mine, "day", "3");
      const run = { id: "both", step: null, max: usd("2"), seconds: 60 };
      const both = (amount: string) =>
        mine.actor.admit(ask(mine.keyId, usd(amount), { run, endUser: named(mine, BOB) }));
      expect(verdictIn(await both("2.5"))).toBe("run_budget_exceeded");
      expect(await countOf(mine)).toBe(0);
      expect(verdictIn(await both("1.5"))).toBe("admitted");
      expect(verdictIn(await both("1"))).toBe("run_budget_exceeded");
      expect(await countOf(mine)).toBe(1);
      await expectSound(world, mine);
    });

    test("200 new end users at once begin in a few batches, one at a time", async () => {
      const mine = await account({ contract: "enterprise" });
      await set(mine, "day", "1");
      const { deps } = mine.actor;
      const { endUsers } = deps.repository;
      let [open, most, batches] = [0, 0, 0];
      const begin: typeof endUsers.begin = async (...asked) => {
        batches += 1;
        open += 1;
        most = Math.max(most, open);
        return await endUsers.begin(...asked).finally(() => {
          open -= 1;
        });
      };
      const counted = Object.assign(new WalletRepository(world.database), {
        endUsers: { ...endUsers, begin },
      });
      const { id, bucket } = mine.row;
      const actor = new AccountActor({ ...deps, repository: counted }, id, bucket);
      const verdicts = await Promise.all(
        Array.from({ length: 200 }, (_, n) => verdict({ ...mine, actor }, "1", `new-${n}`)),
      );
      expect(new Set(verdicts)).toEqual(new Set(["admitted"]));
      expect(await countOf(mine)).toBe(200);
      expect(most).toBe(1);
      expect(batches).toBeLessThan(100);
      expect(await verdict({ ...mine, actor }, "0.1", "new-77")).toBe("end_user_budget_exceeded");
    });

    test("Redis forgets an end user after its span, once the ledger has all of it", async () => {
      clock.set("2031-05-05T12:00:00.000Z");
      const mine = await account();
      await set(mine, "day", "3");
      const open = await hold(mine, "1");
      await spend(mine, "1", BOB);
      await world.flush();
      await forget();
      expect(await kept(mine)).toBe(2);
      clock.ms += DAY_MS;
      await forget();
      expect(await kept(mine)).toBe(1);
      await open.settle(usd("0.5"), DONE);
      await forget();
      expect(await kept(mine)).toBe(1);
      await world.flush();
      await forget();
      expect(await kept(mine)).toBe(0);
      expect(await verdict(mine, "3.1")).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "3")).toBe("admitted");
      await expectSound(world, mine);
    });

    test("Redis forgets spans that go on where there are very many, and loses none", async () => {
      clock.set("2031-05-07T12:00:00.000Z");
      const mine = await account({ contract: "enterprise" });
      await set(mine, "total", "3");
      const ids = Array.from({ length: 30 }, (_, n) => `user-${n}`);
      for (const id of ids) await spend(mine, "2", id);
      const open = await hold(mine, "1", "user-7");
      await world.flush();
      await forget(ids.length);
      expect(await kept(mine)).toBe(ids.length);
      await forget(10);
      // The surplus alone, but for a count of which a call still holds some.
      const rest = await kept(mine);
      expect([10, 11]).toContain(rest);
      await forget(0);
      expect(await kept(mine)).toBe(1);
      expect(await verdict(mine, "1.1", "user-3")).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "0.1", "user-7")).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "1", "user-3")).toBe("admitted");
      await open.release(DONE);
      await expectSound(world, mine);
    });

    test("end users are forgotten in 30 pages, and the loads of calls go on", async () => {
      clock.set("2031-05-09T12:00:00.000Z");
      const mine = await account({ contract: "enterprise" });
      await set(mine, "day", "3");
      await (await hold(mine, "1")).release(DONE);
      const { redis, database } = world;
      const [record] = await redis.hvalsBuffer(mine.actor.keys.budgets);
      if (record === undefined) throw new Error("There is no count");
      const rows = await database.sql<{ number: bigint }[]>`
        INSERT INTO end_user_counts (budget, end_user)
        SELECT budget, 'user-' || n FROM end_user_counts c, generate_series(1, 8000) AS n
        WHERE budget = (SELECT number FROM end_user_budgets WHERE account = ${mine.row.number})
        RETURNING number`;
      const records = rows.flatMap(({ number }) => [String(number), record]);
      await redis.hset(mine.actor.keys.budgets, ...records);
      const evictions = async () => {
        const bytes = await redis.getBuffer(mine.actor.keys.bucket);
        return bytes === null ? null : parseBucket(bytes).evictions;
      };
      const before = await evictions();
      clock.ms += DAY_MS + MINUTE_MS;
      const verdicts: string[] = [];
      const pauses: number[] = [];
      const forgotten = await forget(undefined, async (ms) => {
        pauses.push(ms);
        verdicts.push(await verdict(mine, "1", `late-${pauses.length}`));
      });
      expect(forgotten).toBe(8_001);
      expect(pauses.length).toBeGreaterThanOrEqual(30);
      expect(pauses.every((ms) => ms >= 250)).toBe(true);
      expect(verdicts).toEqual(pauses.map(() => "admitted"));
      // Readers of other accounts of the bucket read nothing again.
      expect(await evictions()).toBe(before);
    });

    test("a reading that is older than a forgotten count is not stored", async () => {
      const mine = await account();
      await set(mine, "total", "3");
      await spend(mine, "1");
      await world.flush();
      await forget(0);
      const { deps } = mine.actor;
      const readings: number[] = [];
      const slow = Object.create(deps.repository, {
        readBudgets: {
          value: async (...asked: Parameters<typeof deps.repository.readBudgets>) => {
            const record = await deps.repository.readBudgets(...asked);
            readings.push(record.spans.length);
            if (readings.length > 1) return record;
            await spend(mine, "1.5");
            await world.flush();
            await forget(0);
            return record;
          },
        },
      });
      const { id, bucket } = mine.row;
      const other = { ...mine, actor: new AccountActor({ ...deps, repository: slow }, id, bucket) };
      expect(await verdict(other, "0.6")).toBe("end_user_budget_exceeded");
      expect(readings).toHaveLength(2);
      expect(await verdict(other, "0.5")).toBe("admitted");
    });

    test("counts of a removed budget, and of deleted rows, leave Redis", async () => {
      const mine = await account({ budgets: { day: "99" }, keyBudgets: { total: "99" } });
      await set(mine, "total", "3");
      await spend(mine, "1");
      await spend(mine, "1", BOB);
      await world.flush();
      await forget();
      expect(await kept(mine)).toBe(4);
      await world.database.sql`DELETE FROM end_user_counts WHERE end_user = ${
        named(mine, BOB).digests[0]
      }`;
      await forget();
      expect(await kept(mine)).toBe(3);
      await set(mine, "total", null);
      await forget();
      expect(await kept(mine)).toBe(2);
    });

    test("a key's and an account's own budgets are never forgotten with end users", async () => {
      const mine = await account({ budgets: { day: "2" }, keyBudgets: { "5h": "9" } });
      await set(mine, "5h", "1");
      await spend(mine, "1");
      await world.flush();
      clock.ms += 2 * DAY_MS;
      await forget(0);
      expect(await kept(mine)).toBe(2);
    });

    test("rows of end users go 90 days after they were last seen, all time stays", async () => {
      clock.set("2031-06-01T12:00:00.000Z");
      const mine = await account();
      await set(mine, "day", "3");
      await set(mine, "total", "9");
      await spend(mine, "2");
      const { database } = world;
      const seenDaysAgo = async (days: number) => {
        await database.sql`UPDATE end_user_counts SET
          seen_at = ${new Date(clock.ms - days * DAY_MS).toISOString()}`;
        await deleteOldEndUsers({ database, now: () => clock.ms });
        const rows = await database.sql`SELECT b.span FROM end_user_counts c
          JOIN end_user_budgets b ON b.number = c.budget WHERE b.account = ${mine.row.number}`;
        return rows.map(({ span }) => span).toSorted();
      };
      expect(await seenDaysAgo(90)).toEqual(["day", "total"]);
      expect(await seenDaysAgo(91)).toEqual(["total"]);
      clock.ms += HOUR_MS + MINUTE_MS;
      expect(await verdict(mine, "7.1")).toBe("end_user_budget_exceeded");
      expect(await verdict(mine, "1")).toBe("admitted");
      await expectSound(world, mine);
    });
  });
