// Tests the months of a plan, and the cost of a higher plan for the rest of a month.

import { expect, test } from "bun:test";
import { usd } from "../../../../src/core/money/money.ts";
import { periodEnd, upgradeFee } from "../../../../src/core/money/plan-terms.ts";

const at = (text: string) => new Date(`${text}:00Z`);

test("the months of a plan that began on the 31st end on the last day of shorter months", () => {
  const anchor = at("2027-12-31T09:30");
  const ends: string[] = [];
  for (let time = anchor; ends.length < 13; ) {
    time = periodEnd(anchor, time);
    ends.push(time.toISOString().slice(0, 16));
  }
  expect(ends.slice(0, 4)).toEqual([
    "2028-01-31T09:30",
    "2028-02-29T09:30",
    "2028-03-31T09:30",
    "2028-04-30T09:30",
  ]);
  expect(ends.at(-1)).toBe("2029-01-31T09:30");
});

test("a time belongs to the month that ends next", () => {
  const anchor = at("2027-01-31T12:00");
  for (const [time, end] of [
    ["2027-01-31T12:00", "2027-02-28T12:00"],
    ["2027-02-28T11:59", "2027-02-28T12:00"],
    ["2027-02-28T12:00", "2027-03-31T12:00"],
    ["2027-03-01T00:00", "2027-03-31T12:00"],
    ["2028-02-29T12:00", "2028-03-31T12:00"],
  ] as const) {
    expect(periodEnd(anchor, at(time))).toEqual(at(end));
  }
});

test("a higher plan costs the difference for the remaining time, rounded up to a cent", () => {
  const period = { anchor: at("2027-03-01T00:00"), paidUntil: at("2027-05-01T00:00") };
  const prices = { from: usd("9"), to: usd("29") };
  expect(upgradeFee(prices, period, at("2027-04-01T00:00"))).toBe(usd("20"));
  expect(upgradeFee(prices, period, at("2027-04-16T00:00"))).toBe(usd("10"));
  expect(upgradeFee(prices, period, at("2027-04-20T08:00"))).toBe(usd("7.12"));
  // A second charge pays for the next month.
  expect(upgradeFee(prices, period, at("2027-03-16T12:00"))).toBe(usd("30"));
});

test("an amount below the least that a card can be charged is not charged", () => {
  const period = { anchor: at("2027-03-01T00:00"), paidUntil: at("2027-05-01T00:00") };
  const prices = { from: usd("9"), to: usd("29") };
  expect(upgradeFee(prices, period, at("2027-04-30T12:00"))).toBe(usd("0"));
  expect(upgradeFee(prices, period, at("2027-05-02T00:00"))).toBe(usd("0"));
});
