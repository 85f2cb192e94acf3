// Tests the rates of keys: exact over processes and time, beside the limits of the account.

import { describe, expect, test } from "bun:test";
import type { Decision, RateLimits } from "../../../../actors/account.ts";
import { limitKey } from "../../../../actors/records/keys.ts";
import type { KeyRates } from "../../../../src/core/access/key-limits.ts";
import { DAY_MS } from "../../../../src/core/durations.ts";
import { changeKey } from "../../../../src/store/accounts/account-keys.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import {
  type AccountTerms,
  createTestKey,
  type TestAccount,
} from "../../../support/stores/accounts.ts";
import { expectSound } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  accountIn,
  ask,
  DONE,
  hold,
  openAccount,
  usd,
  verdict,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

const CENT = usd("0.01");
const PASSED = "admitted";
const REFUSED = "rate_limit_exceeded";

export const keyRateSuite = (open: WorldFactory): void =>
  describe("rates of keys", () => {
    const clock = new TestClock("2031-06-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));

    const account = (more: AccountTerms = {}) =>
      openAccount(world, { ...clock.aged, contract: "enterprise", ...more });

    const change = async (mine: TestAccount, rates: Partial<KeyRates>) => {
      await changeKey(world.database, { account: mine.row.number, keyId: mine.keyId, ...rates });
      await mine.actor.configure();
    };

    /** The decisions on 200 parallel calls of two processes; those that pass are settled. */
    async function passing(mine: TestAccount, more: object): Promise<number> {
      const actors = [mine.actor, accountIn(world.process(), mine).actor];
      const calls = Array.from({ length: 200 }, (_, index) =>
        actors[index % 2]?.admit(ask(mine.keyId, CENT, more)),
      );
      const decisions = await Promise.all(calls);
      const admitted = decisions.flatMap((one) => (one?.verdict === PASSED ? [one.hold] : []));
      await Promise.all(admitted.map((call) => call.settle(CENT, { ...DONE, ...USED })));
      return admitted.length;
    }

    test("of 200 parallel calls in two processes a key's minute lets its number pass", async () => {
      const mine = await account({ requestsPerMinute: 7 });
      expect(await passing(mine, {})).toBe(7);
      clock.ms += 59_999;
      expect(await verdict(mine, CENT)).toBe(REFUSED);
      clock.ms += 1;
      expect(await verdict(mine, CENT)).toBe(PASSED);
      await expectSound(world, mine);
    });

    test("of 200 parallel calls in two processes a key's day lets its number pass", async () => {
      clock.set("2031-06-16T23:59:50.000Z");
      const mine = await account({ requestsPerDay: 9 });
      expect(await passing(mine, {})).toBe(9);
      const refused = await mine.actor.admit(ask(mine.keyId, CENT));
      expect(errorOf(refused)).toEqual({
        message:
          "This key allows 9 requests a day; the next day begins at 2031-06-17T00:00:00.000Z",
        retryAfterSeconds: 10,
      });
      expect(rateOf(refused)).toEqual({ limit: 9, remaining: 0, resetSeconds: 10 });
      clock.ms += 10_000;
      expect(await passing(mine, {})).toBe(9);
      await expectSound(world, mine);
    });

    test("a key whose day is used up waits for the next, whatever else is exceeded", async () => {
      clock.set("2031-06-16T12:00:00.000Z");
      const mine = await account({ requestsPerDay: 1, tokensPerMinute: 100 });
      expect(await verdict(mine, CENT, { tokens: 90 })).toBe(PASSED);
      const refused = await mine.actor.admit(ask(mine.keyId, CENT, { tokens: 90 }));
      expect(errorOf(refused)).toEqual({
        message:
          "This key allows 1 requests a day; the next day begins at 2031-06-17T00:00:00.000Z",
        retryAfterSeconds: 43_200,
      });
    });

    test("a request counts once in its day, whatever becomes of it", async () => {
      clock.set("2031-06-17T10:00:00.000Z");
      const mine = await account({ requestsPerDay: 4, free: "0" });
      await (await hold(mine, CENT)).release(DONE);
      expect(await verdict(mine, usd("9000"))).toBe("insufficient_credits");
      const first = ask(mine.keyId, usd("9000"), { tentative: true });
      expect(await mine.actor.admit(first)).toMatchObject({ verdict: "short" });
      const terms = { ...first.terms, bound: CENT, tentative: false, counted: true };
      const second = await mine.actor.admit({ ...first, terms });
      if (second.verdict !== PASSED) throw new Error(second.verdict);
      expect(second.rate).toMatchObject({ limit: 4, remaining: 1 });
      await second.hold.settle(CENT, DONE);
      expect(await verdict(mine, CENT)).toBe(PASSED);
      for (const _ of [1, 2]) expect(await verdict(mine, CENT)).toBe(REFUSED);
    });

    test("headers name the limit that is closest to full", async () => {
      clock.set("2031-06-18T12:00:00.000Z");
      const mine = await account({ requestsPerMinute: 5, requestsPerDay: 6 });
      const rate = async () => rateOf(await mine.actor.admit(ask(mine.keyId, usd("0"))));
      expect(await rate()).toMatchObject({ limit: 5, remaining: 4 });
      for (const _ of [2, 3, 4, 5]) await rate();
      expect(await rate()).toMatchObject({ limit: 5, remaining: 0 });
      clock.ms += 61_000;
      expect(await rate()).toEqual({ limit: 6, remaining: 0, resetSeconds: 43_139 });
    });

    test("a key's limit does not raise that of its tier", async () => {
      const mine = await openAccount(world, { requestsPerMinute: 1_000 });
      expect(rateOf(await mine.actor.admit(ask(mine.keyId, usd("0"))))).toMatchObject({
        limit: 20,
      });
      await change(mine, { requestsPerMinute: 2 });
      expect(await verdict(mine, usd("0"))).toBe(PASSED);
      const refused = await mine.actor.admit(ask(mine.keyId, usd("0")));
      expect(errorOf(refused)?.message).toBe("This key allows 2 requests a minute");
    });

    test("of 200 parallel calls in two processes a key's tokens let theirs pass", async () => {
      clock.set("2031-06-19T12:00:00.000Z");
      const mine = await account({ tokensPerMinute: 100_000 });
      expect(await passing(mine, { tokens: 9_000 })).toBe(11);
      // The use of the calls counts, not their holds: 11 times 7,000.
      expect(await verdict(mine, CENT, { tokens: 23_001 })).toBe(REFUSED);
      expect(await verdict(mine, CENT, { tokens: 23_000 })).toBe(PASSED);
      clock.ms += 59_999;
      expect(await verdict(mine, CENT, { tokens: 23_001 })).toBe(REFUSED);
      clock.ms += 1;
      expect(await verdict(mine, CENT, { tokens: 100_000 })).toBe(PASSED);
      await expectSound(world, mine);
    });

    test("tokens are held while a call is open, and more than a window's slot counts", async () => {
      clock.set("2031-06-20T12:00:00.000Z");
      const mine = await account({ tokensPerMinute: 1_000_000_000 });
      const open = await hold(mine, CENT, { tokens: 999_999_000 });
      expect(await verdict(mine, CENT, { tokens: 1_001 })).toBe(REFUSED);
      const refused = await mine.actor.admit(ask(mine.keyId, CENT, { tokens: 1_001 }));
      expect(errorOf(refused)).toEqual({
        message: "The call may take up to 1001 tokens; this key allows 1000000000 a minute",
        retryAfterSeconds: 60,
      });
      expect(await verdict(mine, CENT, { tokens: 1_000 })).toBe(PASSED);
      await open.settle(CENT, { ...DONE, promptTokens: 70_000, completionTokens: 1 });
      expect(await verdict(mine, CENT, { tokens: 999_930_000 })).toBe(REFUSED);
      expect(await verdict(mine, CENT, { tokens: 999_929_999 })).toBe(PASSED);
    });

    test("a call of many tokens waits until enough of them have left the minute", async () => {
      clock.set("2031-06-19T12:00:00.000Z");
      const mine = await account({ tokensPerMinute: 100 });
      await hold(mine, CENT, { tokens: 10 });
      clock.ms += 20_000;
      await hold(mine, CENT, { tokens: 85 });
      clock.ms += 10_000;
      const waits = async (tokens: number) =>
        errorOf(await mine.actor.admit(ask(mine.keyId, CENT, { tokens })))?.retryAfterSeconds;
      expect([await waits(15), await waits(16)]).toEqual([30, 50]);
      clock.ms += 49_999;
      expect(await verdict(mine, CENT, { tokens: 16 })).toBe(REFUSED);
      clock.ms += 1;
      expect(await verdict(mine, CENT, { tokens: 16 })).toBe(PASSED);
    });

    test("a call of more tokens than a minute allows is not asked to wait", async () => {
      const mine = await account({ tokensPerMinute: 100 });
      expect(errorOf(await mine.actor.admit(ask(mine.keyId, CENT, { tokens: 101 })))).toEqual({
        message:
          "The call may take up to 101 tokens; this key allows 100 a minute: shorten the prompt, " +
          "or ask for fewer output tokens",
        retryAfterSeconds: undefined,
      });
    });

    test("of 200 parallel calls in two processes a key's day of tokens is exact", async () => {
      clock.set("2031-07-01T23:59:50.250Z");
      const mine = await account({ tokensPerDay: 100_000 });
      expect(await passing(mine, { tokens: 9_000 })).toBe(11);
      // The use of the calls counts, not their holds: 11 times 7,000.
      expect(await verdict(mine, CENT, { tokens: 23_000 })).toBe(PASSED);
      const refused = await mine.actor.admit(ask(mine.keyId, CENT, { tokens: 23_001 }));
      expect(errorOf(refused)).toEqual({
        message:
          "The call may take up to 23001 tokens; this key allows 100000 a day, and the next day " +
          "begins at 2031-07-02T00:00:00.000Z",
        retryAfterSeconds: 10,
      });
      clock.ms += 9_749;
      expect(await verdict(mine, CENT, { tokens: 100_000 })).toBe(REFUSED);
      clock.ms += 1;
      expect(await verdict(mine, CENT, { tokens: 100_000 })).toBe(PASSED);
      await expectSound(world, mine);
    });

    test("a call over midnight gives its tokens back to no later day", async () => {
      clock.set("2031-07-03T23:59:00.000Z");
      const mine = await account({ tokensPerDay: 100 });
      const over = await hold(mine, CENT, { tokens: 90 });
      clock.ms += 120_000;
      const today = await hold(mine, CENT, { tokens: 60 });
      await over.settle(CENT, { ...DONE, promptTokens: 1, completionTokens: 1 });
      expect(await verdict(mine, CENT, { tokens: 41 })).toBe(REFUSED);
      await today.release(DONE);
      expect(await verdict(mine, CENT, { tokens: 100 })).toBe(PASSED);
    });

    test("the longer wait is named where minute and day of tokens are both full", async () => {
      clock.set("2031-07-05T12:00:00.000Z");
      const mine = await account({ tokensPerMinute: 100, tokensPerDay: 150 });
      await hold(mine, CENT, { tokens: 90 });
      const waits = async (tokens: number) =>
        errorOf(await mine.actor.admit(ask(mine.keyId, CENT, { tokens })));
      expect(await waits(20)).toMatchObject({ retryAfterSeconds: 60 });
      expect(await waits(70)).toMatchObject({ retryAfterSeconds: 43_200 });
      // No wait helps a call of more tokens than one of the limits.
      expect(await waits(101)).toEqual({
        message:
          "The call may take up to 101 tokens; this key allows 100 a minute: shorten the prompt, " +
          "or ask for fewer output tokens",
        retryAfterSeconds: undefined,
      });
      await change(mine, { tokensPerMinute: null });
      expect((await waits(151))?.message).toContain("this key allows 150 a day: shorten");
    });

    test("a call of too many tokens for the day comes again with fewer", async () => {
      clock.set("2031-07-06T12:00:00.000Z");
      const mine = await account({ tokensPerDay: 100 });
      const first = ask(mine.keyId, CENT, { tokens: 101, tentative: true });
      expect(await mine.actor.admit(first)).toMatchObject({ verdict: "short" });
      const terms = { ...first.terms, tokens: 100, tentative: false, counted: true };
      expect(await mine.actor.admit({ ...first, terms })).toMatchObject({ verdict: PASSED });
    });

    test("a call without tokens needs none; a tentative one comes again with fewer", async () => {
      clock.set("2031-06-21T12:00:00.000Z");
      const mine = await account({ tokensPerMinute: 100 });
      expect(await verdict(mine, CENT)).toBe(PASSED);
      const first = ask(mine.keyId, CENT, { tokens: 101, tentative: true });
      expect(await mine.actor.admit(first)).toMatchObject({ verdict: "short" });
      const terms = { ...first.terms, tokens: 100, tentative: false, counted: true };
      expect(await mine.actor.admit({ ...first, terms })).toMatchObject({ verdict: PASSED });
    });

    test("each key has its own counts; a change binds the next call of every process", async () => {
      clock.set("2031-06-22T12:00:00.000Z");
      const mine = await account({ requestsPerDay: 1, tokensPerMinute: 10 });
      const other = await createTestKey(world.store, mine.row, { requestsPerDay: 1 });
      await mine.actor.configure();
      const elsewhere = accountIn(world.process(), mine);
      expect(await verdict(mine, CENT)).toBe(PASSED);
      expect(await verdict(elsewhere, CENT)).toBe(REFUSED);
      expect(await verdict({ ...mine, keyId: other.id }, CENT)).toBe(PASSED);
      await change(mine, { requestsPerDay: 2, tokensPerMinute: null });
      expect(await verdict(elsewhere, CENT, { tokens: 11 })).toBe(PASSED);
      expect(await verdict(mine, CENT)).toBe(REFUSED);
      await change(mine, { requestsPerDay: null });
      expect(await verdict(elsewhere, CENT)).toBe(PASSED);
    });

    test("a rebuild restores the rates, and keeps the counts", async () => {
      clock.set("2031-06-23T12:00:00.000Z");
      const mine = await account({ requestsPerDay: 3, tokensPerMinute: 50 });
      await (await hold(mine, CENT, { tokens: 40 })).settle(CENT, { ...DONE, ...USED });
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await verdict(mine, CENT, { tokens: 11 })).toBe(REFUSED);
      expect(await verdict(mine, CENT, { tokens: 10 })).toBe(PASSED);
      expect(await verdict(mine, CENT)).toBe(REFUSED);
      await expectSound(world, mine);
    });

    test("a rebuild keeps the count of a day's tokens", async () => {
      clock.set("2031-06-24T12:00:00.000Z");
      const mine = await account({ tokensPerDay: 50 });
      await (await hold(mine, CENT, { tokens: 40 })).settle(CENT, { ...DONE, ...USED });
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await verdict(mine, CENT, { tokens: 11 })).toBe(REFUSED);
      expect(await verdict(mine, CENT, { tokens: 10 })).toBe(PASSED);
      await expectSound(world, mine);
    });

    test("a clock that goes back by days begins no day again", async () => {
      clock.set("2031-06-25T12:00:00.000Z");
      const mine = await account({ requestsPerDay: 1 });
      expect(await verdict(mine, CENT)).toBe(PASSED);
      clock.ms -= DAY_MS;
      expect(await verdict(mine, CENT)).toBe(REFUSED);
    });

    test("a key without rates names no further record of Redis", async () => {
      const mine = await account();
      await verdict(mine, CENT, { tokens: 1_000 });
      const records = ["requests", "tokens", "tokens_day"].map((kind) => limitOf(mine, kind));
      expect(await world.redis.exists(...records)).toBe(0);
      await change(mine, { requestsPerDay: 5, tokensPerMinute: 5_000, tokensPerDay: 5_000 });
      await verdict(mine, CENT, { tokens: 1_000 });
      expect(await world.redis.exists(...records)).toBe(3);
    });
  });

/** The usage of each call that passes. */
const USED = { promptTokens: 6_000, completionTokens: 1_000 } as const;

function limitOf({ row, keyId }: TestAccount, kind: string): string {
  return limitKey({ bucket: row.bucket, account: row.id }, `${kind}.${keyId}`);
}

function errorOf(decision: Decision) {
  if (decision.verdict !== "refused") return null;
  const { message, retryAfterSeconds } = decision.error;
  return { message, retryAfterSeconds };
}

function rateOf(decision: Decision): RateLimits | null {
  return decision.verdict === "short" ? null : decision.rate;
}
