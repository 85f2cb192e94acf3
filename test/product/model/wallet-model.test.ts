// Tests the model itself, without Redis: tables that a person can follow show how reversals,
// repayments and holds do to a balance, and no list of commands may break the rules.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import type { Operation } from "../../../src/core/journal/journal.ts";
import { usd } from "../../../src/core/money/money.ts";
import { type Command, randomRuns } from "./commands.ts";
import { faultOfRows } from "./model-ledger.ts";
import { ModelPayments } from "./model-payments.ts";
import type { ModelHold, ModelTerms } from "./model-types.ts";
import { WalletModel } from "./wallet-model.ts";

const START_MS = Date.parse("2031-03-15T12:00:00.000Z");
const TERMS: ModelTerms = {
  plan: "max",
  allowance: 0n,
  netPaid: 0n,
  firstPaymentAtMs: null,
  ownCap: null,
  budgets: [null, null],
  operations: [],
};

/** One account that the lines of a table change; amounts in dollars. */
class Table {
  nowMs = START_MS;
  readonly model = new WalletModel(TERMS, () => this.nowMs);
  #calls = 0;

  apply(kind: Operation["kind"], amount: string, balance: "paid" | "free" = "paid"): void {
    const expiresAtMs = balance === "free" ? this.nowMs + 86_400_000 : null;
    const signed = amount.startsWith("-") ? -usd(amount.slice(1)) : usd(amount);
    this.model.commit([{ kind, balance, amount: signed, expiresAtMs }], this.nowMs);
    this.model.applyOperations();
  }

  verdict(amount: string): string {
    return this.#admit(amount).verdict;
  }

  hold(amount: string): ModelHold {
    const { verdict, id } = this.#admit(amount);
    const hold = this.model.holds.get(id);
    if (hold === undefined) throw new Error(`A call was ${verdict}`);
    return hold;
  }

  settle(hold: ModelHold, cost: string): void {
    this.model.settle(hold, usd(cost), this.nowMs);
  }

  /** Available and held paid credit, free credit, and the owed amount. */
  get state(): string {
    const { paidAvailable, heldPaid, freeAvailable, ledger } = this.model;
    return [paidAvailable, heldPaid, freeAvailable, ledger.owed].map(dollars).join(" ");
  }

  #admit(amount: string) {
    this.#calls += 1;
    const id = `call ${this.#calls}`;
    const call = { id, owner: "process", key: 0, bound: usd(amount), freeEligible: true };
    const more = { stream: false, deadlineMs: null, refusal: null };
    return { id, ...this.model.admit({ ...call, ...more, ...ONE_TRY }, this.nowMs) };
  }
}

const ONE_TRY = { tentative: false, isCounted: false, isAhead: false };

function dollars(amount: bigint): string {
  return String(Number(amount) / 1e9);
}

test("a reversal takes the available balance, and the rest is owed", () => {
  const table = new Table();
  table.apply("credit", "10");
  table.apply("reversal", "-4");
  expect(table.state).toBe("6 0 0 0");
  table.hold("5");
  table.apply("reversal", "-4");
  expect(table.state).toBe("0 5 0 3");
  expect(table.verdict("0")).toBe("payment_required");
});

test("credit that a hold releases pays the debt first", () => {
  const table = new Table();
  table.apply("credit", "10");
  const hold = table.hold("8");
  table.apply("reversal", "-7");
  expect(table.state).toBe("0 8 0 5");
  table.settle(hold, "2");
  expect(table.state).toBe("1 0 0 0");
  expect(table.model.ledger.rows.map(({ kind, paidDelta }) => [kind, dollars(paidDelta)])).toEqual([
    ["credit", "10"],
    ["reversal", "-2"],
    ["charge", "-2"],
    ["repayment", "-5"],
  ]);
});

test("a hold that is released whole repays in a row of its own", () => {
  const table = new Table();
  table.apply("credit", "3");
  const hold = table.hold("3");
  table.apply("reversal", "-3");
  table.settle(hold, "0");
  expect(table.state).toBe("0 0 0 0");
  expect(table.model.ledger.rows.at(-1)).toMatchObject({ kind: "repayment", request: hold.id });
});

test("paid credit pays a debt, free credit never does", () => {
  const table = new Table();
  table.apply("reversal", "-4");
  table.apply("credit", "9", "free");
  expect(table.state).toBe("0 0 9 4");
  table.apply("bonus", "1");
  expect(table.state).toBe("0 0 9 3");
  table.apply("restore", "5");
  expect(table.state).toBe("2 0 9 0");
  expect(table.verdict("11")).toBe("admitted");
});

test("an adjustment stops at zero and leaves no debt", () => {
  const table = new Table();
  table.apply("credit", "3");
  table.hold("2");
  table.apply("adjustment", "-5");
  expect(table.state).toBe("0 2 0 0");
  table.apply("adjustment", "0.5");
  expect(table.state).toBe("0.5 2 0 0");
});

