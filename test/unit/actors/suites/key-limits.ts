// Tests the limits of keys in force: at once in all processes, to the millisecond, after a rebuild.

import { describe, expect, test } from "bun:test";
import type { KeyChange } from "../../../../src/core/access/key-limits.ts";
import { changeKey } from "../../../../src/store/accounts/account-keys.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import type { AccountTerms, TestAccount } from "../../../support/stores/accounts.ts";
import { expectSound } from "../../../support/stores/ledger-checks.ts";
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
import type { WorldFactory } from "./world-factory.ts";

const ONE = usd("1");

export const keyLimitSuite = (open: WorldFactory): void =>
  describe("limits of keys", () => {
    const clock = new TestClock("2031-05-15T12:00:00.000Z");
    const world = suiteWorld(() => open(clock.options));

    const account = (more: AccountTerms = {}) => openAccount(world, { ...clock.aged, ...more });

    /** As an administration does: Postgres first, then the document in Redis. */
    const change = async (mine: TestAccount, terms: KeyChange) => {
      const key = { account: mine.row.number, keyId: mine.keyId };
      await changeKey(world.database, { ...key, ...terms });
      await mine.actor.configure();
    };

    const elsewhere = (mine: TestAccount) => accountIn(world.process(), mine);

    test("a disabled key is refused by the next call of every process, until enabled", async () => {
      const mine = await account();
      const other = elsewhere(mine);
      expect([await verdict(mine, ONE), await verdict(other, ONE)]).toEqual(Array(2).fill(PASSED));
      await change(mine, { isDisabled: true });
      expect(messageIn(await other.actor.admit(ask(mine.keyId, ONE)))).toBe(
        "This API key is disabled",
      );
      expect(await verdict(mine, ONE)).toBe("invalid_api_key");
      await change(mine, { isDisabled: false });
      expect([await verdict(mine, ONE), await verdict(other, ONE)]).toEqual(Array(2).fill(PASSED));
      await expectSound(world, mine);
    });

    test("an open call of a disabled key is ended by the next renewal of its lease", async () => {
      const mine = await account();
      const stream = await hold(mine, ONE, { stream: true });
      await change(mine, { isDisabled: true });
      await world.accounts.leases.renew();
      expect(stream.signal.aborted).toBeTrue();
      expect(stream.signal.reason).toMatchObject({ code: "invalid_api_key" });
      await stream.settle(usd("0.25"), DONE);
      await expectSound(world, mine);
    });

    test("a key ends to the millisecond, and an open call of it runs out", async () => {
      const mine = await account({ endsAt: new Date(clock.ms + 1_000) });
      const stream = await hold(mine, ONE, { stream: true });
      clock.ms += 999;
      expect(await verdict(mine, ONE)).toBe(PASSED);
      clock.ms += 1;
      expect(messageIn(await mine.actor.admit(ask(mine.keyId, ONE)))).toBe(
        "This API key ended at 2031-05-15T12:00:01.000Z",
      );
      await world.accounts.leases.renew();
      expect(stream.signal.aborted).toBeFalse();
      await stream.settle(usd("0.5"), DONE);
      await change(mine, { endsAt: new Date(clock.ms + 1) });
      expect(await verdict(mine, ONE)).toBe(PASSED);
      await change(mine, { endsAt: null });
      clock.ms += 1_000_000;
      expect(await verdict(mine, ONE)).toBe(PASSED);
      await expectSound(world, mine);
    });

    test("a key calls only its models, and a change binds at once in every process", async () => {
      const mine = await account({ models: ["m"] });
      const other = elsewhere(mine);
      expect(await verdict(other, ONE)).toBe(PASSED);
      expect(await verdict(other, ONE, { standIns: ["n"] })).toBe("model_not_allowed");
      await change(mine, { models: ["n*"] });
      expect(await verdict(other, ONE)).toBe("model_not_allowed");
      expect(await verdict(mine, ONE)).toBe("model_not_allowed");
      await change(mine, { models: ["n*", "*m"] });
      expect(await verdict(other, ONE, { standIns: ["n"] })).toBe(PASSED);
      await change(mine, { models: null });
      expect(await verdict(other, ONE, { standIns: ["any"] })).toBe(PASSED);
    });

    test("of 200 calls in two processes none begins after the key was disabled", async () => {
      const mine = await account({ contract: "enterprise" });
      const actors = [mine.actor, elsewhere(mine).actor];
      const call = (index: number) => actors[index % 2]?.admit(ask(mine.keyId, usd("0.01")));
      const before = Array.from({ length: 100 }, (_, index) => call(index));
      await change(mine, { isDisabled: true });
      const after = await Promise.all(Array.from({ length: 100 }, (_, index) => call(index)));
      expect(new Set(after.map((one) => one?.verdict))).toEqual(new Set(["refused"]));
      for (const open of holdsIn(await Promise.all(before))) await open.settle(usd("0.01"), DONE);
      await expectSound(world, mine);
    });

    test("a rebuild of Redis restores the limits", async () => {
      const mine = await account({ models: ["n"], endsAt: new Date(clock.ms + 60_000) });
      await world.flush();
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await verdict(mine, ONE)).toBe("model_not_allowed");
      await change(mine, { models: null });
      expect(await verdict(mine, ONE)).toBe(PASSED);
      await change(mine, { isDisabled: true });
      await world.accounts.rebuild([{ bucket: mine.row.bucket }]);
      expect(await verdict(mine, ONE)).toBe("invalid_api_key");
      await change(mine, { isDisabled: false });
      clock.ms += 60_000;
      expect(await verdict(mine, ONE)).toBe("invalid_api_key");
      await expectSound(world, mine);
    });

    test("a key without such limits names none of them in the document", async () => {
      const mine = await account();
      const { document } = await mine.actor.state();
      expect(document).not.toMatch(/disabled|ends_ms|"models":\[/);
    });
  });

const PASSED = "admitted";
