import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../../src/core/durations.ts";
import { describe as inWords } from "../../../../src/core/journal/audit-finding.ts";
import type { LedgerKind } from "../../../../src/core/journal/journal.ts";
import {
  LedgerReplay,
  type ReplayEntry,
  type ReplayOperation,
} from "../../../../src/core/journal/ledger-replay.ts";
import { usd } from "../../../../src/core/money/money.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);

type Given = Partial<ReplayEntry> & { readonly kind: LedgerKind };

/** A ledger as a table: each line is one entry with the balances after it. */
class Table {
  readonly operations: ReplayOperation[] = [];
  readonly entries: ReplayEntry[] = [];

  /** An operation of Postgres, and its entry. */
  op(
    kind: ReplayOperation["kind"],
    amount: string,
    effect: {
      paid?: string;
      free?: string;
      owed: string;
      balance?: "free";
      days?: number;
      atMs?: number;
    },
  ): this {
    const number = this.operations.length + 1;
    const { balance = "paid", days = null, atMs = NOW_MS } = effect;
    this.operations.push({
      number,
      kind,
      balance,
      amount: usd(amount),
      createdAtMs: atMs,
      payment: null,
      expiresAtMs: days === null ? null : NOW_MS + days * DAY_MS,
    });
    return this.entry(kind, effect, { operation: number, atMs });
  }

  call(paid: string, owed: string, more: Partial<ReplayEntry> = {}): this {
    const call = { request: "req_1", key: "key_1", month: 202611, ...more };
    return this.entry("charge", { paid, owed }, call);
  }

  entry(
    kind: LedgerKind,
    { paid = "0", free = "0", owed }: { paid?: string; free?: string; owed: string },
    more: Partial<ReplayEntry> = {},
  ): this {
    const last = this.entries.at(-1);
    const entry: Given = {
      kind,
      seq: this.entries.length + 1,
      paidDelta: usd(paid),
      freeDelta: usd(free),
      request: null,
      key: null,
      month: null,
      budgets: [],
      operation: null,
      atMs: NOW_MS,
      paidAfter: (last?.paidAfter ?? 0n) + usd(paid),
      freeAfter: (last?.freeAfter ?? 0n) + usd(free),
      owedAfter: usd(owed),
      ...more,
    };
    this.entries.push(entry as ReplayEntry);
    return this;
  }

  /** The replay's finding, in words; "" for a right ledger. */
  found(change: (entry: ReplayEntry, seq: number) => ReplayEntry = (entry) => entry): string {
    const replay = new LedgerReplay("acct_1", this.operations);
    for (const entry of this.entries) {
      const wrong = replay.take(change(entry, entry.seq));
      if (wrong !== null) return inWords(wrong);
    }
    const missing = replay.end();
    return missing === null ? "" : inWords(missing);
  }
}

/** $20 paid, a call of $4, all refunded: $10 were available, $6 were held and are owed. */
function owing(): Table {
  return new Table()
    .op("credit", "20", { paid: "20", owed: "0" })
    .call("-4", "0")
    .op("reversal", "-20", { paid: "-10", owed: "10" });
}

const AT_NEWER = { atMs: NOW_MS + 2 * DAY_MS } as const;

/**
 * $5 of free credit for a day, of which the sweep charged $2 and the rest ended; then $1 of newer
 * free credit, and the late settlement of a call that was admitted at this time, which gives back
 * $1.50.
 */
function lateAfterNewer(admittedMs: number): Table {
  const call = { request: "req_1", key: "key_1", month: 202611, atMs: admittedMs };
  return new Table()
    .op("credit", "5", { free: "5", owed: "0", balance: "free", days: 1 })
    .entry("charge", { free: "-2", owed: "0" }, call)
    .entry("free_expired", { free: "-3", owed: "0" }, AT_NEWER)
    .op("credit", "1", { free: "1", owed: "0", balance: "free", days: 9, ...AT_NEWER })
    .entry("late_charge", { free: "1.5", owed: "0" }, call);
}

const AFTER_A_DAY = { atMs: NOW_MS + DAY_MS } as const;

/** $5 of free credit for nine days and $4 for one, of which a call took $1. */
function twoLots(): Table {
  const call = { request: "req_1", key: "key_1", month: 202611, atMs: NOW_MS };
  return new Table()
    .op("credit", "5", { free: "5", owed: "0", balance: "free", days: 9 })
    .op("credit", "4", { free: "4", owed: "0", balance: "free", days: 1 })
    .entry("charge", { free: "-1", owed: "0" }, call);
}

