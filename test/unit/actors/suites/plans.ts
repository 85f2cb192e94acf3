// Tests plans of application accounts (SPEC 8.6): requests a minute of account and key, and the
// monthly allowance of the Free plan.

import { describe, expect, test } from "bun:test";
import type { RateLimits } from "../../../../actors/account.ts";
import { auditAccount } from "../../../../src/accounts/audit-account.ts";
import { PLANS, type PlanName } from "../../../../src/core/access/limits.ts";
import { AuditRepository } from "../../../../src/store/audit/audit.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import { createTestKey, type TestAccount } from "../../../support/stores/accounts.ts";
import { expectSound, ledgerOf } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  ask,
  balances,
  DONE,
  fewAtOnce,
  hold,
  openAccount,
  usd,
  verdict,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

const NONE = usd("0");
const APPLICATION = { surface: "application" } as const;

export const planSuite = (open: WorldFactory): void =>
  describe("plans", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));

    /** Requires that the books agree and the audit finds nothing. */
    async function expectProven(account: TestAccount): Promise<void> {
      await expectSound(world, account);
      const repository = new AuditRepository(world.database);
      const deps = { redis: world.redis, repository, graceMs: 60_000, scriptTime: clock.now };
      expect((await auditAccount(deps, account.row)).difference).toBeNull();
    }

    async function allowances(account: TestAccount): Promise<unknown[]> {
      return [
        ...(await world.database.sql`
          SELECT number, amount::text, allowance_month AS month,
            to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS ends FROM operations
          WHERE account = ${account.row.number} ORDER BY number`),
      ];
    }

    async function keyOf(account: TestAccount): Promise<TestAccount> {
      const { id: keyId, secret: key } = await createTestKey(world.store, account.row);
      await account.actor.configure();
      return { ...account, keyId, key };
    }

    /**
     * Counts how many of these parallel calls with each key pass; returns the last rate limits too.
     */
    async function passed(keys: readonly TestAccount[], calls: number) {
      const rates: RateLimits[] = [];
      const asking = keys.flatMap((key) => Array<TestAccount>(calls).fill(key));
      const answers = await fewAtOnce(asking, async (key) => {
        const admission = await key.actor.admit(ask(key.keyId, NONE));
        if (admission.verdict === "short") throw new Error("short");
        rates.push(admission.rate);
        if (admission.verdict === "admitted") await admission.hold.release(DONE);
        return admission.verdict;
      });
      return { passed: answers.filter((one) => one === "admitted").length, rates };
    }

    test.each(["free", "starter", "pro", "max"] as const)(
      "%s lets all keys of an account together make its requests a minute, and no more",
      async (plan: PlanName) => {
        clock.set("2031-03-15T12:00:00.000Z");
        const one = await openAccount(world, { ...APPLICATION, plan });
        const keys = [one, await keyOf(one), await keyOf(one)];
        const limit = PLANS[plan].accountRequestsPerMinute ?? 0;
        expect((await passed(keys, 50)).passed).toBe(limit);
        clock.ms += 59_999;
        expect((await passed(keys, 1)).passed).toBe(0);
        clock.ms += 1_001;
        expect((await passed(keys, 1)).passed).toBe(3);
      },
    );

    test("a key carries 60 requests a minute, whatever the plan lets the account do", async () => {
      const account = await openAccount(world, { ...APPLICATION, plan: "max" });
      const first = await passed([account], 61);
      expect(first.passed).toBe(60);
      expect(first.rates.at(-1)).toMatchObject({ limit: 60, remaining: 0 });
      const other = await keyOf(account);
      const second = await passed([other], 61);
      expect(second.passed).toBe(60);
      expect(await verdict(await keyOf(account), NONE)).toBe("rate_limit_exceeded");
    });

    test("the rate limits returned are those of the window that is closest to full", async () => {
      const account = await openAccount(world, { ...APPLICATION, plan: "starter" });
      const { rates } = await passed([account], 1);
      expect(rates).toMatchObject([{ limit: 30, remaining: 29 }]);
    });

    test("nothing but the credits caps the spending of a plan", async () => {
      const account = await openAccount(world, { ...APPLICATION, plan: "pro", paid: "90000" });
      await (await hold(account, usd("90000"))).settle(usd("90000"), DONE);
      expect(await verdict(account, usd("0.000000001"))).toBe("insufficient_credits");
      await expectProven(account);
    });

    test("the first call of a month finds the Free plan's allowance, with no worker", async () => {
      clock.set("2031-03-15T12:00:00.000Z");
      const account = await openAccount(world, APPLICATION);
      const open1 = await hold(account, usd("1"));
      expect(await open1.settle(usd("0.4"), DONE)).toMatchObject({
        charged: usd("0.4"),
        free: usd("0.4"),
        left: usd("0.6"),
      });
      expect(await verdict(account, usd("0.600000001"))).toBe("insufficient_credits");
      expect(await allowances(account)).toEqual([
        {
          number: 1,
          amount: "1000000000",
          month: 203103,
          ends: "2031-04-01 00:00",
        },
      ]);
      await expectProven(account);
    });

    test("the rest of an allowance ends with its month; the next month has a new one", async () => {
      clock.set("2031-12-31T23:59:59.999Z");
      const account = await openAccount(world, APPLICATION);
      await (await hold(account, usd("1"))).settle(usd("0.3"), DONE);
      expect(await balances(account)).toMatchObject({ free: usd("0.7") });
      clock.ms += 1;
      expect(await verdict(account, usd("1.000000001"))).toBe("insufficient_credits");
      expect(await balances(account)).toMatchObject({ free: usd("1") });
      const kinds = (await ledgerOf(world, account)).length;
      await expectProven(account);
      expect(kinds).toBeLessThan((await ledgerOf(world, account)).length);
      expect(await allowances(account)).toMatchObject([{ month: 203112 }, { month: 203201 }]);
    });

    test("credit that a call gives back of an ended allowance is not carried over", async () => {
      clock.set("2031-06-30T23:59:00.000Z");
      const account = await openAccount(world, { ...APPLICATION, paid: "2" });
      await world.store.change(account.row, { plan: "free" }, new Date());
      const long = await hold(account, usd("1.5"));
      const other = await hold(account, usd("0.2"));
      clock.set("2031-07-01T00:00:10.000Z");
      const young = await hold(account, usd("0.5"));
      expect(await long.settle(usd("0.25"), DONE)).toMatchObject({ free: usd("0.25") });
      expect(await balances(account)).toEqual({
        paid: usd("1.8"),
        free: usd("0.5"),
        held: usd("0.7"),
      });
      await expectProven(account);
      await other.release(DONE);
      expect(await young.settle(usd("0.1"), DONE)).toMatchObject({ left: usd("2.9") });
      expect(await balances(account)).toEqual({ paid: usd("2"), free: usd("0.9"), held: NONE });
      await expectProven(account);
    });

    test("a month without calls grants nothing", async () => {
      clock.set("2031-08-10T00:00:00.000Z");
      const account = await openAccount(world, APPLICATION);
      await verdict(account, usd("0.1"));
      clock.set("2031-10-10T00:00:00.000Z");
      await expectSound(world, account);
      await account.actor.evict(0);
      expect(await world.redis.exists(account.actor.keys.wallet)).toBe(0);
      expect(await verdict(account, usd("1"))).toBe("admitted");
      expect(await allowances(account)).toMatchObject([{ month: 203108 }, { month: 203110 }]);
      await expectProven(account);
    });

    test("first calls at the same time on several processes share one allowance", async () => {
      clock.set("2031-11-01T00:00:00.000Z");
      for (let round = 0; round < 5; round++) {
        const account = await openAccount(world, APPLICATION);
        const { id, bucket } = account.row;
        const actors = [
          account.actor,
          world.process().of(id, bucket),
          world.process().of(id, bucket),
        ];
        const admissions = await Promise.all(
          actors.flatMap((actor) =>
            Array.from({ length: 3 }, () => actor.admit(ask(account.keyId, usd("0.3")))),
          ),
        );
        const verdicts = admissions.map(({ verdict }) => verdict);
        expect(verdicts.filter((one) => one === "admitted")).toHaveLength(3);
        expect(await allowances(account)).toHaveLength(1);
        await expectProven(account);
      }
    });

    test("an allowance booked by a process that died is there for the next call", async () => {
      clock.set("2031-11-15T00:00:00.000Z");
      const account = await openAccount(world, APPLICATION);
      await account.actor.state();
      await account.actor.deps.repository.grantAllowance(account.row.id, clock.ms, usd("1"));
      expect(await verdict(account, usd("1"))).toBe("admitted");
      expect(await allowances(account)).toHaveLength(1);
      await expectProven(account);
    });

    test("only the Free plan has an allowance, from the change of plan on", async () => {
      clock.set("2031-11-20T00:00:00.000Z");
      const account = await openAccount(world, { ...APPLICATION, plan: "max" });
      expect(await verdict(account, usd("0.01"))).toBe("insufficient_credits");
      const change = async (plan: PlanName) => {
        await world.store.change(account.row, { plan }, new Date());
        await account.actor.configure();
      };
      await change("free");
      expect(await verdict(account, usd("1"))).toBe("admitted");
      await change("max");
      await change("free");
      expect(await verdict(account, usd("1.1"))).toBe("insufficient_credits");
      expect(await allowances(account)).toHaveLength(1);
      const gateway = await openAccount(world, { createdAt: clock.daysAgo(0) });
      await verdict(gateway, usd("1"));
      expect(await allowances(gateway)).toMatchObject([{ month: null }]);
    });

    test("a suspended account is granted nothing", async () => {
      const account = await openAccount(world, APPLICATION);
      await world.store.change(account.row, { state: "suspended" }, new Date());
      await account.actor.configure();
      expect(await verdict(account, usd("1"))).toBe("account_inactive");
      expect(await allowances(account)).toEqual([]);
    });
  });
