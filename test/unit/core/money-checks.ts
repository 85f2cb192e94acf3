// Checks the guarantees of src/core/money/money.ts: money.test.ts runs them against the source,
// mutants.test.ts against copies with a fault.

import { expect } from "bun:test";
import fc from "fast-check";
import type { NanoUsd, PicoUsd } from "../../../src/core/money/money.ts";
import type { Checks } from "./source-mutants.ts";

type Money = typeof import("../../../src/core/money/money.ts");

const nanoUsd = (count: bigint) => count as NanoUsd;
const pico = (count: bigint) => count as PicoUsd;
const TOP = 9_007_199_254_740_991n;

const amounts = fc.bigInt({ min: -TOP, max: TOP }).map(nanoUsd);

/** Each text is printed for the amount, and read as the amount. */
const DIGITS: readonly (readonly [nano: bigint, text: string])[] = [
  [0n, "0"],
  [1n, "0.000000001"],
  [100n, "0.0000001"],
  [37_500n, "0.0000375"],
  [1_000_000n, "0.001"],
  [999_999_999n, "0.999999999"],
  [1_000_000_000n, "1"],
  [1_500_000_000n, "1.5"],
  [10_000_000_000n, "10"],
  [250_000_000_000_000n, "250000"],
  [TOP, "9007199.254740991"],
  [-1n, "-0.000000001"],
  [-1_500_000_000n, "-1.5"],
];

const NOT_DECIMAL = ["", " ", "1 ", "+1", ".5", "5.", "1e3", "1,5", "--1", "0x1", "NaN", "1.2.3"];

export const TEXT_CHECKS: Checks<Money> = {
  "an amount is printed exactly, without an exponent and without zeros at its end": (money) => {
    for (const [nano, text] of DIGITS) expect(money.toDecimal(nanoUsd(nano))).toBe(text);
  },

  "a decimal is read exactly": ({ usd }) => {
    for (const [nano, text] of DIGITS) expect(usd(text)).toBe(nanoUsd(nano));
    expect(usd("0.0010")).toBe(nanoUsd(1_000_000n));
    expect(usd("000000000007.500000000")).toBe(nanoUsd(7_500_000_000n));
    expect(usd("-0")).toBe(nanoUsd(0n));
  },

  "every amount is read as what it is printed": ({ usd, toDecimal }) => {
    fc.assert(fc.property(amounts, (amount) => expect(usd(toDecimal(amount))).toBe(amount)));
  },

  "what is no plain decimal, or has more than 9 decimals, is refused": ({ usd }) => {
    for (const text of [...NOT_DECIMAL, "0.0000000001", "1.0000000000"]) {
      expect(() => usd(text)).toThrow(RangeError);
    }
  },

  "JSON carries the digits themselves: never 1e-7, and whole to the last nano": (money) => {
    const json = (amount: bigint) => JSON.stringify({ cost: money.toJsonNumber(nanoUsd(amount)) });
    expect(json(100n)).toBe('{"cost":0.0000001}');
    expect(json(1n)).toBe('{"cost":0.000000001}');
    expect(json(0n)).toBe('{"cost":0}');
    expect(json(TOP)).toBe('{"cost":9007199.254740991}');
    expect(json(-1_500_000_000n)).toBe('{"cost":-1.5}');
    const print = (amount: bigint) => `{"cost":${money.toDecimal(nanoUsd(amount))}}`;
    fc.assert(fc.property(amounts, (amount) => expect(json(amount)).toBe(print(amount))));
  },

  "an amount is a number in JSON where that prints the same digits": ({ toJsonNumber }) => {
    for (const amount of [0n, 1_000n, 5_000_000n, -1_500_000_000n]) {
      expect(toJsonNumber(nanoUsd(amount))).toBe(Number(amount) / 1e9);
    }
    expect(toJsonNumber(nanoUsd(999n))).toBeObject();
  },
};

export const BOUNDS_CHECKS: Checks<Money> = {
  "an amount reaches to 2^53 - 1 nano-USD on either side and no further": (money) => {
    const { nano, usd, AMOUNT_MAX } = money;
    expect(AMOUNT_MAX).toBe(nanoUsd(2n ** 53n - 1n));
    expect(nano(TOP)).toBe(nanoUsd(TOP));
    expect(nano(-TOP)).toBe(nanoUsd(-TOP));
    expect(nano(String(TOP))).toBe(nanoUsd(TOP));
    for (const count of [TOP + 1n, -TOP - 1n]) {
      expect(() => nano(count)).toThrow(RangeError);
      expect(() => nano(String(count))).toThrow(RangeError);
    }
    expect(usd("9007199.254740991")).toBe(nanoUsd(TOP));
    for (const text of [
      "9007199.254740992",
      "-9007199.254740992",
      "9999999999999",
      "1".repeat(99),
    ]) {
      expect(() => usd(text)).toThrow(`'${text}' is beyond 9007199.254740991`);
    }
  },

  "no sum, difference or charge leaves the bounds in silence": ({ add, subtract, charge }) => {
    const [top, one] = [nanoUsd(TOP), nanoUsd(1n)];
    expect(() => add(top, one)).toThrow(RangeError);
    expect(() => subtract(nanoUsd(-TOP), one)).toThrow(RangeError);
    expect(charge([[1, pico(TOP * 1_000n)]])).toBe(top);
    expect(() => charge([[1, pico(TOP * 1_000n + 1n)]])).toThrow(RangeError);
  },

  "sums, differences and minima are those of whole numbers": ({
    add,
    subtract,
    min,
    ZERO,
    USD,
  }) => {
    const [two, five] = [nanoUsd(2n), nanoUsd(5n)];
    expect([add(), add(two), add(two, five, five)]).toEqual([ZERO, two, nanoUsd(12n)]);
    expect([subtract(five, two), subtract(two, five)]).toEqual([nanoUsd(3n), nanoUsd(-3n)]);
    expect([min(two, five), min(five, two), min(nanoUsd(-5n), two)]).toEqual([
      two,
      two,
      nanoUsd(-5n),
    ]);
    expect([ZERO, USD]).toEqual([nanoUsd(0n), nanoUsd(1_000_000_000n)]);
  },
};