test("a forgiven amount is no longer owed, and nothing else is forgiven", () => {
  const table = new Table();
  table.apply("reversal", "-4");
  table.apply("forgiven", "1");
  expect(table.state).toBe("0 0 0 3");
  table.apply("forgiven", "9");
  expect(table.state).toBe("0 0 0 0");
  expect(table.model.ledger.rows).toHaveLength(3);
});

test("a suspended account is inactive, whatever it owes", () => {
  const table = new Table();
  table.apply("reversal", "-4");
  table.model.isSuspended = true;
  expect(table.verdict("1")).toBe("account_inactive");
});

test("a debt on held credit is repaid when the wallet is rebuilt without its holds", () => {
  const table = new Table();
  table.apply("credit", "10");
  table.hold("10");
  table.apply("reversal", "-4");
  expect(table.state).toBe("0 10 0 4");
  table.model.flush();
  table.model.rebuild();
  table.model.touch();
  expect(table.state).toBe("6 0 0 0");
});

test("one lease keeps all holds of a process, and the sweep takes them together", () => {
  const table = new Table();
  table.apply("credit", "10");
  const [first, second] = [table.hold("2"), table.hold("3")];
  table.nowMs += LEASE_MS - 1;
  expect(table.model.ended(table.nowMs)).toEqual([]);
  table.model.renew("process", new Map([[first.id, usd("1")]]), table.nowMs);
  table.nowMs += LEASE_MS;
  expect(table.model.ended(table.nowMs)).toEqual([first.id, second.id]);
  table.model.sweep(table.nowMs);
  expect(table.state).toBe("9 0 0 0");
  table.settle(second, "1");
  expect(table.state).toBe("8 0 0 0");
});

test("a hold that a rebuild made void keeps the lease of its process until the sweep", () => {
  const table = new Table();
  table.apply("credit", "10");
  table.hold("2");
  table.model.flush();
  table.model.rebuild();
  table.nowMs += LEASE_MS;
  table.model.forgetOwners(table.nowMs);
  expect(table.model.leases.has("process")).toBe(true);
  table.model.sweep(table.nowMs);
  expect(table.model.leases.has("process")).toBe(false);
});

test("disputes in any order take at most the amount of a payment back", () => {
  const change = fc.record({
    do: fc.constantFrom("refund", "failRefund", "dispute", "won", "lost"),
    permille: fc.nat(1000),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), fc.nat(9_000_000_000), (changes, nano) => {
      const payments = new ModelPayments();
      const paid = payments.operationsOf({ do: "pay", nano: nano + 10, bonus: true }, START_MS);
      const credited = paid.reduce((sum, { amount }) => sum + amount, 0n);
      let taken = 0n;
      for (const { do: name, permille } of changes) {
        const [operation] = payments.operationsOf(
          name === "won" || name === "lost"
            ? { do: "decide", pick: 0, isWon: name === "won" }
            : { do: name as "refund", pick: 0, permille },
          START_MS,
        );
        taken -= operation?.amount ?? 0n;
        expect(taken >= 0n && taken <= credited).toBe(true);
      }
    }),
  );
});

/** Runs the commands that need no Redis on a model alone. */
function play(model: WalletModel, payments: ModelPayments, command: Command, nowMs: number): void {
  const call = [...model.calls.values()].at("pick" in command ? command.pick % 7 : 0);
  const held = call === undefined ? 0n : call.paid + call.free;
  switch (command.do) {
    case "admit": {
      const { key, nano, freeEligible, stream, tentative, detached } = command;
      const id = `${model.ledger.seq}-${model.calls.size}-${nano}-${nowMs}`;
      const of = { id, owner: "process", key, bound: BigInt(nano), freeEligible, stream };
      const deadlineMs = detached ? LEASE_MS : null;
      model.admit({ ...of, ...ONE_TRY, tentative, deadlineMs, refusal: null }, nowMs);
      return;
    }
    case "settle":
      if (call) model.settle(call, (held * BigInt(command.permille)) / 1000n, nowMs);
      return;
    case "sweep":
      model.sweep(nowMs);
      return;
    case "flush":
      model.flush();
      return;
    case "rebuild":
      model.rebuild();
      return;
    case "evict":
      model.evict(nowMs);
      return;
    default:
      if (!("dies" in command)) return;
      model.commit(payments.operationsOf(command, nowMs), nowMs);
      if (!command.dies) model.applyOperations();
  }
}

test("no list of commands makes a balance negative or leaves a debt beside paid credit", () => {
  for (const { commands } of randomRuns(9, 400, 100)) {
    let nowMs = START_MS;
    const model = new WalletModel(TERMS, () => nowMs);
    const payments = new ModelPayments();
    for (const command of commands) {
      if (command.do === "clock") nowMs += command.ms;
      play(model, payments, command, nowMs);
      const { paidAvailable, freeAvailable, ledger } = model;
      expect(paidAvailable >= 0n && freeAvailable >= 0n).toBe(true);
      if (model.here && ledger.owed > 0n) expect(paidAvailable).toBe(0n);
      expect(faultOfRows(ledger.rows)).toBeNull();
    }
    model.applyOperations();
    const applied = model.ledger.rows.flatMap(({ operation }) => operation ?? []);
    expect(applied).toEqual(model.operations.map(({ number }) => number));
  }
});
