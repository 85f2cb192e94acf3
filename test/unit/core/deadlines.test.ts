// Tests time limits that share a timer by their length.

import { expect, test } from "bun:test";
import { Deadlines } from "../../../src/core/deadlines.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";

function setUp() {
  const clock = new FakeClock();
  const told: string[] = [];
  let timers = 0;
  const deadlines = new Deadlines({
    monotonicMs: () => clock.monotonicMs(),
    strikeAfter: (delayMs, strike) => {
      timers += 1;
      clock.after(delayMs, strike);
    },
  });
  return {
    clock,
    told,
    timers: () => timers,
    begin: (limitMs: number, name: string, expire = () => void told.push(name)) =>
      deadlines.begin(limitMs, { expire }),
  };
}

test("each owner is called at its own time, in the order in which they are due", () => {
  const { clock, told, begin } = setUp();
  begin(100, "long");
  begin(30, "short");
  clock.advance(20);
  begin(30, "later");
  clock.advance(9);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual(["short"]);
  clock.advance(20);
  expect(told).toEqual(["short", "later"]);
  clock.advance(50);
  expect(told).toEqual(["short", "later", "long"]);
});

test("an ended deadline calls no owner, wherever it stands in the queue", () => {
  for (const ended of [[0], [1], [2], [0, 1], [1, 2], [0, 2], [2, 1, 0], [0, 0]]) {
    const { clock, told, begin } = setUp();
    const all = ["a", "b", "c"].map((name) => begin(10, name));
    for (const index of ended) all[index]?.end();
    begin(10, "last");
    clock.advance(10);
    const left = ["a", "b", "c"].filter((_, index) => !ended.includes(index));
    expect([ended, told]).toEqual([ended, [...left, "last"]]);
  }
});

test("an end after its time changes nothing", () => {
  const { clock, told, begin } = setUp();
  const first = begin(10, "first");
  clock.advance(10);
  begin(10, "next");
  first.end();
  clock.advance(10);
  expect(told).toEqual(["first", "next"]);
});

test("deadlines of one length share one timer, and an unused timer ends with its time", () => {
  const { clock, begin, timers } = setUp();
  for (let calls = 0; calls < 1_000; calls += 1) {
    begin(1_000, "call").end();
    clock.advance(1);
  }
  expect(timers()).toBe(1);
  clock.advance(1_000);
  expect([timers(), clock.pending]).toEqual([1, 0]);
});

test("an owner that begins a deadline, or ends another due one, disturbs no other", () => {
  const { clock, told, begin } = setUp();
  const victim: { end(): void }[] = [];
  begin(10, "a", () => {
    told.push("a");
    begin(10, "from a");
    victim[0]?.end();
  });
  victim.push(begin(10, "b"));
  begin(10, "c");
  clock.advance(10);
  expect(told).toEqual(["a", "c"]);
  clock.advance(10);
  expect(told).toEqual(["a", "c", "from a"]);
});

test("an owner that throws does not keep the others from being called", () => {
  const { clock, told, begin } = setUp();
  begin(10, "bad", () => {
    throw new Error("a fault");
  });
  begin(10, "good");
  expect(() => clock.advance(10)).toThrow("a fault");
  clock.advance(0);
  expect(told).toEqual(["good"]);
});

test("an ended deadline that is kept keeps none of the later ones", () => {
  const { clock, begin } = setUp();
  const kept = begin(10, "kept");
  const owners: WeakRef<() => void>[] = [];
  // Each deadline ends after the next has begun, as those of simultaneous calls do.
  let last = kept;
  for (let calls = 0; calls < 1_000; calls += 1) {
    const expire = () => void calls;
    owners.push(new WeakRef(expire));
    const next = begin(10, "later", expire);
    last.end();
    last = next;
  }
  last.end();
  clock.advance(10);
  Bun.gc(true);
  // The engine may still have the last few on its stack.
  expect(owners.filter((owner) => owner.deref() !== undefined).length).toBeLessThan(10);
  kept.end();
});
