// Tests that nothing is booked that Redis could not count: each kind of change of a balance, at the
// edges of the exact numbers.

import { expect, test } from "bun:test";
import { AMOUNT_MAX, type NanoUsd, nano } from "../../../../src/core/money/money.ts";
import { grantFreeCredit } from "../../../../src/store/accounts/accounts.ts";
import { BalanceTooLarge } from "../../../../src/store/ledger/balance-limit.ts";
import { shared } from "../../../support/shared.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { found } from "../../../support/stores/audit-lab.ts";
import { openAccount, openWorld, walletOf } from "../../../support/stores/world.ts";

const world = await shared(openWorld());

/** The state of the account before the change. */
type Standing = "empty" | "full" | "owing";

interface Case {
  readonly kind: string;
  /** The account's sum below the most, after it has `standing`. */
  readonly standing: Standing;
  readonly change: (account: TestAccount, amount: NanoUsd) => Promise<unknown>;
  /** The amounts that the change adds to the sum that Redis counts. */
  readonly amounts: readonly (readonly [amount: bigint, fits: boolean])[];
}

const MAX = AMOUNT_MAX;
const FREE = 5_000_000_000n;
const reference = null;
const reason = "test";
const TERMS = { actor: "operator", reason, reference };

async function pay(account: TestAccount, amount: bigint, more: object = {}) {
  return await world.payments.record(account.row, {
    amount: nano(amount),
    paidAt: new Date(),
    ...more,
  });
}

function adjust(account: TestAccount, kind: "adjustment" | "forgiven", amount: bigint) {
  return world.store.adjust(account.row, { kind, amount: nano(amount), reason, reference });
}

/** A payment of the amount, of which a part is taken back and given again. */
async function takenBack(
  account: TestAccount,
  amount: bigint,
  between: (account: TestAccount) => Promise<unknown>,
) {
  const { id } = await pay(account, amount);
  await world.payments.change(id, {
    terms: TERMS,
    decide: () => ({ dispute: "open", disputed: nano(amount) }),
  });
  await settled(account);
  await between(account);
  await world.payments.change(id, {
    terms: TERMS,
    decide: () => ({ dispute: "won", disputed: nano(0n) }),
  });
}

const CASES: readonly Case[] = [
  {
    kind: "a payment",
    standing: "empty",
    change: pay,
    amounts: [
      [1n, true],
      [MAX - 1n, true],
      [MAX, true],
    ],
  },
  {
    kind: "a payment beside another",
    standing: "full",
    change: pay,
    amounts: [
      [1n, false],
      [MAX, false],
    ],
  },
  {
    kind: "a bonus",
    standing: "empty",
    change: (account, bonus) => pay(account, MAX - 10n, { bonus }),
    amounts: [
      [10n, true],
      [11n, false],
      [MAX, false],
    ],
  },
  {
    kind: "the price of a plan",
    standing: "full",
    change: (account, amount) => pay(account, amount, { purpose: "plan" }),
    amounts: [
      [1n, true],
      [MAX, true],
    ],
  },
  {
    kind: "an adjustment that gives",
    standing: "full",
    change: (account, amount) => adjust(account, "adjustment", amount),
    amounts: [
      [1n, false],
      [MAX, false],
    ],
  },
  {
    kind: "an adjustment that takes",
    standing: "full",
    change: (account, amount) => adjust(account, "adjustment", -amount),
    amounts: [
      [1n, true],
      [MAX, true],
    ],
  },
  {
    kind: "what is forgiven",
    standing: "owing",
    change: (account, amount) => adjust(account, "forgiven", amount),
    amounts: [
      [1n, true],
      [MAX, true],
    ],
  },
  {
    kind: "a grant of free credit",
    standing: "empty",
    change: async (account, amount) => {
      await pay(account, amount);
      await grantFreeCredit(world.database, account.row, { now: new Date() });
    },
    amounts: [
      [MAX - FREE, true],
      [MAX - FREE + 1n, false],
      [MAX, false],
    ],
  },
  {
    kind: "a reversal while something is owed",
    standing: "owing",
    change: async (account, amount) => {
      const { id } = await pay(account, amount);
      await settled(account);
      await world.payments.change(id, { terms: TERMS, decide: () => ({ refunded: amount }) });
    },
    amounts: [
      [1n, true],
      [MAX, true],
    ],
  },
  {
    kind: "a won dispute beside another payment",
    standing: "empty",
    change: (account, amount) => takenBack(account, amount, (other) => pay(other, MAX - 100n)),
    amounts: [
      [100n, true],
      [101n, false],
      [MAX, false],
    ],
  },
];

/** Requires that the ledger has all booked operations. */
async function settled({ actor }: TestAccount): Promise<void> {
  await actor.applyOperations();
  await world.flush();
}

async function opened(standing: Standing): Promise<TestAccount> {
  if (standing === "empty") return await openAccount(world, { free: "0" });
  if (standing === "full") {
    const account = await openAccount(world, { free: "0" });
    await pay(account, MAX);
    return account;
  }
  const account = await openAccount(world, { free: "0" });
  const { id } = await pay(account, 100n);
  await adjust(account, "adjustment", -100n);
  await settled(account);
  await world.payments.change(id, { terms: TERMS, decide: () => ({ refunded: nano(100n) }) });
  await settled(account);
  return account;
}

async function operationsOf({ row }: TestAccount): Promise<number> {
  const rows = await world.database.sql`SELECT FROM operations WHERE account = ${row.number}`;
  return rows.length;
}

for (const { kind, standing, change, amounts } of CASES) {
  for (const [amount, fits] of amounts) {
    const end = fits ? "applied" : "refused";
    test(`${kind} of ${amount} nano-USD, ${standing}: ${end}`, async () => {
      const account = await opened(standing);
      const refusal = await change(account, nano(amount)).then(
        () => null,
        (error: unknown) => error,
      );
      if (fits) expect(refusal).toBeNull();
      else expect(refusal).toBeInstanceOf(BalanceTooLarge);
      await account.actor.applyOperations();
      const { operations } = await walletOf(account);
      expect(operations).toBe(await operationsOf(account));
      expect(await found(world, account)).toBe("");
    });
  }
}

test("a change that Redis could not count leaves none of its rows", async () => {
  const account = await opened("full");
  const before = await operationsOf(account);
  await expect(pay(account, 1n, { bonus: nano(1n) })).rejects.toBeInstanceOf(BalanceTooLarge);
  expect(await operationsOf(account)).toBe(before);
  expect(await world.payments.list(account.row)).toHaveLength(1);
});
