import { describe, expect, test } from "bun:test";
import { changeAccount } from "../../../src/accounts/administration.ts";
import {
  adjustBalance,
  disputePayment,
  forgiveOwed,
  recordPayment,
  refundPayment,
} from "../../../src/accounts/payments.ts";
import { usd } from "../../../src/core/money/money.ts";
import type { AccountRow } from "../../../src/store/accounts/accounts.ts";
import type { NewPayment } from "../../../src/store/payments/payments.ts";
import { shared } from "../../support/shared.ts";
import { openPostgresWorld, refusalCode } from "../../support/stores/postgres-world.ts";

const books = await shared(openPostgresWorld());

async function pay(account: AccountRow, amount: string, more: Partial<NewPayment> = {}) {
  const payment = { amount: usd(amount), paidAt: new Date(), ...more };
  return (await recordPayment(books.deps, account.id, payment)).payment;
}

function refund(payment: string, amount: string | null, reference: string | null = null) {
  const part = amount === null ? null : usd(amount);
  return refundPayment(books.deps, payment, { amount: part, reference });
}

function dispute(payment: string, state: "open" | "won" | "lost") {
  return disputePayment(books.deps, payment, { state });
}

async function stateOf({ id }: AccountRow): Promise<string> {
  const { state, stateReason } = await books.row(id);
  return stateReason === null ? state : `${state} (${stateReason})`;
}

describe("a payment", () => {
  test("is one credit and one bonus, numbered after the operations before it", async () => {
    const account = await books.account();
    await pay(account, "20", { bonus: usd("2") });
    expect(await books.operations(account)).toEqual([
      ["credit", usd("20")],
      ["bonus", usd("2")],
    ]);
    const numbers = (await books.repository.operationsAfter(account.id, 0)).map((o) => o.number);
    expect(numbers).toEqual([1, 2, 3]);
  });

  test("with the same reference is booked once, at once too, and answers the first", async () => {
    const account = await books.account();
    const terms = { provider: "stripe", ref: "pi_parallel" };
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => pay(account, `${n + 1}`, terms)),
    );
    const ids = new Set(all.map(({ id }) => id));
    expect(ids.size).toBe(1);
    const again = await pay(account, "99", terms);
    expect([...ids]).toEqual([again.id]);
    expect(await books.operations(account)).toEqual([["credit", again.amount]]);
  });

  test("with the reference of another account's payment is refused, in parallel too", async () => {
    const accounts = await Promise.all(Array.from({ length: 4 }, () => books.account()));
    const outcomes = await Promise.all(
      accounts.map((account) => refusalCode(pay(account, "5", { ref: "invoice 7" }))),
    );
    expect(outcomes.toSorted()).toEqual(["done", ...Array(3).fill("reference_reused")]);
    const booked = await Promise.all(accounts.map((account) => books.operations(account)));
    expect(booked.flat()).toEqual([["credit", usd("5")]]);
  });

  test("the same reference of two providers is two payments", async () => {
    const account = await books.account();
    await pay(account, "5", { ref: "same" });
    await pay(account, "6", { ref: "same", provider: "stripe" });
    expect(await books.operations(account)).toEqual([
      ["credit", usd("5")],
      ["credit", usd("6")],
    ]);
  });

  test("first seen refunded gives only the credit that still stands, or nothing", async () => {
    const account = await books.account();
    const bonus = usd("1");
    await pay(account, "10", { bonus, standing: { refunded: usd("10") } });
    expect(await books.operations(account)).toEqual([]);
    await pay(account, "10", { bonus, standing: { refunded: usd("4") } });
    expect(await books.operations(account)).toEqual([
      ["credit", usd("6")],
      ["bonus", usd("0.6")],
    ]);
  });

  test("of a closed account is refused to an operator and booked for a provider", async () => {
    const account = await books.account();
    await changeAccount(books.deps, account.id, { kind: "close" });
    expect(await refusalCode(pay(account, "5"))).toBe("closed");
    await pay(account, "5", { provider: "stripe", ref: "pi_late" });
    expect(await books.operations(account)).toEqual([["credit", usd("5")]]);
    expect(await stateOf(account)).toBe("closed (operator)");
  });

  test("that Redis could never count is refused with its bonus", async () => {
    const account = await books.account();
    const most = { bonus: usd("9007199") };
    expect(await refusalCode(pay(account, "9007199", most))).toBe("too_large");
    expect(await books.operations(account)).toEqual([]);
  });
});

