// Tests the limits in time of an account's calls besides the request window of a key.

import { describe, expect, test } from "bun:test";
import type { Decision, Hold, Limit } from "../../../../actors/account.ts";
import { ApiError } from "../../../../src/core/errors.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import { createTestKey, type TestAccount } from "../../../support/stores/accounts.ts";
import { expectSound, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import { holdIn, verdictIn } from "../../../support/stores/verdicts.ts";
import { type Asked, ask, DONE, openAccount, usd } from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

const NOON = "2031-03-15T12:00:00.000Z";
const REQUESTS: Limit = {
  name: "requests",
  kind: "requests",
  max: 8,
  weight: 1,
  code: "rate_limit_exceeded",
};
// Any code of the table will do; these two do not interfere with another check here.
const MINUTE: Limit = {
  name: "messages",
  kind: "minute",
  max: 5,
  weight: 1,
  code: "too_many_streams",
};
const DAY: Limit = { name: "recipients", kind: "day", max: 50, weight: 3, code: "model_not_found" };

async function call(
  account: TestAccount,
  limits: readonly Limit[],
  more: Asked = {},
): Promise<Decision> {
  const asked = ask(account.keyId, usd("0"), { limits: () => limits, ...more });
  return await account.actor.admit(asked);
}

async function verdict(...asked: Parameters<typeof call>): Promise<string> {
  return verdictIn(await call(...asked));
}

async function admitted(...asked: Parameters<typeof call>): Promise<Hold> {
  return holdIn(await call(...asked));
}

/** Counts how many of this number of parallel calls pass. */
async function passed(account: TestAccount, limits: readonly Limit[], calls: number) {
  const verdicts = await Promise.all(Array.from({ length: calls }, () => verdict(account, limits)));
  return verdicts.filter((one) => one === "admitted").length;
}

export const limitsSuite = (open: WorldFactory): void =>
  describe("limits in time", () => {
    const clock = new TestClock(NOON);
    const world = suiteWorld(() => open(clock.options));
    const account = () => {
      clock.set(NOON);
      return openAccount(world, {
        createdAt: clock.daysAgo(0),
        paid: "20",
        paidAt: clock.daysAgo(0),
      });
    };

    test("brief calls are no open calls, and a sweep and an audit agree", async () => {
      const mine = await account();
      const { openCalls } = (await mine.actor.view(mine.keyId)).tier;
      const terms = { freeEligible: true, stream: false, isBrief: true };
      const brief: Hold[] = [];
      for (let at = 0; at < openCalls; at += 1) brief.push(await admitted(mine, [], terms));
      expect((await mine.actor.view(mine.keyId)).openCalls).toBe(0);
      const open: Hold[] = [];
      for (let at = 0; at < openCalls; at += 1) open.push(await admitted(mine, []));
      expect(await verdict(mine, [])).toBe("rate_limit_exceeded");
      expect(await verdict(mine, [], terms)).toBe("admitted");
      await expectSound(world, mine);
      const [first, ...others] = brief;
      for (const hold of others) await hold.release(DONE);
      expect((await mine.actor.view(mine.keyId)).openCalls).toBe(openCalls);
      clock.ms += 90_000;
      if (first !== undefined) await sweepOne(world, { ...mine, hasBudgets: false }, first.id);
      expect((await mine.actor.view(mine.keyId)).openCalls).toBe(openCalls);
      for (const hold of open) await hold.release(DONE);
      expect((await mine.actor.view(mine.keyId)).openCalls).toBe(0);
      await expectSound(world, mine);
    });

    test("a limit of requests counts those of all keys of the account", async () => {
      const mine = await account();
      const other = await createTestKey(world.store, mine.row);
      await mine.actor.configure();
      expect(await passed(mine, [REQUESTS], 5)).toBe(5);
      expect(await passed({ ...mine, keyId: other.id }, [REQUESTS], 5)).toBe(3);
      expect(await verdict(mine, [REQUESTS])).toBe("rate_limit_exceeded");
      expect(await verdict(mine, [])).toBe("admitted");
    });

    test("a limit of requests counts refused requests, except by a window", async () => {
      const mine = await account();
      const refusal = new ApiError("invalid_json", "known before");
      for (let calls = 0; calls < REQUESTS.max; calls++) {
        expect(await verdict(mine, [REQUESTS], { refusal })).toBe("invalid_json");
      }
      expect(await passed(mine, [REQUESTS], 20)).toBe(0);
      clock.ms += 61_000;
      expect(await passed(mine, [REQUESTS], 20)).toBe(REQUESTS.max);
    });

    test("the headers show the window that is closest to full", async () => {
      const mine = await account();
      expect(await call(mine, [REQUESTS])).toMatchObject({ rate: { limit: 8, remaining: 7 } });
      const wide = { ...REQUESTS, name: "wide", max: 10_000 };
      expect(await call(mine, [wide])).toMatchObject({ rate: { limit: 60, remaining: 58 } });
    });

    test("a limit of a minute counts admitted calls only, and opens after 60 s", async () => {
      const mine = await account();
      const bound = usd("1000");
      expect(await verdict(mine, [MINUTE], { bound })).toBe("monthly_limit_reached");
      expect(await passed(mine, [MINUTE], 20)).toBe(MINUTE.max);
      clock.ms += 59_999;
      expect(await verdict(mine, [MINUTE])).toBe(MINUTE.code);
      clock.ms += 1;
      expect(await verdict(mine, [MINUTE])).toBe("admitted");
    });

    test("a limit of a day lets exactly as much through as fits, however many ask", async () => {
      expect(await passed(await account(), [DAY], 40)).toBe(16);
    });

    test("a limit of a day starts again at midnight UTC, and the refusal says so", async () => {
      const mine = await account();
      clock.set("2031-03-15T23:59:58.500Z");
      expect(await passed(mine, [{ ...DAY, weight: 50 }], 1)).toBe(1);
      expect(await call(mine, [DAY])).toMatchObject({ error: { retryAfterSeconds: 2 } });
      clock.set("2031-03-16T00:00:00.000Z");
      expect(await passed(mine, [DAY], 17)).toBe(16);
    });

    test("a clock that was far ahead for one call delays no caller beyond a day", async () => {
      clock.set(NOON);
      const mine = await openAccount(world, { paid: "50", paidAt: clock.daysAgo(8) });
      clock.ms += 100 * 86_400_000;
      expect(await passed(mine, [DAY], 4)).toBe(4);
      clock.set(NOON);
      // Calls counted under the wrong clock count today.
      expect(await passed(mine, [DAY], 20)).toBe(12);
      clock.ms += 86_400_000;
      expect(await passed(mine, [DAY], 20)).toBe(16);
    });

    test("a clock that jumps back does not start a day again", async () => {
      const mine = await account();
      expect(await passed(mine, [DAY], 16)).toBe(16);
      clock.ms -= 86_400_000;
      expect(await verdict(mine, [DAY])).toBe(DAY.code);
    });

    test("the unused part of a settlement's limit is free again, once", async () => {
      const mine = await account();
      const whole = { ...DAY, weight: 50 };
      const open = await admitted(mine, [whole, MINUTE]);
      await open.settle(usd("0"), DONE, { [DAY.name]: 9, [MINUTE.name]: 1 });
      await open.settle(usd("0"), DONE, { [DAY.name]: 9, [MINUTE.name]: 1 });
      expect(await passed(mine, [DAY], 5)).toBe(3);
      expect(await passed(mine, [MINUTE], 8)).toBe(MINUTE.max);
    });

    test("a release gives back all that the call counted except its request", async () => {
      clock.set(NOON);
      // An account of a tier that may have all these calls open at once.
      const mine = await openAccount(world, { paid: "50", paidAt: clock.daysAgo(8) });
      const one = await admitted(mine, [REQUESTS, DAY, MINUTE]);
      await one.release(DONE);
      expect(await passed(mine, [DAY], 17)).toBe(16);
      expect(await passed(mine, [MINUTE], 8)).toBe(MINUTE.max);
      expect(await passed(mine, [REQUESTS], 9)).toBe(REQUESTS.max - 1);
    });

    test("a part given back after midnight belonged to yesterday", async () => {
      const mine = await account();
      const yesterday = await admitted(mine, [{ ...DAY, weight: 40 }]);
      clock.set("2031-03-16T00:00:01.000Z");
      expect(await passed(mine, [DAY], 10)).toBe(10);
      await yesterday.release(DONE);
      expect(await passed(mine, [DAY], 10)).toBe(6);
    });

    test("a part given back after a minute belonged to that minute", async () => {
      const mine = await account();
      const first = await admitted(mine, [MINUTE]);
      // Past the window, and not at the slot in which the first call was counted.
      clock.ms += 70_000;
      expect(await passed(mine, [MINUTE], 4)).toBe(4);
      await first.release(DONE);
      expect(await passed(mine, [MINUTE], 4)).toBe(1);
    });
  });