describe("right ledgers", () => {
  const tables: readonly (readonly [string, Table])[] = [
    [
      "credit, bonus, charge, expiry",
      new Table()
        .op("credit", "5", { free: "5", owed: "0", balance: "free", days: 90 })
        .op("credit", "20", { paid: "20", owed: "0" })
        .op("bonus", "2", { paid: "2", owed: "0" })
        .call("-1.5", "0")
        .entry("free_expired", { free: "-5", owed: "0" }, { atMs: NOW_MS + 90 * DAY_MS }),
    ],
    ["a reversal of what is there", owing()],
    [
      "a repayment by a released hold",
      owing().entry("repayment", { paid: "-6", owed: "4" }, { request: "req_2" }),
    ],
    [
      "a charge while owing, and what its hold gives back",
      owing()
        .call("-1", "10", { request: "req_2" })
        .entry("repayment", { paid: "-5", owed: "5" }, { request: "req_2" }),
    ],
    [
      "a credit that pays what is owed and leaves the rest",
      owing()
        .op("credit", "25", { paid: "25", owed: "10" })
        .entry("repayment", { paid: "-10", owed: "0" }),
    ],
    [
      "a restore that pays a part of what is owed",
      owing()
        .op("restore", "3", { paid: "3", owed: "10" })
        .entry("repayment", { paid: "-3", owed: "7" }),
    ],
    [
      "a late settlement that gives back",
      owing()
        .entry(
          "late_charge",
          { paid: "1", owed: "10" },
          { request: "req_1", key: "key_1", month: 202611 },
        )
        .entry("repayment", { paid: "-1", owed: "9" }, { request: "req_1" }),
    ],
    [
      "a late settlement that gives back free credit after newer free credit came",
      lateAfterNewer(NOW_MS).entry("free_expired", { free: "-1.5", owed: "0" }, AT_NEWER),
    ],
    [
      "the end of a lot, and later that of the next",
      twoLots()
        .entry("free_expired", { free: "-3", owed: "0" }, AFTER_A_DAY)
        .entry("free_expired", { free: "-5", owed: "0" }, { atMs: NOW_MS + 9 * DAY_MS }),
    ],
    ["forgiven in part", owing().op("forgiven", "4", { owed: "6" })],
    ["forgiven beyond it", owing().op("forgiven", "40", { owed: "0" })],
    ["forgiven where nothing is owed", new Table().op("forgiven", "4", { owed: "0" })],
    [
      "free credit while owing",
      owing().op("credit", "5", { free: "5", owed: "10", balance: "free" }),
    ],
    ["a second reversal while owing", owing().op("reversal", "-3", { owed: "13" })],
    ["an adjustment that gives", new Table().op("adjustment", "3", { paid: "3", owed: "0" })],
    [
      "an adjustment that takes what is available, and one that takes nothing",
      new Table()
        .op("credit", "20", { paid: "20", owed: "0" })
        .op("adjustment", "-50", { paid: "-15", owed: "0" })
        .op("adjustment", "-50", { owed: "0" }),
    ],
  ];

  test.each(tables.map((row) => [...row] as const))("%s", (_, table) => {
    expect(table.found()).toBe("");
  });

  test("sums up all credits and charges", () => {
    const table = owing().op("credit", "25", { paid: "25", owed: "10" });
    table.entry("repayment", { paid: "-10", owed: "0" });
    const replay = new LedgerReplay("acct_1", table.operations);
    for (const entry of table.entries) expect(replay.take(entry)).toBeNull();
    expect(replay).toMatchObject({
      credited: usd("45"),
      reversed: usd("10"),
      charged: usd("4"),
      repaid: usd("10"),
      paid: usd("21"),
      owed: 0n,
      operations: 3,
      seq: 5,
    });
    expect(replay.spent).toEqual(new Map([["202611 key_1", usd("4")]]));
  });
});