describe("a refund", () => {
  test("takes credit and bonus in proportion, and all of it sums to zero exactly", async () => {
    const account = await books.account();
    const { id } = await pay(account, "10", { bonus: usd("0.000000007") });
    for (const part of ["3.333333333", "3.333333333", "0.000000001"]) await refund(id, part);
    const last = await refund(id, null);
    expect([last.takenBack, last.payment.refunded]).toEqual([usd("3.333333333"), usd("10")]);
    const amounts = (await books.operations(account)).map(([, amount]) => amount);
    expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(0n);
  });

  test("over the remaining amount is refused, and the message names that amount", async () => {
    const account = await books.account();
    const { id } = await pay(account, "20");
    await refund(id, "12.5");
    const refused = refund(id, "8");
    await expect(refused).rejects.toThrow(
      "must be at most $7.5, but is $8: of $20 $12.5 was refunded",
    );
    expect(await refusalCode(refused)).toBe("too_large");
    await refund(id, "7.5");
    expect(await refusalCode(refund(id, null))).toBe("wrong_state");
    expect(await books.operations(account)).toHaveLength(3);
  });

  test("with the same reference is made once, in parallel too, and answers the first", async () => {
    const account = await books.account();
    const { id } = await pay(account, "20", { bonus: usd("3") });
    await refund(id, "1");
    const all = await Promise.all(Array.from({ length: 12 }, () => refund(id, "5", "R 1")));
    await refund(id, "2");
    all.push(await refund(id, "5", "R 1"));
    const answers = all.map(({ takenBack, operation }) => [takenBack, operation?.amount]);
    expect(answers).toEqual(Array(13).fill([usd("5"), usd("-5.75")]));
    expect(new Set(all.map(({ operation }) => operation?.number)).size).toBe(1);
    expect((await books.operations(account)).map(([kind]) => kind)).toEqual([
      "credit",
      "bonus",
      "reversal",
      "reversal",
      "reversal",
    ]);
  });

  test("with a reference of another change is refused", async () => {
    const account = await books.account();
    const [one, two] = [await pay(account, "5"), await pay(account, "5")];
    await refund(one.id, "1", "R");
    expect(await refusalCode(refund(two.id, "1", "R"))).toBe("reference_reused");
    const terms = { amount: usd("1"), reason: "gift", reference: "R" };
    expect(await refusalCode(adjustBalance(books.deps, account.id, terms))).toBe(
      "reference_reused",
    );
    const other = await books.account();
    await adjustBalance(books.deps, other.id, terms);
    expect(await books.operations(other)).toEqual([["adjustment", usd("1")]]);
  });

  test("that failed gives back: the target falls", async () => {
    const account = await books.account();
    const { id } = await pay(account, "10", { bonus: usd("1") });
    for (const target of ["10", "10", "0", "4"]) {
      await refundPayment(books.deps, id, { target: usd(target), actor: "stripe" });
    }
    expect(await books.operations(account)).toEqual([
      ["credit", usd("10")],
      ["bonus", usd("1")],
      ["reversal", usd("-11")],
      ["restore", usd("11")],
      ["reversal", usd("-4.4")],
    ]);
    const beyond = refundPayment(books.deps, id, { target: usd("10.1"), actor: "stripe" });
    expect(await refusalCode(beyond)).toBe("too_large");
  });

  test("of a payment that is not there is refused", async () => {
    expect(await refusalCode(refund("pay_0000000000000000000000", "1"))).toBe("not_found");
  });
});

describe("a dispute", () => {
  test("takes the whole credit and suspends; won restores and resumes", async () => {
    const account = await books.account();
    const { id } = await pay(account, "20", { bonus: usd("2") });
    await refund(id, "5");
    for (const _ of [1, 2]) {
      await dispute(id, "open");
      expect(await stateOf(account)).toBe("suspended (dispute)");
    }
    expect(await refusalCode(refund(id, "1"))).toBe("wrong_state");
    for (const _ of [1, 2]) {
      await dispute(id, "won");
      expect(await stateOf(account)).toBe("active");
    }
    expect(await books.operations(account)).toEqual([
      ["credit", usd("20")],
      ["bonus", usd("2")],
      ["reversal", usd("-5.5")],
      ["reversal", usd("-16.5")],
      ["restore", usd("16.5")],
    ]);
    expect(await refusalCode(dispute(id, "open"))).toBe("wrong_state");
  });

  test("lost keeps refunded and lost money away, and at most the credit", async () => {
    const account = await books.account();
    const { id } = await pay(account, "20");
    const partly = { state: "open", amount: usd("8"), actor: "stripe" } as const;
    await disputePayment(books.deps, id, partly);
    await refundPayment(books.deps, id, { target: usd("5"), actor: "stripe" });
    await disputePayment(books.deps, id, { ...partly, state: "lost" });
    expect(await books.operations(account)).toEqual([
      ["credit", usd("20")],
      ["reversal", usd("-20")],
      ["restore", usd("7")],
    ]);
    await expect(refund(id, "7.1")).rejects.toThrow("at most $7, but is $7.1");
    await refundPayment(books.deps, id, { target: usd("20"), actor: "stripe" });
    expect((await books.operations(account)).at(-1)).toEqual(["reversal", usd("-7")]);
    expect(await stateOf(account)).toBe("active");
  });

  test("one of two that is decided leaves the account suspended; no top-up lifts it", async () => {
    const account = await books.account();
    const [one, two] = [await pay(account, "5"), await pay(account, "6")];
    await dispute(one.id, "open");
    await dispute(two.id, "open");
    await dispute(one.id, "lost");
    await pay(account, "100");
    expect(await stateOf(account)).toBe("suspended (dispute)");
    await dispute(two.id, "won");
    expect(await stateOf(account)).toBe("active");
  });

  test("an operator's suspension stays, and an operator ends no dispute", async () => {
    const account = await books.account();
    const { id } = await pay(account, "5");
    const act = (kind: "suspend" | "resume") => changeAccount(books.deps, account.id, { kind });
    await act("suspend");
    await dispute(id, "open");
    expect(await stateOf(account)).toBe("suspended (operator)");
    await act("resume");
    expect(await stateOf(account)).toBe("suspended (dispute)");
    expect(await refusalCode(act("resume"))).toBe("wrong_state");
    await act("suspend");
    await dispute(id, "won");
    expect(await stateOf(account)).toBe("suspended (operator)");
    await act("resume");
    expect(await stateOf(account)).toBe("active");
  });

  test("of a closed account is booked, and the account stays closed", async () => {
    const account = await books.account();
    const { id } = await pay(account, "5");
    await changeAccount(books.deps, account.id, { kind: "close" });
    await dispute(id, "open");
    await dispute(id, "lost");
    expect(await stateOf(account)).toBe("closed (operator)");
    expect(await books.operations(account)).toEqual([
      ["credit", usd("5")],
      ["reversal", usd("-5")],
    ]);
  });

  test("that an operator decides for the wrong payment is refused", async () => {
    const account = await books.account();
    const { id } = await pay(account, "5");
    expect(await refusalCode(dispute(id, "won"))).toBe("wrong_state");
    await refund(id, null);
    expect(await refusalCode(dispute(id, "open"))).toBe("wrong_state");
  });
});

