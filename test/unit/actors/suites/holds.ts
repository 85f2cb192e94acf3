// Tests holds: each is resolved exactly once, for at most its amount, whichever process dies or
// sends again.

import { describe, expect, test } from "bun:test";
import { newId } from "../../../../src/core/ids.ts";
import { subtract } from "../../../../src/core/money/money.ts";
import { eventually } from "../../../support/eventually.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import { random } from "../../../support/random.ts";
import { expectSound, ledgerOf, logOf, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  ask,
  balances,
  DONE,
  hold,
  openAccount,
  usd,
  verdict,
  walletOf,
} from "../../../support/stores/world.ts";
import { hasWallet, journalOf } from "./redis-reads.ts";
import type { WorldFactory } from "./world-factory.ts";

const NONE = usd("0");
const LEASE_MS = 60_000;

export const holdSuite = (open: WorldFactory): void =>
  describe("holds", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));
    const account = (paid = "10") =>
      openAccount(world, {
        surface: "application",
        plan: "max",
        createdAt: clock.daysAgo(100),
        paid: paid,
        paidAt: clock.daysAgo(0),
      });

    /** A hold of $4 that the sweep has ended at its checkpoint. */
    const sweptHold = async (mine: Awaited<ReturnType<typeof account>>, checkpoint: string) => {
      const open1 = await hold(mine, usd("4"), { stream: true });
      open1.checkpoint(usd(checkpoint));
      await world.accounts.renewLeases();
      clock.ms += LEASE_MS;
      await sweepOne(world, mine, open1.id);
      return open1;
    };

    test("a cost above the hold is charged as the hold, and recorded as overrun", async () => {
      const mine = await account();
      const open1 = await hold(mine, usd("2"));
      expect(await open1.settle(usd("3"), DONE)).toMatchObject({ charged: usd("2"), free: NONE });
      expect((await journalOf(world, mine)).map(({ overrun }) => overrun)).toContain(usd("1"));
      await expectSound(world, mine);
    });

    test("a hold is settled once, however often a settlement is sent", async () => {
      const mine = await account();
      const open1 = await hold(mine, usd("2"));
      const answers = await Promise.all([
        open1.settle(usd("1"), DONE),
        open1.settle(usd("2"), DONE),
        open1.release(DONE),
      ]);
      expect(answers[1]).toMatchObject({ charged: usd("1"), free: NONE });
      expect(await balances(mine)).toEqual({ paid: usd("9"), free: NONE, held: NONE });
    });

    test("a tentative admission that does not fit is counted, and changes no money", async () => {
      const mine = await account();
      expect(await hasWallet(world, mine)).toBe(false);
      const wallet = await walletOf(mine);
      const journal = await journalOf(world, mine);
      for (let calls = 0; calls < 40; calls++) {
        const tentative = { tentative: true, stream: true };
        const answer = await mine.actor.admit(ask(mine.keyId, usd("11"), tentative));
        expect(answer).toMatchObject({ verdict: "short", funds: { spendable: usd("10") } });
      }
      expect(await walletOf(mine)).toEqual(wallet);
      expect(await journalOf(world, mine)).toEqual(journal);
      // The second try of a call is not counted again.
      const second = await mine.actor.admit(ask(mine.keyId, usd("10"), { counted: true }));
      expect(second).toMatchObject({ verdict: "admitted", rate: { remaining: 20 } });
    });

    test("a tentative admission that took its hold answers so when it is sent again", async () => {
      const mine = await account();
      const call = ask(mine.keyId, usd("6"), { tentative: true });
      expect((await mine.actor.admit(call)).verdict).toBe("admitted");
      expect((await mine.actor.admit(call)).verdict).toBe("admitted");
      expect(await balances(mine)).toEqual({ paid: usd("4"), free: NONE, held: usd("6") });
    });

    test("an admission sent again takes no second hold, even if no balance is left", async () => {
      const mine = await account();
      const call = ask(mine.keyId, usd("10"), { stream: true });
      const answers = await Promise.all([1, 2, 3].map(() => mine.actor.admit(call)));
      expect(answers.map((answer) => answer.verdict)).toEqual(["admitted", "admitted", "admitted"]);
      expect(await balances(mine)).toEqual({ paid: NONE, free: NONE, held: usd("10") });
      expect((await walletOf(mine)).streams).toBe(1);
    });

    test("a refused admission sent again is counted and logged once", async () => {
      const mine = await account();
      const call = ask(mine.keyId, usd("11"));
      const [first, second] = [await mine.actor.admit(call), await mine.actor.admit(call)];
      expect(first).toEqual(second);
      await expectSound(world, mine);
      expect(await logOf(world, mine)).toMatchObject([{ error_code: "insufficient_credits" }]);
    });

    test("the sweep spares a renewed lease and charges a lost one's checkpoint", async () => {
      const mine = await account();
      const open1 = await hold(mine, usd("4"), { stream: true });
      expect(await sweepOne(world, mine, open1.id)).toBe("alive");
      open1.checkpoint(usd("1.5"));
      clock.ms += LEASE_MS - 1;
      await world.accounts.renewLeases();
      open1.checkpoint(usd("3"));
      clock.ms += LEASE_MS - 1;
      expect(await sweepOne(world, mine, open1.id)).toBe("alive");
      clock.ms += 1;
      await sweepOne(world, mine, open1.id);
      expect(await sweepOne(world, mine, open1.id)).toBe("gone");
      expect(await balances(mine)).toEqual({ paid: usd("8.5"), free: NONE, held: NONE });
      expect((await walletOf(mine)).streams).toBe(0);
      await expectSound(world, mine);
      await world.accounts.renewLeases();
      expect(open1.signal.aborted).toBe(true);
    });

    test("an owner that comes back after the sweep pays the rest, on one log row", async () => {
      const mine = await account();
      const open1 = await sweptHold(mine, "1");
      expect(await open1.settle(usd("3"), DONE)).toMatchObject({ charged: usd("3"), free: NONE });
      expect(await balances(mine)).toEqual({ paid: usd("7"), free: NONE, held: NONE });
      await expectSound(world, mine);
      expect(await logOf(world, mine)).toMatchObject([{ cost: usd("3"), status: 200 }]);
      const kinds = (await ledgerOf(world, mine)).map((row) => row.kind);
      expect(kinds).toEqual(["credit", "charge", "late_charge"]);
    });

    for (const [cost, what] of [
      ["3", "takes what is due"],
      ["0.5", "gives back what the sweep took too much"],
    ] as const) {
      test(`a late settlement ${what}, also if the wallet is evicted at that moment`, async () => {
        const mine = await account();
        const open1 = await sweptHold(mine, "1");
        await world.flush();
        const ensureWallet = mine.actor.ensureWallet.bind(mine.actor);
        mine.actor.ensureWallet = async () => {
          mine.actor.ensureWallet = ensureWallet;
          await ensureWallet();
          await mine.actor.evict(0);
          expect(await hasWallet(world, mine)).toBe(false);
        };
        expect(await open1.settle(usd(cost), DONE)).toMatchObject({ charged: usd(cost) });
        const paid = subtract(usd("10"), usd(cost));
        await eventually("it is delivered", async () => (await balances(mine)).paid === paid);
        expect(await balances(mine)).toEqual({ paid, free: NONE, held: NONE });
        await expectSound(world, mine);
      });
    }

    test("a late settlement takes only the available balance, and leaves no debt", async () => {
      const mine = await account();
      const open1 = await hold(mine, usd("4"));
      clock.ms += LEASE_MS;
      await sweepOne(world, mine, open1.id);
      const spender = await hold(mine, usd("9"));
      expect(await open1.settle(usd("3"), DONE)).toMatchObject({ charged: usd("1"), free: NONE });
      await spender.settle(usd("9"), DONE);
      expect(await balances(mine)).toEqual({ paid: NONE, free: NONE, held: NONE });
      await expectSound(world, mine);
      expect((await journalOf(world, mine)).map(({ writtenOff }) => writtenOff)).toContain(
        usd("2"),
      );
    });

    test("a late settlement respects the month, the cap and the budget of its call", async () => {
      clock.set("2031-05-31T23:59:00.000Z");
      const mine = await openAccount(world, {
        createdAt: clock.daysAgo(100),
        paid: "10",
        paidAt: clock.daysAgo(0),
        monthlyLimit: "4",
      });
      const open1 = await hold(mine, usd("4"));
      clock.ms += LEASE_MS;
      await sweepOne(world, mine, open1.id);
      clock.set("2031-05-31T23:59:59.000Z");
      const other = await hold(mine, usd("3"));
      await other.settle(usd("3"), DONE);
      clock.set("2031-06-01T00:00:10.000Z");
      expect(await open1.settle(usd("3"), DONE)).toMatchObject({ charged: usd("1") });
      const { month, key: june } = await mine.actor.view(mine.keyId);
      expect([month, june.monthSpent]).toEqual([203106, NONE]);
      await expectSound(world, mine);
    });

    test("a call whose wallet was rebuilt meanwhile is written off, and logged", async () => {
      const mine = await account();
      const open1 = await hold(mine, usd("4"), { stream: true });
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      await mine.actor.state();
      await world.accounts.renewLeases();
      expect(open1.signal.aborted).toBe(true);
      expect(await open1.settle(usd("3"), DONE)).toMatchObject({ charged: NONE, free: NONE });
      expect(await balances(mine)).toEqual({ paid: usd("10"), free: NONE, held: NONE });
      expect((await walletOf(mine)).streams).toBe(0);
      await expectSound(world, mine);
      expect(await logOf(world, mine)).toMatchObject([{ cost: 0n, status: 200 }]);
    });

    test("one account's calls neither see nor touch another's money", async () => {
      const mine = await account();
      // Holds of a bucket are named by their requests, whose ids are normally unique; this id is
      // used twice.
      let other = await account();
      while (other.row.bucket === mine.row.bucket) other = await account();
      const requestId = newId("request", random);
      const open1 = await hold(mine, usd("6"), { requestId });
      const foreign = await hold(other, usd("1"), { requestId });
      await open1.settle(usd("6"), DONE);
      expect(await balances(other)).toEqual({ paid: usd("9"), free: NONE, held: usd("1") });
      await foreign.release(DONE);
      expect(await verdict(other, usd("10"))).toBe("admitted");
      const stolen = await other.actor.admit(ask(mine.keyId, usd("1"))).catch((error) => error);
      expect(stolen.code).toBe("invalid_api_key");
    });
  });
