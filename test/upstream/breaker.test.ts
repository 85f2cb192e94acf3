import { describe, expect, test } from "bun:test";
import { type AttemptResult, Breaker } from "../../src/upstream/breaker.ts";

function setUp() {
  const clock = { ms: 1_000 };
  const breaker = new Breaker(() => clock.ms);
  const begin = (account = "a") => breaker.begin(account);
  /** Failures of so many accounts in turn. */
  const fail = (times: number, accounts = 3, ending: AttemptResult = "failed") => {
    for (let count = 0; count < times; count += 1) begin(`acct_${count % accounts}`)?.end(ending);
  };
  return { clock, breaker, begin, fail };
}

describe("Breaker", () => {
  test("is not opened by any number of failures of fewer than three accounts", () => {
    const { begin, fail } = setUp();
    fail(500, 2);
    expect(begin()).not.toBeNull();
    begin("acct_3")?.end("failed");
    expect(begin()).toBeNull();
  });

  test("is opened by one account where the server cannot be reached at all", () => {
    const { begin, fail } = setUp();
    fail(4, 1, "unreachable");
    expect(begin()).not.toBeNull();
    fail(1, 1, "unreachable");
    expect(begin()).toBeNull();
  });

  test("opens after five failures in a row and not before", () => {
    const { begin, fail } = setUp();
    fail(4);
    begin()?.end("ok");
    fail(4);
    expect(begin()).not.toBeNull();
    fail(1);
    expect(begin()).toBeNull();
  });

  test("does not count what says nothing about the provider", () => {
    const { begin, fail } = setUp();
    fail(4);
    for (let count = 0; count < 10; count += 1) begin()?.end("ignored");
    expect(begin()).not.toBeNull();
  });

  test("lets one probe through after the back-off and closes when it succeeds", () => {
    const { clock, begin, fail } = setUp();
    fail(5);
    clock.ms += 9_999;
    expect(begin()).toBeNull();
    clock.ms += 1;
    const probe = begin();
    expect(probe).not.toBeNull();
    expect(begin()).toBeNull();
    probe?.end("ok");
    expect(begin()).not.toBeNull();
    expect(begin()).not.toBeNull();
  });

  test("doubles the back-off with each failed probe up to a minute, and starts anew", () => {
    const { clock, begin, fail } = setUp();
    fail(5);
    for (const backOffMs of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      clock.ms += backOffMs - 1;
      expect(begin()).toBeNull();
      clock.ms += 1;
      const probe = begin();
      expect(probe).not.toBeNull();
      probe?.end("failed");
    }
    clock.ms += 60_000;
    begin()?.end("ok");
    fail(5);
    clock.ms += 10_000;
    expect(begin()).not.toBeNull();
  });

  test("lets the next probe through when one was called off", () => {
    const { clock, begin, fail } = setUp();
    fail(5);
    clock.ms += 10_000;
    begin()?.end("ignored");
    const probe = begin();
    expect(probe).not.toBeNull();
    expect(begin()).toBeNull();
  });

  test("lets others through as soon as a probe is answered, though its stream goes on", () => {
    const { clock, begin, fail } = setUp();
    fail(5);
    clock.ms += 10_000;
    const probe = begin();
    probe?.answered();
    expect(begin()).not.toBeNull();
    // It is on probation: one more failure, and it is given up for twice as long.
    probe?.end("failed");
    clock.ms += 19_999;
    expect(begin()).toBeNull();
    clock.ms += 1;
    expect(begin()).not.toBeNull();
  });

  test("is not kept open by requests that began before it opened", () => {
    const { clock, breaker, fail } = setUp();
    const early = Array.from({ length: 20 }, () => breaker.begin("early"));
    fail(5);
    for (const place of early) {
      clock.ms += 1_000;
      if (breaker.begin("early") !== null) break;
      place?.end("failed");
    }
    expect(clock.ms).toBe(11_000);
  });

  test("counts a request that ends twice once", () => {
    const { begin, fail } = setUp();
    fail(3);
    const attempt = begin();
    attempt?.end("failed");
    attempt?.end("failed");
    expect(begin()).not.toBeNull();
  });
});
