// Tests that work in turns follows the clock, and not how often a timer fires.

import { expect, test } from "bun:test";
import { Turns } from "../../../src/core/turns.ts";

const PARTS = Array.from({ length: 16 }, (_, part) => part);

/** Eight turns a second, from a moment within a turn. */
function eightTurns() {
  const clock = { ms: Date.parse("2026-11-28T12:00:00.050Z") };
  const turns = new Turns({ everyMs: 1_000, count: 8, now: () => clock.ms });
  const dueAfter = (ms: number) => {
    clock.ms += ms;
    const isDue = turns.due();
    return PARTS.filter((part) => isDue(part));
  };
  return { dueAfter };
}

test("with a timer in time, each part is due once in eight turns, an eighth at a time", () => {
  const { dueAfter } = eightTurns();
  const turns = Array.from({ length: 8 }, () => dueAfter(125));
  expect(turns.map((parts) => parts.length)).toEqual(turns.map(() => PARTS.length / 8));
  expect(turns.flat().toSorted((a, b) => a - b)).toEqual(PARTS);
});

test("a timer that fires every 300 ms finds each part due within 1.3 s", () => {
  const { dueAfter } = eightTurns();
  const lastMs = new Map<number, number>(PARTS.map((part) => [part, 0]));
  for (let ms = 300; ms <= 30_000; ms += 300) {
    for (const part of dueAfter(300)) {
      expect(ms - (lastMs.get(part) ?? 0)).toBeLessThanOrEqual(1_300);
      lastMs.set(part, ms);
    }
  }
  for (const ms of lastMs.values()) expect(30_000 - ms).toBeLessThanOrEqual(1_300);
});

test("after a stall of more than all turns, each part is due once", () => {
  const { dueAfter } = eightTurns();
  expect(dueAfter(60_000)).toEqual(PARTS);
  expect(dueAfter(0)).toEqual([]);
});

test("a timer that fires early finds nothing due, and loses no turn", () => {
  const { dueAfter } = eightTurns();
  expect(dueAfter(60)).toEqual([]);
  expect(dueAfter(65)).toHaveLength(PARTS.length / 8);
});

test("a clock that is put back makes every part due, and the turns go on", () => {
  const { dueAfter } = eightTurns();
  expect(dueAfter(-3_600_000)).toEqual(PARTS);
  expect(dueAfter(125)).toHaveLength(PARTS.length / 8);
});