describe("the tier", () => {
  test("counts payments net of refunds and lost disputes, and no bonus", async () => {
    const account = await books.account();
    const [first, second] = [new Date("2026-01-01"), new Date("2026-02-01")];
    const one = await pay(account, "10", { paidAt: first, bonus: usd("90") });
    const two = await pay(account, "40", { paidAt: second });
    const inputs = async () => {
      const { net_paid, first_payment_ms } = await books.tierInputs(account);
      return [BigInt(net_paid), first_payment_ms];
    };
    expect(await inputs()).toEqual([usd("50"), first.getTime()]);
    await refund(one.id, "4");
    expect(await inputs()).toEqual([usd("46"), first.getTime()]);
    await dispute(one.id, "open");
    expect(await inputs()).toEqual([usd("46"), first.getTime()]);
    await dispute(one.id, "lost");
    expect(await inputs()).toEqual([usd("40"), second.getTime()]);
    await dispute(one.id, "won");
    expect(await inputs()).toEqual([usd("46"), first.getTime()]);
    await refund(one.id, null);
    await refund(two.id, null);
    expect(await inputs()).toEqual([0n, null]);
  });
});

describe("an adjustment", () => {
  test("gives or takes once for each reference, at once too, and answers the first", async () => {
    const account = await books.account();
    const adjust = (amount: string, reference: string | null) =>
      adjustBalance(books.deps, account.id, { amount: usd(amount), reason: "test", reference });
    const all = await Promise.all(Array.from({ length: 10 }, () => adjust("-3", "A")));
    expect(new Set(all.map(({ operation }) => operation.number)).size).toBe(1);
    expect((await adjust("-3", "A")).operation).toMatchObject({ amount: usd("-3"), number: 2 });
    await adjust("7", "B");
    await adjust("7", null);
    const terms = { amount: usd("1"), reason: "goodwill", reference: "F" };
    await forgiveOwed(books.deps, account.id, terms);
    await forgiveOwed(books.deps, account.id, terms);
    expect(await books.operations(account)).toEqual([
      ["adjustment", usd("-3")],
      ["adjustment", usd("7")],
      ["adjustment", usd("7")],
      ["forgiven", usd("1")],
    ]);
  });

  test("gives a closed account nothing, but may take the rest", async () => {
    const account = await books.account();
    await changeAccount(books.deps, account.id, { kind: "close" });
    const adjust = (amount: string) =>
      adjustBalance(books.deps, account.id, { amount: usd(amount), reason: "x", reference: null });
    expect(await refusalCode(adjust("1"))).toBe("closed");
    expect(await refusalCode(adjust("-1"))).toBe("done");
  });
});

test("operations of an account are numbered without gaps, whatever is booked at once", async () => {
  const account = await books.account();
  const { id } = await pay(account, "100");
  await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      if (n % 3 === 0) await pay(account, "1");
      else if (n % 3 === 1) await refund(id, "2");
      else {
        const terms = { amount: usd("1"), reason: "x", reference: null };
        await adjustBalance(books.deps, account.id, terms);
      }
    }),
  );
  const numbers = (await books.repository.operationsAfter(account.id, 0)).map((o) => o.number);
  expect(numbers).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
});