export const PRICE_CHECKS: Checks<Money> = {
  "a price is whole pico-USD a unit": ({ price }) => {
    expect(price("0.15", 1_000_000)).toBe(pico(150_000n));
    expect(price("0.0375", 1_000_000)).toBe(pico(37_500n));
    expect(price("0.000001", 1_000_000)).toBe(pico(1n));
    expect(price("0.0500", 1_000)).toBe(pico(50_000_000n));
    expect(price("5", 1)).toBe(pico(5_000_000_000_000n));
    expect(price("0", 1_000)).toBe(pico(0n));
  },

  "a price that is negative, no decimal or finer than a pico-USD a unit is refused": ({
    price,
  }) => {
    expect(() => price("-0.15", 1_000_000)).toThrow("negative");
    expect(() => price("0.0000001", 1_000_000)).toThrow("finer");
    expect(() => price("0.01", 3)).toThrow("finer");
    for (const text of NOT_DECIMAL) expect(() => price(text, 1)).toThrow(RangeError);
  },

  "a charge sums exactly and is rounded up once": ({ charge }) => {
    expect(charge([])).toBe(nanoUsd(0n));
    expect(charge([[0, pico(1n)]])).toBe(nanoUsd(0n));
    expect(charge([[1, pico(1n)]])).toBe(nanoUsd(1n));
    expect(charge([[1, pico(1_000n)]])).toBe(nanoUsd(1n));
    expect(charge([[1, pico(1_001n)]])).toBe(nanoUsd(2n));
    const parts = [
      [1, pico(1n)],
      [1, pico(999n)],
      [3, pico(1_000n)],
    ] as const;
    expect(charge(parts)).toBe(nanoUsd(4n));
  },

  "a charge of any size is exact, or refused as beyond any amount": ({ charge }) => {
    const quantity = fc.integer({ min: -(2 ** 31), max: 2 ** 31 });
    const unit = fc.bigInt({ min: 0n, max: 2n ** 31n }).map(pico);
    fc.assert(
      fc.property(fc.array(fc.tuple(quantity, unit), { maxLength: 4 }), (parts) => {
        const exact = parts.reduce((sum, [count, price]) => sum + BigInt(count) * price, 0n);
        fc.pre(exact >= 0n);
        const rounded = nanoUsd((exact + 999n) / 1_000n);
        if (rounded > TOP) expect(() => charge(parts)).toThrow(RangeError);
        else expect(charge(parts)).toBe(rounded);
      }),
    );
    expect(charge([[1, pico(TOP * 1_000n)]])).toBe(nanoUsd(TOP));
    expect(() => charge([[1, pico(TOP * 1_000n + 1n)]])).toThrow(RangeError);
    const [odd, many] = [2 ** 53 - 1, 2 ** 53 - 3];
    expect(charge([[odd, pico(500n)]])).toBe(nanoUsd(2n ** 52n));
    const parts = [
      [odd, pico(500n)],
      [-many, pico(500n)],
    ] as const;
    expect(charge(parts)).toBe(nanoUsd(1n));
  },

  "a quantity that is not whole is no quantity": ({ charge }) => {
    expect(() => charge([[0.5, pico(2n)]])).toThrow(RangeError);
    expect(() => charge([[0.5, pico(1n)]])).toThrow(RangeError);
    expect(() => charge([[Number.NaN, pico(1n)]])).toThrow(RangeError);
  },

  "the affordable quantity costs at most what is there, and one more costs more": (money) => {
    const { affordableQuantity, charge } = money;
    const quantity = fc.nat({ max: 1_000_000 });
    const unit = fc.bigInt({ min: 1n, max: 50_000_000n }).map(pico);
    const available = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(nanoUsd);
    fc.assert(
      fc.property(available, unit, quantity, unit, (amount, one, other, otherUnit) => {
        const parts = [[other, otherUnit]] as const;
        const most = affordableQuantity(amount, one, parts);
        const fits = (count: number) => charge([[count, one], ...parts]) <= amount;
        expect([most === 0 || fits(most), fits(most + 1)]).toEqual([true, false]);
      }),
    );
    expect(affordableQuantity(nanoUsd(-1n), pico(0n))).toBe(0);
    expect(affordableQuantity(nanoUsd(0n), pico(0n))).toBe(9_007_199_254_740_991);
  },

  "a price is printed per million and per unit in plain digits": (money) => {
    const million = (unit: bigint) => JSON.stringify(money.pricePerMillion(pico(unit)));
    expect([million(150_000n), million(37_500n), million(1n)]).toEqual([
      "0.15",
      "0.0375",
      "0.000001",
    ]);
    expect(money.pricePerUnit(pico(150_000n))).toBe("0.00000015");
    expect(money.pricePerUnit(pico(1n))).toBe("0.000000000001");
    expect(money.pricePerUnit(pico(0n))).toBe("0");
    expect(money.pricePerUnit(pico(5_000_000_000_000n))).toBe("5");
  },
};