describe("wrong ledgers", () => {
  const CREDIT = new Table().op("credit", "20", { paid: "20", owed: "0" });
  const tables: readonly (readonly [string, Table, string])[] = [
    [
      "a credit that gives more",
      new Table().op("credit", "20", { paid: "21", owed: "0" }),
      "ledger entry 1: what it gives by operation 1: expected $20 paid and $0 free, found $21",
    ],
    [
      "a free credit that gives paid",
      new Table().op("credit", "5", { paid: "5", owed: "0", balance: "free" }),
      "expected $0 paid and $5 free, found $5 paid and $0 free",
    ],
    [
      "a credit that makes a debt",
      new Table().op("credit", "20", { paid: "20", owed: "1" }),
      "what is owed after operation 1: expected $0, found $1",
    ],
    [
      "a reversal that owes too little",
      new Table()
        .op("credit", "20", { paid: "20", owed: "0" })
        .op("reversal", "-20", { paid: "-12", owed: "7" }),
      "ledger entry 2: what is owed after operation 2: expected $8, found $7",
    ],
    [
      "a reversal that takes more than its amount",
      new Table()
        .op("credit", "20", { paid: "20", owed: "0" })
        .op("reversal", "-10", { paid: "-11", owed: "0" }),
      "what it takes by operation 2: expected $0 to $10 paid and no free credit, found $11 paid",
    ],
    [
      "a reversal that takes what is not there",
      new Table()
        .op("credit", "5", { paid: "5", owed: "0" })
        .op("reversal", "-10", { paid: "-6", owed: "4" }),
      "expected $0 to $5 paid and no free credit, found $6 paid",
    ],
    [
      "a reversal that takes while anything is owed",
      owing().op("reversal", "-3", { paid: "-3", owed: "10" }),
      "expected $0 to $0 paid and no free credit, found $3 paid",
    ],
    [
      "a reversal that gives",
      new Table().op("reversal", "-3", { paid: "3", owed: "6" }),
      "expected $0 to $0 paid and no free credit, found -$3 paid",
    ],
    [
      "an adjustment that makes a debt",
      new Table().op("adjustment", "-3", { owed: "3" }),
      "what is owed after operation 1: expected $0, found $3",
    ],
    [
      "forgiving too much",
      owing().op("forgiven", "4", { owed: "5" }),
      "what is owed after operation 3: expected $6, found $5",
    ],
    [
      "forgiving that pays out",
      owing().op("forgiven", "4", { paid: "4", owed: "6" }),
      "what it gives by operation 3: expected $0 paid and $0 free, found $4 paid",
    ],
    [
      "a credit without the repayment that is due",
      owing().op("credit", "25", { paid: "25", owed: "10" }),
      "ledger entry 5: the repayment that is due: expected $10, found none",
    ],
    [
      "a call before the repayment that is due",
      owing().op("restore", "2", { paid: "2", owed: "10" }).call("-1", "10"),
      "ledger entry 5: the repayment that is due: expected $2, found a charge",
    ],
    [
      "a repayment below what is due",
      owing()
        .op("restore", "5", { paid: "5", owed: "10" })
        .entry("repayment", { paid: "-4", owed: "6" }),
      "the repayment that is due: expected $5, found $4",
    ],
    [
      "a repayment of more than is owed",
      owing().entry("repayment", { paid: "-11", owed: "-1" }, { request: "req_1" }),
      "a repayment pays what is owed: expected a part of $0 to $6 of the paid balance, found -$11",
    ],
    [
      "a repayment where nothing is owed",
      new Table().op("credit", "5", { paid: "5", owed: "0" }).entry("repayment", {
        paid: "-1",
        owed: "0",
      }),
      "expected a part of $0 to $0 of the paid balance",
    ],
    [
      "a repayment by free credit",
      owing().entry("repayment", { free: "-1", owed: "9" }),
      "a repayment pays what is owed",
    ],
    [
      "a repayment that pays nothing off",
      owing().entry("repayment", { paid: "-6", owed: "10" }, { request: "req_1" }),
      "what is owed after it: expected $4, found $10",
    ],
    [
      "a charge that changes what is owed",
      owing().call("-1", "9"),
      "ledger entry 4: what is owed after it: expected $10, found $9",
    ],
    [
      "a debt below zero",
      new Table().call("-1", "-1"),
      "what is owed after it: expected $0, found -$1",
    ],
    [
      "a balance below zero",
      new Table().call("-1", "0"),
      "the paid balance after it: expected $0 or more, found -$1",
    ],
    [
      "an operation of another kind",
      new Table()
        .op("credit", "5", { paid: "5", owed: "0" })
        .entry("bonus", { paid: "5", owed: "0" }, { operation: 2 }),
      "the operation 2 that it applies: expected a row, found none",
    ],
    [
      "an operation twice",
      new Table()
        .op("credit", "5", { paid: "5", owed: "0" })
        .entry("credit", { paid: "5", owed: "0" }, { operation: 1 }),
      "operations in order: expected operation 2, found operation 1",
    ],
    [
      "an operation without its number",
      new Table().entry("restore", { paid: "5", owed: "0" }),
      "operations in order: expected operation 1, found none",
    ],
    [
      "a charge with an operation",
      new Table().op("credit", "5", { paid: "5", owed: "0" }).call("-1", "0", { operation: 1 }),
      "a charge applies no operation: expected none, found operation 1",
    ],
    [
      "free credit that ends early",
      new Table()
        .op("credit", "5", { free: "5", owed: "0", balance: "free", days: 1 })
        .entry("free_expired", { free: "-5", owed: "0" }),
      "when free credit ended",
    ],
    [
      "free credit that ends early, given back by a call of its own time",
      lateAfterNewer(AT_NEWER.atMs).entry("free_expired", { free: "-1.5", owed: "0" }, AT_NEWER),
      "when free credit ended",
    ],
    [
      "more free credit that ends early than a call gave back",
      lateAfterNewer(NOW_MS).entry("free_expired", { free: "-1.6", owed: "0" }, AT_NEWER),
      "when free credit ended",
    ],
    [
      "a lot that takes some of the next when it ends",
      twoLots().entry("free_expired", { free: "-3.1", owed: "0" }, AFTER_A_DAY),
      "the free credit that ends later: expected $5 or more, found $4.9",
    ],
    [
      "a lot that ends early",
      twoLots().entry("free_expired", { free: "-3", owed: "0" }),
      "when free credit ended",
    ],
    [
      "a gap",
      new Table().op("credit", "5", { paid: "5", owed: "0" }).call("-1", "0", { seq: 3 }),
      "ledger entry 2: the entries are numbered without gaps: expected 2, found 3",
    ],
  ];

  test.each(tables.map((row) => [...row] as const))("%s", (_, table, words) => {
    expect(table.found()).toContain(words);
  });

  test("a kind that is not its operation's", () => {
    const changed = CREDIT.found((entry) => ({ ...entry, kind: "bonus" }));
    expect(changed).toContain("the kind of operation 1: expected credit, found bonus");
  });

  test("a balance that is not the previous one plus the delta", () => {
    const changed = owing().found((entry, seq) =>
      seq === 3 ? { ...entry, paidAfter: entry.paidAfter + 1n } : entry,
    );
    expect(changed).toContain("the paid balance after it: expected $6 ($16 before and -$10)");
  });

  test("a balance below zero is marked, so that its account is suspended", () => {
    const replay = new LedgerReplay("acct_1", []);
    const [charge] = new Table().call("-1", "0").entries;
    expect(charge && replay.take(charge)).toMatchObject({ isBelowZero: true });
  });
});

