// Tests processes that stop, pause and come back: the end of their holds, and how they learn of it.

import { describe, expect, test } from "bun:test";
import { renewDetached, settleDetached } from "../../../../actors/detached-hold.ts";
import { bucketKeys, holdsKey } from "../../../../actors/records/keys.ts";
import { forgetOwner } from "../../../../actors/scripts/lease-scripts.ts";
import { LEASE_MS } from "../../../../src/core/access/limits.ts";
import { type NanoUsd, subtract } from "../../../../src/core/money/money.ts";
import { sweepExpired } from "../../../../workers/sweep.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  type ActorProcess,
  openProcess,
  TestClock,
  tapScripts,
} from "../../../support/product/actor-process.ts";
import {
  type AccountTerms,
  createTestKey,
  type TestAccount,
} from "../../../support/stores/accounts.ts";
import { expectSound, logOf } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  accountIn,
  ask,
  balances,
  DONE,
  hold,
  openAccount,
  usd,
  walletOf,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

const NONE = usd("0");
/** A process compares its holds with Redis every minute: in every twelfth renewal. */
const ROUNDS_A_MINUTE = 12;
/** More than the sweep reads at once. */
const MANY = 450;

export const processSuite = (open: WorldFactory): void =>
  describe("processes that come and go", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));
    const second = () => openProcess(world, clock.options);
    const account = (more: AccountTerms = {}) =>
      openAccount(world, {
        surface: "application",
        plan: "max",
        createdAt: clock.daysAgo(100),
        paid: "10",
        paidAt: clock.daysAgo(0),
        ...more,
      });
    const of = ({ accounts }: ActorProcess, mine: TestAccount) => accountIn(accounts, mine);
    const sweep = () =>
      sweepExpired({ scripts: world.accounts.scripts, scriptTime: () => clock.ms });
    const leaseOf = (mine: TestAccount, { accounts }: ActorProcess) =>
      world.redis.hget(bucketKeys(mine.row.bucket).leases, accounts.leases.owner);

    test("a paused process learns from its renewal which holds are gone", async () => {
      await using other = second();
      const mine = await account();
      const stream = await hold(of(other, mine), usd("4"), { stream: true });
      const plain = await hold(of(other, mine), usd("2"));
      stream.checkpoint(usd("1"));
      await other.accounts.renewLeases();
      clock.ms += LEASE_MS;
      await sweep();
      expect(await balances(mine)).toEqual({ paid: usd("9"), free: NONE, held: NONE });
      await other.accounts.renewLeases();
      expect([stream.signal.aborted, plain.signal.aborted]).toEqual([true, true]);
      expect(await stream.settle(usd("3"), DONE)).toMatchObject({ charged: usd("3") });
      expect(await plain.settle(usd("2"), DONE)).toMatchObject({ charged: usd("2") });
      await expectSound(world, mine);
      expect((await logOf(world, mine)).map(({ cost }) => cost).sort()).toEqual([
        usd("2"),
        usd("3"),
      ]);
    });

    test("the costs of all streams of a bucket are stored together when asked for", async () => {
      await using other = second();
      const mine = await account();
      const costs = [usd("1"), usd("2"), usd("3")];
      const streams = await Promise.all(
        costs.map(() => hold(of(other, mine), usd("3"), { stream: true })),
      );
      let scripts = 0;
      tapScripts(other.redis, (send) => {
        scripts += 1;
        return send();
      });
      for (const [at, stream] of streams.entries()) {
        const once = [Promise.resolve(costs[at] ?? NONE)];
        stream.measure({ costSoFar: () => once.pop() ?? null });
      }
      await other.accounts.leases.saveCosts();
      expect(scripts).toBeLessThanOrEqual(2);
      await other.accounts.leases.saveCosts();
      expect(scripts).toBeLessThanOrEqual(2);
      clock.ms += LEASE_MS;
      await sweep();
      expect(await balances(mine)).toEqual({ paid: usd("4"), free: NONE, held: NONE });
      await Promise.all(streams.map((stream) => stream.release(DONE)));
    });

    test("a process that serves asks the streams of each bucket for their costs", async () => {
      await using other = second();
      const mine = await Promise.all(Array.from({ length: 12 }, () => account()));
      const streams = await Promise.all(
        mine.map((one) => hold(of(other, one), usd("4"), { stream: true })),
      );
      const asked = new Set<string>();
      for (const stream of streams) {
        stream.measure({
          costSoFar: () => {
            asked.add(stream.id);
            return null;
          },
        });
      }
      other.accounts.start();
      // Whose turn it is follows the clock, and the timer only looks.
      clock.ms += 1_000;
      try {
        await eventually("every stream was asked", () => asked.size === streams.length);
      } finally {
        await other.accounts.stop();
      }
      await Promise.all(streams.map((stream) => stream.release(DONE)));
    });

    test("a count that comes after the settlement does not change it", async () => {
      await using other = second();
      const mine = await account();
      const stream = await hold(of(other, mine), usd("4"), { stream: true });
      const counted = Promise.withResolvers<NanoUsd>();
      stream.measure({ costSoFar: () => counted.promise });
      const saving = other.accounts.leases.saveCosts();
      expect(await stream.settle(usd("3"), DONE)).toMatchObject({ charged: usd("3") });
      counted.resolve(usd("1"));
      await saving;
      expect(await balances(mine)).toEqual({ paid: usd("7"), free: NONE, held: NONE });
      await expectSound(world, mine);
    });

    test("a stream that was swept ends although its process has a new lease already", async () => {
      await using other = second();
      const mine = await account();
      const swept = await hold(of(other, mine), usd("4"), { stream: true });
      clock.ms += LEASE_MS;
      await sweep();
      const fresh = await hold(of(other, mine), usd("1"), { stream: true });
      await other.accounts.renewLeases();
      expect([swept.signal.aborted, fresh.signal.aborted]).toEqual([true, false]);
      await fresh.release(DONE);
      await swept.release(DONE);
      await expectSound(world, mine);
    });

    test("a lease begins with the first hold and goes only with the last one", async () => {
      await using other = second();
      const mine = await account();
      expect(await leaseOf(mine, other)).toBeNull();
      const open1 = await hold(of(other, mine), usd("4"));
      expect(Number(await leaseOf(mine, other))).toBe(clock.ms + LEASE_MS);
      clock.ms += LEASE_MS;
      const owner = other.accounts.leases.owner;
      const forgetting = { nowMs: clock.ms, keys: bucketKeys(mine.row.bucket), owner };
      expect(await world.accounts.scripts.run(forgetOwner, forgetting)).toBe("kept");
      expect(await leaseOf(mine, other)).not.toBeNull();
      await sweep();
      expect(await leaseOf(mine, other)).toBeNull();
      expect(await balances(mine)).toEqual({ paid: usd("10"), free: NONE, held: NONE });
      await open1.release(DONE);
    });

    test("a hold has a lease even if Redis lost the lease that the process knew", async () => {
      await using other = second();
      const mine = await account();
      const open1 = await hold(of(other, mine), usd("1"));
      const { bucket, leases } = bucketKeys(mine.row.bucket);
      await world.redis.del(bucket, leases);
      const open2 = await hold(of(other, mine), usd("1"));
      expect(Number(await leaseOf(mine, other))).toBe(clock.ms + LEASE_MS);
      await open1.release(DONE);
      await open2.release(DONE);
    });

    test("an admission renews a lease that is half over", async () => {
      await using other = second();
      const mine = await account();
      const began = clock.ms;
      const open1 = await hold(of(other, mine), usd("1"));
      clock.ms += LEASE_MS / 2;
      const open2 = await hold(of(other, mine), usd("1"));
      expect(Number(await leaseOf(mine, other))).toBe(began + LEASE_MS);
      clock.ms += 1;
      const open3 = await hold(of(other, mine), usd("1"));
      expect(Number(await leaseOf(mine, other))).toBe(clock.ms + LEASE_MS);
      for (const open of [open1, open2, open3]) await open.release(DONE);
    });

    test("a forgotten process has a lease again, also after the clock went back", async () => {
      await using other = second();
      const mine = await account();
      await (await hold(of(other, mine), usd("1"))).release(DONE);
      for (let round = 0; round < ROUNDS_A_MINUTE; round++) await other.accounts.renewLeases();
      clock.ms += LEASE_MS;
      await sweep();
      expect(await leaseOf(mine, other)).toBeNull();
      clock.ms -= LEASE_MS;
      const open1 = await hold(of(other, mine), usd("1"));
      expect(Number(await leaseOf(mine, other))).toBe(clock.ms + LEASE_MS);
      await open1.release(DONE);
      await expectSound(world, mine);
    });

    test("a process whose lease lives keeps every hold, however old it is", async () => {
      await using other = second();
      const mine = await account();
      const open1 = await hold(of(other, mine), usd("4"));
      for (let round = 0; round < 5; round++) {
        clock.ms += LEASE_MS - 1;
        await other.accounts.renewLeases();
        expect((await sweep()).expired).toBe(0);
      }
      expect((await balances(mine)).held).toBe(usd("4"));
      await open1.release(DONE);
    });

    test("an admission that is sent again when its call has ended takes nothing", async () => {
      await using other = second();
      const mine = await account();
      const sent: (() => Promise<unknown>)[] = [];
      tapScripts(other.redis, (send) => {
        sent.push(send);
        return send();
      });
      const open1 = await hold(of(other, mine), usd("4"));
      const admission = sent.at(-1);
      await open1.settle(usd("1"), DONE);
      // A reconnected client sends unanswered commands again; this call is over by now.
      await expect(admission?.()).rejects.toThrow("ENDED");
      const kept = await hold(of(other, mine), usd("2"));
      expect(await balances(mine)).toEqual({ paid: usd("7"), free: NONE, held: usd("2") });
      expect((await walletOf(mine)).calls).toBe(1);
      await kept.release(DONE);
      await expectSound(world, mine);
    });

    for (const [bound, verdict] of [
      ["4", "admitted"],
      ["6", "refused"],
    ] as const) {
      test(`an admission sent again after a rebuild is ${verdict} by the new wallet`, async () => {
        const taken = { amount: usd("-5"), reason: "taken meanwhile" };
        await using other = second();
        const mine = await account();
        await (await hold(of(other, mine), usd("1"))).release(DONE);
        let isLost = true;
        tapScripts(other.redis, async (send) => {
          const reply = await send();
          if (!isLost) return reply;
          isLost = false;
          await world.store.adjust(mine.row, { kind: "adjustment", reference: null, ...taken });
          await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
          return await send();
        });
        const admission = await of(other, mine).actor.admit(ask(mine.keyId, usd(bound)));
        expect(admission.verdict).toBe(verdict);
        const held = verdict === "admitted" ? usd(bound) : NONE;
        expect(await balances(mine)).toEqual({ paid: subtract(usd("5"), held), free: NONE, held });
        if (admission.verdict === "admitted") {
          expect(await admission.hold.settle(usd("3"), DONE)).toMatchObject({ charged: usd("3") });
        }
        await expectSound(world, mine);
      });
    }

    test("replies of settled calls are removed after some rounds, open holds stay", async () => {
      await using other = second();
      const mine = await account();
      const open1 = await hold(of(other, mine), usd("4"));
      const ended = await hold(of(other, mine), usd("1"));
      await ended.settle(usd("1"), DONE);
      const left = () => world.redis.hkeys(holdsKey(mine.row.bucket, other.accounts.leases.owner));
      const rounds: number[] = [];
      for (let round = 0; round < ROUNDS_A_MINUTE; round++) {
        rounds.push((await left()).length);
        await other.accounts.renewLeases();
      }
      expect(rounds.slice(0, 6)).toEqual([2, 2, 2, 2, 1, 1]);
      expect(await left()).toEqual([open1.id]);
      expect(await balances(mine)).toEqual({ paid: usd("5"), free: NONE, held: usd("4") });
      await open1.release(DONE);
      await expectSound(world, mine);
    });

    test("a settlement whose reply is lost is logged once, even after its lease", async () => {
      await using other = second();
      const mine = await account();
      let losesReply = false;
      tapScripts(other.redis, async (send) => {
        const reply = await send();
        if (!losesReply) return reply;
        losesReply = false;
        throw new Error("Connection is closed.");
      });
      const open1 = await hold(of(other, mine), usd("4"));
      losesReply = true;
      await open1.settle(usd("1"), DONE);
      clock.ms += LEASE_MS;
      expect((await sweep()).expired).toBe(0);
      const owned = holdsKey(mine.row.bucket, other.accounts.leases.owner);
      expect(await world.redis.exists(owned)).toBe(0);
      await eventually("it was sent again", async () => other.accounts.openCalls === 0);
      expect(await balances(mine)).toEqual({ paid: usd("9"), free: NONE, held: NONE });
      await expectSound(world, mine);
      expect((await logOf(world, mine)).map(({ cost }) => cost)).toEqual([usd("1")]);
    });

    test("a call whose settlement was given up pays its last checkpoint", async () => {
      await using other = second();
      const mine = await account();
      const stream = await hold(of(other, mine), usd("4"), { stream: true });
      stream.checkpoint(usd("3"));
      await other.accounts.renewLeases();
      // As after ten minutes in which no settlement reached Redis.
      other.accounts.leases.closed(mine.row.bucket, stream.id);
      for (let round = 0; round < ROUNDS_A_MINUTE; round++) await other.accounts.renewLeases();
      expect(await balances(mine)).toEqual({ paid: usd("7"), free: NONE, held: NONE });
      await expectSound(world, mine);
    });

    test("streams of a revoked key end at the first renewal after, others go on", async () => {
      await using other = second();
      const [mine, neighbour] = [await account(), await account()];
      const key = await createTestKey(world.store, mine.row);
      await mine.actor.configure();
      const ending = await hold(of(other, mine), usd("1"), { stream: true });
      const going = await hold({ ...of(other, mine), keyId: key.id }, usd("1"), { stream: true });
      const elsewhere = await hold(of(other, neighbour), usd("1"), { stream: true });
      // The process has read the documents before: only the count of changes shows the new one.
      await other.accounts.renewLeases();
      await world.store.revokeKey(mine.keyId, new Date());
      await mine.actor.configure();
      await other.accounts.renewLeases();
      const aborted = [ending, going, elsewhere].map(({ signal }) => signal.aborted);
      expect(aborted).toEqual([true, false, false]);
      await world.store.change(mine.row, { state: "suspended" }, new Date());
      await mine.actor.configure();
      await other.accounts.renewLeases();
      expect([going.signal.aborted, elsewhere.signal.aborted]).toEqual([true, false]);
      for (const one of [ending, going, elsewhere]) await one.release(DONE);
      await expectSound(world, mine);
    });

    test("the sweep resolves more holds of a dead process than one page has", async () => {
      await using other = second();
      const mine = await account({ surface: "gateway", contract: "enterprise" });
      await Promise.all(Array.from({ length: MANY }, () => hold(of(other, mine), usd("0.01"))));
      const { calls, streams } = await walletOf(mine);
      expect([calls, streams]).toEqual([MANY, 0]);
      clock.ms += LEASE_MS;
      expect((await sweep()).expired).toBe(MANY);
      const { bucket } = mine.row;
      expect(await world.redis.exists(holdsKey(bucket, other.accounts.leases.owner))).toBe(0);
      expect(await walletOf(mine)).toMatchObject({ calls: 0, heldPaid: NONE, heldFree: NONE });
      await expectSound(world, mine);
    });

    test("a detached hold lives by its own deadline", async () => {
      await using other = second();
      const mine = await account();
      const open1 = await hold(of(other, mine), usd("4"), { isDetached: true });
      open1.detach();
      expect(await leaseOf(mine, other)).toBeNull();
      clock.ms += LEASE_MS - 1;
      await renewDetached(mine.actor, [open1.id]);
      clock.ms += LEASE_MS;
      expect((await sweep()).expired).toBe(0);
      const settled = await settleDetached(mine.actor, open1.detached, {
        cost: usd("3"),
        outcome: DONE,
      });
      expect(settled).toMatchObject({ charged: usd("3") });
      const left = await hold(of(other, mine), usd("4"), { isDetached: true });
      left.detach();
      clock.ms += LEASE_MS;
      expect((await sweep()).expired).toBe(1);
      expect(await balances(mine)).toEqual({ paid: usd("7"), free: NONE, held: NONE });
      await expectSound(world, mine);
    });

    test("waiting mail takes none of the open calls, and keeps its wallet here", async () => {
      const mine = await account();
      const waiting = await hold(mine, usd("4"), { isDetached: true });
      waiting.detach();
      expect(await walletOf(mine)).toMatchObject({ calls: 0, heldPaid: usd("4") });
      const open1 = await hold(mine, usd("1"));
      expect((await walletOf(mine)).calls).toBe(1);
      await open1.release(DONE);
      await settleDetached(mine.actor, waiting.detached, { cost: usd("1"), outcome: DONE });
      expect(await walletOf(mine)).toMatchObject({ calls: 0, heldPaid: NONE });
      await expectSound(world, mine);
    });

    test("a detached hold cannot be of nothing", async () => {
      const mine = await account();
      const asked = hold(mine, NONE, { isDetached: true });
      await expect(asked).rejects.toThrow("would hold nothing");
      expect(await balances(mine)).toMatchObject({ held: NONE });
    });

    test("a hold of an older epoch gives back nothing that the wallet never gave up", async () => {
      await using other = second();
      const mine = await account({ monthlyLimit: "5" });
      const before = await hold(of(other, mine), usd("4"), { stream: true });
      const abandoned = await hold(of(other, mine), usd("1"), { stream: true });
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await balances(mine)).toEqual({ paid: usd("10"), free: NONE, held: NONE });
      // Amounts that the key held in the older epoch no longer count either.
      const whole = await hold(mine, usd("5"));
      await before.release(DONE);
      clock.ms += LEASE_MS;
      await world.accounts.renewLeases();
      await sweep();
      expect(await balances(mine)).toEqual({ paid: usd("5"), free: NONE, held: usd("5") });
      expect(await walletOf(mine)).toMatchObject({ calls: 1, streams: 0 });
      await whole.settle(usd("5"), DONE);
      await abandoned.release(DONE);
      await expectSound(world, mine);
    });
  });
