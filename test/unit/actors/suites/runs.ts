// Tests runs: one budget over calls of all services and keys, exact with open holds, across
// processes, pauses and a rebuild.

import { describe, expect, test } from "bun:test";
import { parseBucket } from "../../../../actors/records/records.ts";
import { changeOwnRun, type RunDeps, runUses } from "../../../../src/accounts/runs.ts";
import { type NamedRun, OPEN_RUNS_MAX } from "../../../../src/core/access/runs.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/core/durations.ts";
import { shouldRetry } from "../../../../src/http/respond.ts";
import { findRun, type RunChange } from "../../../../src/store/accounts/runs.ts";
import { KeptRunSums } from "../../../../src/store/usage/kept-run-sums.ts";
import { deleteOldRuns, forgetEndedRuns } from "../../../../workers/eviction.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import {
  type AccountTerms,
  createTestKey,
  type TestAccount,
} from "../../../support/stores/accounts.ts";
import { expectSound, sweepOne } from "../../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import {
  holdIn,
  holdsIn,
  messageIn,
  refusalIn,
  verdictIn,
} from "../../../support/stores/verdicts.ts";
import { accountIn, ask, DONE, openAccount, usd } from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

export const runSuite = (open: WorldFactory): void =>
  describe("runs", () => {
    const clock = new TestClock("2031-03-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));

    const account = (more: AccountTerms = {}) => openAccount(world, { ...clock.aged, ...more });
    const deps = (): RunDeps => ({
      database: world.database,
      actors: world.accounts,
      sums: new KeptRunSums(world.database, () => clock.ms),
      onDelayed: (_, error) => {
        throw error;
      },
    });
    const named = (max: string | null, more: Partial<NamedRun> = {}): NamedRun => ({
      id: "nightly",
      step: null,
      max: max === null ? null : usd(max),
      seconds: 3_600,
      ...more,
    });
    const admit = (mine: TestAccount, amount: string, run = named("3")) =>
      mine.actor.admit(ask(mine.keyId, usd(amount), { run }));
    const hold = async (...asked: Parameters<typeof admit>) => holdIn(await admit(...asked));
    const verdict = async (...asked: Parameters<typeof admit>) => verdictIn(await admit(...asked));
    const change = (mine: TestAccount, wanted: RunChange, run = "nightly") =>
      changeOwnRun(deps(), mine.row, { run, change: wanted });
    const readUse = async (mine: TestAccount, id = "nightly") => {
      const run = await findRun(world.database.db, mine.row.number, id);
      const [use] = run === null ? [] : await runUses(deps(), mine.row, [run]);
      return use;
    };

    const forgetEnded = () => {
      const { database, accounts } = world;
      return forgetEndedRuns({
        database,
        scripts: accounts.scripts,
        now: () => clock.ms,
        log: silent,
      });
    };

    test("a run binds to the nano, and held amounts count", async () => {
      const mine = await account();
      const first = await hold(mine, "2");
      expect(await verdict(mine, "1.000000001")).toBe("run_budget_exceeded");
      const second = await hold(mine, "1");
      expect(await verdict(mine, "0.000000001")).toBe("run_budget_exceeded");
      expect(await verdict(mine, "0")).toBe("admitted");
      await first.settle(usd("0.5"), DONE);
      await second.release(DONE);
      expect(await verdict(mine, "2.500000001")).toBe("run_budget_exceeded");
      await (await hold(mine, "2.5")).settle(usd("2.5"), DONE);
      expect(await readUse(mine)).toMatchObject({ spent: usd("3"), held: 0n, left: 0n });
      await expectSound(world, mine);
    });

    test("200 parallel calls of two keys and processes pass as often as a run allows", async () => {
      const mine = await account({ contract: "enterprise" });
      const other = await createTestKey(world.store, mine.row);
      await mine.actor.configure();
      const actors = [mine.actor, accountIn(world.process(), mine).actor];
      const keys = [mine.keyId, other.id];
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          actors[index % 2]?.admit(
            ask(keys[(index >> 1) % 2] ?? "", usd("0.25"), { run: named("3") }),
          ),
        ),
      );
      const admitted = holdsIn(answers);
      expect(admitted).toHaveLength(12);
      await Promise.all(admitted.map((call) => call.settle(usd("0.2"), DONE)));
      expect(await readUse(mine)).toMatchObject({ spent: usd("2.4"), held: 0n, left: usd("0.6") });
      await expectSound(world, mine);
    });

    test("a refused call begins no run", async () => {
      const mine = await account({ paid: "1", keyBudgets: { total: "0.5" } });
      expect(await verdict(mine, "2")).toBe("key_budget_exceeded");
      expect(await verdict(mine, "0.4", named("0.3"))).toBe("run_budget_exceeded");
      const tentative = ask(mine.keyId, usd("0.4"), { run: named("0.3"), tentative: true });
      expect(await mine.actor.admit(tentative)).toMatchObject({
        verdict: "short",
        funds: { spendable: usd("0.3") },
      });
      expect(await readUse(mine)).toBeUndefined();
      expect(await verdict(mine, "0")).toBe("admitted");
      expect(await readUse(mine)).toMatchObject({ amount: usd("3"), held: 0n });
      await hold(mine, "0.5");
      expect(await readUse(mine)).toMatchObject({ held: usd("0.5") });
      await expectSound(world, mine);
    });

    test("many runs that begin at once all begin, and each counts its own call", async () => {
      const mine = await account({ contract: "enterprise" });
      const ids = Array.from({ length: 40 }, (_, at) => `parallel-${at}`);
      await Promise.all(ids.map((id) => hold(mine, "0.25", named("1", { id }))));
      const uses = await Promise.all(ids.map((id) => readUse(mine, id)));
      expect(uses.map((use) => use?.held)).toEqual(ids.map(() => usd("0.25")));
    });

    test("a run's calls count in the budgets of key and account too, all or none", async () => {
      const mine = await account({ budgets: { day: "2" }, keyBudgets: { total: "9" } });
      await hold(mine, "1.5");
      expect(await verdict(mine, "0.6")).toBe("account_budget_exceeded");
      expect(await readUse(mine)).toMatchObject({ held: usd("1.5") });
      expect((await mine.actor.view(mine.keyId)).budgets.map(({ held }) => held)).toEqual([
        usd("1.5"),
        usd("1.5"),
      ]);
    });

    test("the first call fixes amount and time; later ones may leave them out", async () => {
      const mine = await account();
      expect(await verdict(mine, "1", named(null))).toBe("invalid_parameter");
      await hold(mine, "1", named("2"));
      expect(await verdict(mine, "1.5", named("9"))).toBe("run_budget_exceeded");
      expect(await verdict(mine, "1", named(null))).toBe("admitted");
      expect(await readUse(mine)).toMatchObject({ amount: usd("2"), held: usd("2") });
    });

    test("a refusal names the rest of the run", async () => {
      const mine = await account();
      await (await hold(mine, "1")).settle(usd("0.75"), DONE);
      expect(messageIn(await admit(mine, "2.5"))).toBe(
        "The call may cost up to $2.5; the budget of the run nightly has $2.25 left, and does " +
          "not renew",
      );
    });

    test("a paused run refuses calls in every process; resumed, it takes them again", async () => {
      const mine = await account();
      const elsewhere = accountIn(world.process(), mine);
      const under = await hold(mine, "1");
      await hold(elsewhere, "1");
      await change(mine, { isPaused: true });
      expect(await verdict(elsewhere, "0.1")).toBe("run_paused");
      expect(await verdict(mine, "0.1")).toBe("run_paused");
      expect(await verdict(mine, "0.1", named("3", { id: "another" }))).toBe("admitted");
      // A call under way goes on.
      expect(await under.settle(usd("0.5"), DONE)).toMatchObject({ charged: usd("0.5") });
      await change(mine, { isPaused: false });
      expect(await verdict(elsewhere, "1.5")).toBe("admitted");
    });

    test("a raised run takes the call that it refused, and keeps its count", async () => {
      const mine = await account();
      await (await hold(mine, "3")).settle(usd("3"), DONE);
      expect(await verdict(mine, "0.5")).toBe("run_budget_exceeded");
      await change(mine, { amount: usd("3.5") });
      await (await hold(mine, "0.5")).settle(usd("0.5"), DONE);
      expect(await readUse(mine)).toMatchObject({ spent: usd("3.5"), left: 0n });
      await change(mine, { amount: usd("1") });
      expect(await verdict(mine, "0.1")).toBe("run_budget_exceeded");
      expect(await readUse(mine)).toMatchObject({ spent: usd("3.5"), left: 0n });
      await expectSound(world, mine);
    });

    test("a run ends on time, keeps its count, and goes on with more time", async () => {
      const mine = await account();
      await (await hold(mine, "2")).settle(usd("2"), DONE);
      clock.ms += HOUR_MS - 1;
      expect(await verdict(mine, "0.1")).toBe("admitted");
      clock.ms += 1;
      expect(await verdict(mine, "0.1")).toBe("run_ended");
      await change(mine, { seconds: 60 });
      expect(await verdict(mine, "1.5")).toBe("run_budget_exceeded");
      expect(await verdict(mine, "0.5")).toBe("admitted");
    });

    test("a run gets more time by Redis's clock, whatever that of the process says", async () => {
      const mine = await account();
      await hold(mine, "1");
      const { row, keyId } = mine;
      const now = () => clock.ms + DAY_MS;
      const actors = world.process({ now });
      await actors.of(row.id, row.bucket).view(keyId);
      const asked = { run: "nightly", change: { seconds: 60 } };
      const { run } = await changeOwnRun({ ...deps(), actors }, row, asked);
      expect(run.endsAtMs).toBe(clock.ms + MINUTE_MS);
      expect(await runUses({ actors }, row, [run])).toMatchObject([{ state: "active" }]);
    });

    test("a rebuild restores a run to the last flushed entry", async () => {
      const mine = await account();
      await (await hold(mine, "2")).settle(usd("1.25"), DONE);
      await world.flush();
      await (await hold(mine, "0.5")).settle(usd("0.5"), DONE);
      await hold(mine, "0.25");
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await readUse(mine)).toMatchObject({
        spent: usd("1.25"),
        held: 0n,
        left: usd("1.75"),
      });
      expect(await verdict(mine, "1.750000001")).toBe("run_budget_exceeded");
      expect(await verdict(mine, "1.75")).toBe("admitted");
      await expectSound(world, mine);
    });

    test("a call whose process died counts in its run, also settled late", async () => {
      const mine = await account();
      const ref = ask(mine.keyId, usd("2"), { run: named("3"), stream: true });
      const lost = holdIn(await mine.actor.admit(ref));
      lost.checkpoint(usd("0.5"));
      await world.accounts.leases.renew();
      clock.ms += 90_000;
      await sweepOne(world, { ...mine, hasBudgets: true }, lost.id);
      expect(await readUse(mine)).toMatchObject({ spent: usd("0.5"), held: 0n });
      await (await hold(mine, "2")).settle(usd("2"), DONE);
      expect(await lost.settle(usd("1.9"), DONE)).toMatchObject({ charged: usd("1") });
      expect(await readUse(mine)).toMatchObject({ spent: usd("3"), held: 0n, left: 0n });
      await expectSound(world, mine);
    });

    test("Redis forgets a run after its end, once the ledger has all of it", async () => {
      const mine = await account();
      const open = await hold(mine, "1");
      await (await hold(mine, "1")).settle(usd("0.75"), DONE);
      const forget = async () => {
        await forgetEnded();
        const run = await findRun(world.database.db, mine.row.number, "nightly");
        const isKept = await world.redis.hexists(mine.actor.keys.budgets, `${run?.number}`);
        return { isKept: isKept === 1, isForgotten: run?.forgottenAt !== null };
      };
      expect(await forget()).toEqual({ isKept: true, isForgotten: false });
      clock.ms += HOUR_MS + MINUTE_MS + 1;
      await world.flush();
      expect(await forget()).toEqual({ isKept: true, isForgotten: false });
      await open.settle(usd("0.5"), DONE);
      expect(await forget()).toEqual({ isKept: true, isForgotten: false });
      await world.flush();
      expect(await forget()).toEqual({ isKept: false, isForgotten: true });
      expect(await readUse(mine)).toMatchObject({ state: "ended", spent: usd("1.25") });
      await change(mine, { seconds: 60 });
      expect(await verdict(mine, "1.750000001")).toBe("run_budget_exceeded");
      expect(await verdict(mine, "1.75")).toBe("admitted");
      await expectSound(world, mine);
    });

    test("runs that end at once are forgotten together, and evict nothing", async () => {
      const mine = await account();
      const ids = Array.from({ length: 10 }, (_, n) => `many-${n}`);
      for (const id of ids) {
        await (await hold(mine, "0.1", named("1", { id }))).settle(usd("0.1"), DONE);
      }
      const open = await hold(mine, "0.1", named("1", { id: "many-7" }));
      clock.ms += HOUR_MS + MINUTE_MS + 1;
      await world.flush();
      const evictions = async () => {
        const bytes = await world.redis.getBuffer(mine.actor.keys.bucket);
        return bytes === null ? null : parseBucket(bytes).evictions;
      };
      const before = await evictions();
      await forgetEnded();
      expect(await evictions()).toBe(before);
      expect(await world.redis.get(mine.actor.keys.forgotten)).toBe("1");
      const runs = await Promise.all(
        ids.map((id) => findRun(world.database.db, mine.row.number, id)),
      );
      const kept = runs.filter((run) => run?.forgottenAt === null);
      expect(kept.map((run) => run?.id)).toEqual(["many-7"]);
      expect(await world.redis.hkeys(mine.actor.keys.budgets)).toEqual([`${kept[0]?.number}`]);
      await open.release(DONE);
      await world.flush();
      expect(await forgetEnded()).toBe(1);
      await expectSound(world, mine);
    });

    test("a run is deleted days after its end, its charges stay, and its id is free", async () => {
      const mine = await account();
      const { database } = world;
      await (await hold(mine, "2")).settle(usd("2"), DONE);
      await hold(mine, "1", named("3", { id: "still-held" }));
      clock.ms += HOUR_MS + 2 * MINUTE_MS;
      expect(await verdict(mine, "0.1")).toBe("run_ended");
      await world.flush();
      await forgetEnded();
      const ended = await findRun(database.db, mine.row.number, "nightly");
      const remove = () => deleteOldRuns({ database, keepDays: 1, now: () => clock.ms });
      const present = async () => {
        const rows = await database.sql`
          SELECT id FROM runs WHERE account = ${mine.row.number} ORDER BY id`;
        return rows.map(({ id }) => id);
      };
      clock.ms = (ended?.endsAtMs ?? 0) + DAY_MS;
      await remove();
      expect(await present()).toEqual(["nightly", "still-held"]);
      clock.ms += 1;
      await remove();
      expect(await present()).toEqual(["still-held"]);
      await expectSound(world, mine);
      // The process knew the ended run; the one that begins now counts from zero.
      expect(await verdict(mine, "3")).toBe("admitted");
      expect(await readUse(mine)).toMatchObject({ held: usd("3"), spent: 0n });
    });

    test("an account has a bound of open runs; an ended one makes room", async () => {
      const mine = await account();
      await hold(mine, "1");
      await world.database.sql`
        INSERT INTO runs (account, id, key, amount, created_at, ends_at)
        SELECT account, 'run-' || n, key, amount, created_at, ends_at
        FROM runs, generate_series(2, ${OPEN_RUNS_MAX}) AS n
        WHERE account = ${mine.row.number}`;
      const quoted = await mine.actor.quote(
        ask(mine.keyId, usd("1"), { run: named("1", { id: "next" }) }),
      );
      expect(quoted.refusal?.code).toBe("too_many_budgets");
      const decision = await admit(mine, "1", named("1", { id: "next" }));
      expect(shouldRetry(refusalIn(decision).error)).toBe(false);
      expect(verdictIn(decision)).toBe("too_many_budgets");
      expect(await verdict(mine, "1")).toBe("admitted");
      await world.database.sql`
        UPDATE runs SET ends_at = ${new Date(clock.ms).toISOString()}
        WHERE account = ${mine.row.number} AND id = 'run-2'`;
      // Until then the process remembers that the account had no room.
      clock.ms += SECOND_MS;
      expect(await verdict(mine, "1", named("1", { id: "next" }))).toBe("admitted");
    });

    test("a quote of a run that has not begun names the smallest budget", async () => {
      const mine = await account({ keyBudgets: { total: "2" } });
      const { refusal, spendable } = await mine.actor.quote(
        ask(mine.keyId, usd("4"), { run: named("3") }),
      );
      expect([refusal?.code, spendable]).toEqual(["key_budget_exceeded", usd("2")]);
    });

    test("a quote begins no run, and is decided by the amount that it names", async () => {
      const mine = await account();
      const quote = async (amount: string, run = named("3")) => {
        const { refusal } = await mine.actor.quote(ask(mine.keyId, usd(amount), { run }));
        return refusal?.code ?? null;
      };
      expect(await quote("3")).toBeNull();
      expect(await quote("3.1")).toBe("run_budget_exceeded");
      const spendable = async (amount: string) =>
        (await mine.actor.quote(ask(mine.keyId, usd(amount), { run: named("3") }))).spendable;
      expect([await spendable("1"), await spendable("3.1")]).toEqual([usd("3"), usd("3")]);
      expect(await readUse(mine)).toBeUndefined();
      await hold(mine, "2");
      expect(await quote("1.1")).toBe("run_budget_exceeded");
    });
  });
