// Tests that the replay of a ledger keeps the sums of some budgets, however many the ledger names.

import { expect, test } from "bun:test";
import { LedgerReplay, type ReplayEntry } from "../../../../src/core/journal/ledger-replay.ts";

const AT_MS = Date.parse("2026-11-28T12:00:00Z");
const BUDGETS = 1_000;

const NOTHING = { request: null, key: null, month: null, budgets: [], operation: null } as const;

/** The entry of one credit, and then charges of 1 of as many budgets, each with budget 7. */
function* ledger(): Generator<ReplayEntry> {
  const paid = BigInt(BUDGETS);
  const balance = { freeDelta: 0n, freeAfter: 0n, owedAfter: 0n, atMs: AT_MS };
  const credit = { ...NOTHING, kind: "credit", operation: 1 } as const;
  yield { ...credit, ...balance, seq: 1, paidDelta: paid, paidAfter: paid };
  for (let number = 1; number <= BUDGETS; number += 1) {
    yield {
      ...balance,
      kind: "charge",
      seq: number + 1,
      request: "req_1",
      key: "key_1",
      month: 202611,
      operation: null,
      budgets: [
        { number: 7, startMs: 0 },
        { number: 100 + number, startMs: AT_MS },
      ],
      paidDelta: -1n,
      paidAfter: paid - BigInt(number),
    };
  }
}

function replayOf(summed?: ReadonlySet<number>): LedgerReplay {
  const credit = {
    number: 1,
    kind: "credit",
    balance: "paid",
    amount: BigInt(BUDGETS),
    expiresAtMs: null,
    createdAtMs: AT_MS,
    payment: null,
  } as const;
  const replay = new LedgerReplay("acct_1", [credit], summed);
  for (const entry of ledger()) expect(replay.take(entry)).toBeNull();
  return replay;
}

test("a replay sums the budgets that it is asked for, and no others", () => {
  const { budgets, namesBudgets } = replayOf(new Set([7, 150]));
  expect([...budgets]).toEqual([
    ["7 0", BigInt(BUDGETS)],
    [`150 ${AT_MS}`, 1n],
  ]);
  expect(namesBudgets).toBe(true);
});

test("a replay that is asked for no budget sums none, and knows that there are some", () => {
  const { budgets, namesBudgets } = replayOf();
  expect([budgets.size, namesBudgets]).toEqual([0, true]);
});
