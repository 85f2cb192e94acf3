// Tests the request window of a key: exact in any 60 seconds, whatever the clock does.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anonymousWindowKey } from "../../../../actors/records/keys.ts";
import { count } from "../../../../actors/records/window.ts";
import { ApiError } from "../../../../src/core/errors.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import { createTestKey, type TestAccount } from "../../../support/stores/accounts.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import { refusalIn } from "../../../support/stores/verdicts.ts";
import {
  ask,
  fewAtOnce,
  openAccount,
  usd,
  verdict,
  type World,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

const LIMIT = 20;
const WINDOW_MS = 60_000;
/** A request among those of other seconds leaves the window at most one second later. */
const LEAVES_MS = 61_000;

async function call(account: TestAccount, more = {}): Promise<string> {
  return await verdict(account, usd("0"), more);
}

async function passed(account: TestAccount, calls: number): Promise<number> {
  const verdicts = await fewAtOnce(Array<TestAccount>(calls).fill(account), (one) => call(one));
  return verdicts.filter((one) => one === "admitted").length;
}

/** The times at which one key's requests passed, of all times at which it sent one. */
async function passTimes(world: World, key: string, times: readonly number[]): Promise<number[]> {
  const replies = await Promise.all(
    times.map((nowMs) =>
      world.accounts.scripts.run(count, { nowMs, key: anonymousWindowKey(key), limit: LIMIT }),
    ),
  );
  return times.filter((_, index) => replies[index]?.allowed);
}

/** The most requests that any 60 s hold. */
function busiest(times: readonly number[]): number {
  return times.reduce((most, start) => {
    const within = times.filter((time) => time >= start && time < start + WINDOW_MS);
    return Math.max(most, within.length);
  }, 0);
}

export const windowSuite = (open: WorldFactory): void =>
  describe("the request window", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));
    const account = () => openAccount(world, { createdAt: clock.daysAgo(0) });

    test("lets exactly the limit of parallel requests through", async () => {
      expect(await passed(await account(), 40)).toBe(LIMIT);
    });

    test("opens again when its oldest request is more than 60 s old, and not before", async () => {
      const mine = await account();
      clock.set("2031-03-15T12:00:00.999Z");
      expect(await passed(mine, LIMIT + 1)).toBe(LIMIT);
      clock.ms += WINDOW_MS - 1;
      expect(await call(mine)).toBe("rate_limit_exceeded");
      clock.ms += 2;
      expect(await call(mine)).toBe("admitted");
    });

    test("counts no request that it refuses itself", async () => {
      const mine = await account();
      expect(await passed(mine, 150)).toBe(LIMIT);
      clock.ms += LEAVES_MS;
      expect(await passed(mine, 150)).toBe(LIMIT);
    });

    test("counts one for a request that was refused before Redis was used", async () => {
      const mine = await account();
      const refusal = new ApiError("invalid_json", "known before");
      for (let calls = 0; calls < LIMIT; calls++) {
        expect(await call(mine, { refusal })).toBe("invalid_json");
      }
      expect(await call(mine, { refusal })).toBe("rate_limit_exceeded");
      expect(await call(mine)).toBe("rate_limit_exceeded");
    });

    test("belongs to one key: another key of the account has its own", async () => {
      const mine = await account();
      expect(await passed(mine, LIMIT + 1)).toBe(LIMIT);
      const other = await createTestKey(world.store, mine.row);
      await mine.actor.configure();
      expect(await passed({ ...mine, keyId: other.id }, LIMIT + 1)).toBe(LIMIT);
    });

    test("reports correctly the rest and the time when it opens again", async () => {
      clock.set("2031-03-15T13:00:00.500Z");
      const mine = await account();
      const first = await mine.actor.admit(ask(mine.keyId, usd("0")));
      expect(first).toMatchObject({ rate: { limit: 20, remaining: 19, resetSeconds: 60 } });
      await passed(mine, LIMIT);
      clock.ms += 30_000;
      const refused = await mine.actor.admit(ask(mine.keyId, usd("0")));
      expect(refused).toMatchObject({ rate: { remaining: 0, resetSeconds: 30 } });
      expect(refused).toMatchObject({ error: { retryAfterSeconds: 30 } });
      clock.ms += 30_000;
      expect(await call(mine)).toBe("admitted");
    });

    test("is open again after the seconds that a refusal names, which are at most 60", async () => {
      const mine = await account();
      let lastMs = clock.ms;
      for (const gapMs of [210, 90, 250, 480, 1_300, 12_000]) {
        for (let calls = 0; calls < LIMIT; calls++) {
          lastMs = clock.ms;
          expect(await call(mine)).toBe("admitted");
          clock.ms += Math.floor(gapMs / LIMIT);
        }
        const refused = refusalIn(await mine.actor.admit(ask(mine.keyId, usd("0"))));
        const { resetSeconds } = refused.rate;
        expect(resetSeconds).toBeLessThanOrEqual(60);
        clock.ms += resetSeconds * 1_000;
        expect(await call(mine)).toBe("admitted");
        clock.ms = lastMs + 2 * LEAVES_MS;
      }
    });

    test("stays at the latest second seen while the clock is a little behind it", async () => {
      const mine = await account();
      expect(await passed(mine, LIMIT)).toBe(LIMIT);
      clock.ms -= 30_000;
      expect(await call(mine)).toBe("rate_limit_exceeded");
      clock.ms += 30_000 + LEAVES_MS;
      expect(await passed(mine, LIMIT + 1)).toBe(LIMIT);
    });

    test("refuses at most 61 s more after the clock jumped back by hours", async () => {
      const mine = await account();
      expect(await passed(mine, LIMIT)).toBe(LIMIT);
      clock.ms -= 3 * 3_600_000;
      expect(await call(mine)).toBe("rate_limit_exceeded");
      clock.ms += WINDOW_MS - 1_000;
      expect(await call(mine)).toBe("rate_limit_exceeded");
      clock.ms += 2_000;
      expect(await passed(mine, LIMIT + 1)).toBe(LIMIT);
      // The seconds before the jump come again; their earlier counts are forgotten.
      for (let round = 0; round < 4; round++) {
        clock.ms += 3_600_000;
        expect(await passed(mine, LIMIT + 1)).toBe(LIMIT);
      }
    });
  });

/**
 * Only for a client that sends nothing twice: the count of callers without a key is not repeatable.
 */
export const randomWindowSuite = (open: WorldFactory): void =>
  describe("the request window at random times", () => {
    const world = suiteWorld(() => open());

    test("never holds more than the limit in any 60 s, and refuses none needlessly", async () => {
      const delays = fc.array(fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(90_000)), {
        minLength: 60,
        maxLength: 250,
      });
      let run = 0;
      const holds = fc.asyncProperty(delays, fc.nat(999), async (gaps, offset) => {
        let now = Date.parse("2031-01-01T00:00:00Z") + offset;
        const times = gaps.map((gap) => {
          now += gap;
          return now;
        });
        run += 1;
        const kept = await passTimes(world, `random ${run}`, times);
        expect(busiest(kept)).toBeLessThanOrEqual(LIMIT);
        for (const time of times) {
          if (kept.includes(time)) continue;
          const near = kept.filter((other) => other <= time && other > time - LEAVES_MS);
          expect(near.length).toBeGreaterThanOrEqual(LIMIT);
        }
      });
      await fc.assert(holds, { numRuns: 60 });
    });
  });
