import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AMOUNT_MAX, type NanoUsd, nano, usd, ZERO } from "../../../../src/core/money/money.ts";
import {
  creditOf,
  lostOf,
  type PaymentStanding,
  refundableOf,
  takenBackAt,
  takenBackOf,
} from "../../../../src/core/money/payment-credit.ts";

const PAID: PaymentStanding = {
  amount: usd("10"),
  bonus: usd("1"),
  refunded: ZERO,
  disputed: ZERO,
  dispute: null,
};

const HALF = AMOUNT_MAX / 2n;
const amounts = (least: bigint, most: bigint) =>
  fc.bigInt({ min: least, max: most }).map((value) => nano(value));

/** A payment in any state that refunds and a dispute can lead to. */
const standings: fc.Arbitrary<PaymentStanding> = fc
  .record({ amount: amounts(1n, HALF), bonus: amounts(0n, HALF) })
  .chain(({ amount, bonus }) =>
    fc.record({
      amount: fc.constant(amount),
      bonus: fc.constant(bonus),
      refunded: amounts(0n, amount),
      disputed: amounts(0n, amount),
      dispute: fc.constantFrom("open", "won", "lost", null),
    }),
  );

describe("the credit that stands of a payment of $10 with $1 bonus", () => {
  const kinds: readonly (readonly [
    string,
    Partial<PaymentStanding>,
    credit: string,
    lost: string,
  ])[] = [
    ["untouched", {}, "11", "0"],
    ["half refunded", { refunded: usd("5") }, "5.5", "5"],
    ["refunded", { refunded: usd("10") }, "0", "10"],
    ["disputed", { dispute: "open", disputed: usd("4") }, "0", "0"],
    [
      "refunded and disputed",
      { refunded: usd("3"), dispute: "open", disputed: usd("7") },
      "0",
      "3",
    ],
    ["won", { refunded: usd("3"), dispute: "won" }, "7.7", "3"],
    ["partly lost", { refunded: usd("3"), dispute: "lost", disputed: usd("2") }, "5.5", "5"],
    ["lost beyond it", { refunded: usd("8"), dispute: "lost", disputed: usd("9") }, "0", "10"],
  ];
  test.each(kinds.map((kind) => [...kind] as const))("%s", (_, standing, credit, lost) => {
    const payment = { ...PAID, ...standing };
    expect(creditOf(payment)).toBe(usd(credit));
    expect(lostOf(payment)).toBe(usd(lost));
  });

  test("a dispute holds its part against refunds", () => {
    expect(refundableOf({ ...PAID, refunded: usd("3"), disputed: usd("5") })).toBe(usd("2"));
    expect(refundableOf({ ...PAID, refunded: usd("7"), disputed: usd("5") })).toBe(ZERO);
  });
});

describe("for any payment", () => {
  test("the changes of the target sum to the target, whatever steps lie between", () => {
    fc.assert(
      fc.property(fc.array(standings, { minLength: 1 }), ([first, ...others]) => {
        if (first === undefined) return;
        const { amount, bonus } = first;
        const inside = (value: NanoUsd) => (value < amount ? value : amount);
        const path = others.map((step) => ({
          ...step,
          amount,
          bonus,
          refunded: inside(step.refunded),
          disputed: inside(step.disputed),
        }));
        let credit = creditOf(first);
        for (const [index, step] of path.entries()) {
          credit = nano(credit + (creditOf(step) - creditOf(path[index - 1] ?? first)));
        }
        expect(credit).toBe(creditOf(path.at(-1) ?? first));
      }),
    );
  });

  test("the bonus goes in proportion: rounded up by less than one nano-USD, all with all", () => {
    fc.assert(
      fc.property(standings, (payment) => {
        const taken = takenBackOf(payment);
        const bonus = payment.amount + payment.bonus - creditOf(payment) - taken;
        const rest = bonus * payment.amount - payment.bonus * taken;
        expect(rest >= 0n && rest < payment.amount).toBe(true);
        if (taken === payment.amount) expect(creditOf(payment)).toBe(ZERO);
        if (taken === 0n) expect(bonus).toBe(0n);
      }),
    );
  });

  test("the credit shows the amount taken back", () => {
    fc.assert(
      fc.property(standings, (payment) => {
        expect(takenBackAt(payment, creditOf(payment))).toBe(takenBackOf(payment));
      }),
    );
  });
});
