import { describe, expect, test } from "bun:test";
import { Breaker } from "../../src/upstream/breaker.ts";

function setUp() {
  const clock = { ms: 1_000 };
  const breaker = new Breaker(() => clock.ms);
  const enter = () => breaker.enter(100);
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) enter()?.leave("failed");
  };
  return { clock, breaker, enter, fail };
}

describe("Breaker", () => {
  test("gives a place to as many requests as may be under way, and again after they left", () => {
    const { breaker } = setUp();
    const places = [breaker.enter(2), breaker.enter(2)];
    expect(breaker.enter(2)).toBeNull();
    places[0]?.leave("neither");
    expect(breaker.enter(2)).not.toBeNull();
    expect(breaker.enter(2)).toBeNull();
  });

  test("opens after five failures in a row and not before", () => {
    const { enter, fail } = setUp();
    fail(4);
    enter()?.leave("ok");
    fail(4);
    expect(enter()).not.toBeNull();
    fail(1);
    expect(enter()).toBeNull();
  });

  test("does not count what says nothing about the provider", () => {
    const { enter, fail } = setUp();
    fail(4);
    for (let count = 0; count < 10; count += 1) enter()?.leave("neither");
    expect(enter()).not.toBeNull();
  });

  test("lets one probe through after the back-off and closes when it succeeds", () => {
    const { clock, enter, fail } = setUp();
    fail(5);
    clock.ms += 9_999;
    expect(enter()).toBeNull();
    clock.ms += 1;
    const probe = enter();
    expect(probe).not.toBeNull();
    expect(enter()).toBeNull();
    probe?.leave("ok");
    expect(enter()).not.toBeNull();
    expect(enter()).not.toBeNull();
  });

  test("doubles the back-off with each failed probe up to a minute, and starts anew", () => {
    const { clock, enter, fail } = setUp();
    fail(5);
    for (const backOffMs of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      clock.ms += backOffMs - 1;
      expect(enter()).toBeNull();
      clock.ms += 1;
      const probe = enter();
      expect(probe).not.toBeNull();
      probe?.leave("failed");
    }
    clock.ms += 60_000;
    enter()?.leave("ok");
    fail(5);
    clock.ms += 10_000;
    expect(enter()).not.toBeNull();
  });

  test("lets the next probe through when one was called off", () => {
    const { clock, enter, fail } = setUp();
    fail(5);
    clock.ms += 10_000;
    enter()?.leave("neither");
    const probe = enter();
    expect(probe).not.toBeNull();
    expect(enter()).toBeNull();
  });

  test("lets others through as soon as a probe is answered, though its stream goes on", () => {
    const { clock, enter, fail } = setUp();
    fail(5);
    clock.ms += 10_000;
    const probe = enter();
    probe?.answered();
    expect(enter()).not.toBeNull();
    // It is on probation: one more failure, and it is given up for twice as long.
    probe?.leave("failed");
    clock.ms += 19_999;
    expect(enter()).toBeNull();
    clock.ms += 1;
    expect(enter()).not.toBeNull();
  });

  test("is not kept open by requests that began before it opened", () => {
    const { clock, breaker, fail } = setUp();
    const early = Array.from({ length: 20 }, () => breaker.enter(100));
    fail(5);
    for (const place of early) {
      clock.ms += 1_000;
      if (breaker.enter(100) !== null) break;
      place?.leave("failed");
    }
    expect(clock.ms).toBe(11_000);
  });

  test("counts a place that is left twice once", () => {
    const { breaker } = setUp();
    const place = breaker.enter(1);
    place?.leave("failed");
    place?.leave("failed");
    expect(breaker.enter(1)).not.toBeNull();
    expect(breaker.enter(1)).toBeNull();
  });
});