describe("a hole", () => {
  /** The finding of a ledger of which these entries were refused. */
  function without(table: Table, ...holes: readonly number[]): string {
    const replay = new LedgerReplay("acct_1", table.operations);
    for (const entry of table.entries) {
      const wrong = holes.includes(entry.seq) ? replay.skip() : replay.take(entry);
      if (wrong) return inWords(wrong);
    }
    const missing = replay.end();
    return missing === null ? "" : inWords(missing);
  }

  const table = owing()
    .op("forgiven", "1", { owed: "9" })
    .op("reversal", "-3", { owed: "12" })
    .call("-1", "12")
    .op("credit", "25", { paid: "25", owed: "12" })
    .entry("repayment", { paid: "-12", owed: "0" })
    .op("adjustment", "-1", { paid: "-1", owed: "0" });

  test("at any place is passed, and the entries after it are proven", () => {
    const numbers = table.entries.map(({ seq }) => seq);
    expect(numbers.map((seq) => without(table, seq))).toEqual(numbers.map(() => ""));
    expect(without(table, 3, 4, 5)).toBe("");
  });

  test("hides no fault after it", () => {
    const wrong = owing().call("-1", "10").op("forgiven", "4", { owed: "5" });
    expect(without(wrong, 2)).toContain("what is owed after operation 3: expected $6, found $5");
  });
});
