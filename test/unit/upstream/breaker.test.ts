import { describe, expect, test } from "bun:test";
import { type AttemptResult, Breaker } from "../../../src/upstream/breaker.ts";

function setUp() {
  const clock = { ms: 1_000 };
  const breaker = new Breaker(() => clock.ms);
  const begin = (account = "other") => breaker.begin(account);
  /** Makes failures of this number of accounts in turn. */
  const fail = (times: number, accounts = 3, ending: AttemptResult = "failed") => {
    for (let count = 0; count < times; count += 1) begin(`bad_${count % accounts}`)?.end(ending);
  };
  return { clock, breaker, begin, fail };
}

/** True if a request of this account may be made now. */
const passes = ({ begin }: ReturnType<typeof setUp>, account: string) => {
  const attempt = begin(account);
  attempt?.end("ignored");
  return attempt !== null;
};

describe("a server that answers with failures", () => {
  test("is given up for the accounts that had a failure, and for no other", () => {
    const state = setUp();
    state.fail(5);
    expect(["bad_0", "bad_1", "bad_2"].map((account) => passes(state, account))).toEqual(
      Array(3).fill(false),
    );
    for (const account of ["good", "better"]) expect(passes(state, account)).toBe(true);
    expect(state.breaker.isPassable).toBe(false);
  });

  test("is not given up for any number of failures of fewer than three accounts", () => {
    const state = setUp();
    state.fail(500, 2);
    expect(passes(state, "bad_0")).toBe(true);
    state.begin("bad_2")?.end("failed");
    expect(passes(state, "bad_0")).toBe(false);
  });

  test("is given up after five failures in a row and not before", () => {
    const state = setUp();
    state.fail(4);
    expect(passes(state, "bad_0")).toBe(true);
    state.fail(1);
    expect(passes(state, "bad_0")).toBe(false);
  });

  test("is not given up within five seconds after it served any account", () => {
    const state = setUp();
    state.begin("good")?.end("ok");
    state.clock.ms += 4_999;
    state.fail(500);
    expect(passes(state, "bad_0")).toBe(true);
    state.clock.ms += 1;
    state.fail(1);
    expect(passes(state, "bad_0")).toBe(false);
    state.begin("good")?.end("ok");
    expect(passes(state, "bad_0")).toBe(true);
  });

  test("is not given up if more accounts were served in the last twenty seconds", () => {
    const state = setUp();
    state.fail(1);
    for (const account of ["a", "b", "c", "d"]) state.begin(account)?.end("ok");
    state.clock.ms += 6_000;
    state.fail(500);
    expect(passes(state, "bad_0")).toBe(true);
    state.clock.ms += 14_000;
    state.fail(1);
    expect(passes(state, "bad_0")).toBe(false);
  });

  test("counts the last result of each account only", () => {
    const state = setUp();
    state.fail(4);
    for (const account of ["bad_0", "bad_1"]) state.begin(account)?.end("ok");
    state.clock.ms += 6_000;
    for (let count = 0; count < 9; count += 1) state.begin("bad_2")?.end("failed");
    expect(passes(state, "bad_2")).toBe(true);
  });

  test.each(["refused", "ignored"] as const)("does not count requests that were %s", (result) => {
    const state = setUp();
    state.fail(500, 3, result);
    state.fail(4);
    expect(passes(state, "bad_0")).toBe(true);
    expect(state.breaker.failures).toBe(4);
  });

  test("is tried by each account by itself, after ten seconds, and closes for all by one", () => {
    const state = setUp();
    state.fail(5);
    state.clock.ms += 9_999;
    expect(passes(state, "bad_0")).toBe(false);
    state.clock.ms += 1;
    const trial = state.begin("bad_0");
    expect(trial?.isTrial).toBe(true);
    // An account waits only for its own trial.
    expect(passes(state, "bad_0")).toBe(false);
    expect(passes(state, "bad_1")).toBe(true);
    state.begin("bad_2")?.end("failed");
    expect(passes(state, "bad_2")).toBe(false);
    trial?.end("ok");
    expect(passes(state, "bad_2")).toBe(true);
  });

  test("is tried again after five seconds by an account whose trial has no answer", () => {
    const state = setUp();
    state.fail(5);
    state.clock.ms += 10_000;
    state.begin("bad_1")?.end("failed");
    state.begin("bad_0");
    state.clock.ms += 4_999;
    expect(passes(state, "bad_0")).toBe(false);
    state.clock.ms += 1;
    expect(passes(state, "bad_0")).toBe(true);
  });

  test("is given up twice as long after each failed trial, to a minute; success resets it", () => {
    const state = setUp();
    state.fail(5);
    for (const backOffMs of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      state.clock.ms += backOffMs - 1;
      expect(passes(state, "bad_0")).toBe(false);
      state.clock.ms += 1;
      for (const account of ["bad_0", "bad_1", "bad_2"]) state.begin(account)?.end("failed");
    }
    state.clock.ms += 60_000;
    for (const account of ["bad_0", "bad_1", "bad_2"]) state.begin(account)?.end("ok");
    state.clock.ms += 5_000;
    state.fail(5);
    state.clock.ms += 10_000;
    expect(passes(state, "bad_0")).toBe(true);
  });

  test("is open to all again once a trial is answered, though its stream goes on", () => {
    const state = setUp();
    state.fail(5);
    state.clock.ms += 5_000;
    state.begin("late")?.end("failed");
    state.clock.ms += 5_000;
    const trial = state.begin("bad_0");
    expect(passes(state, "late")).toBe(false);
    trial?.answered();
    expect(passes(state, "late")).toBe(true);
    // The server is on probation.
    trial?.end("failed");
    expect(passes(state, "bad_0")).toBe(false);
  });

  test("is not given up for longer by requests that began before it was", () => {
    const state = setUp();
    const early = Array.from({ length: 20 }, () => state.begin("bad_0"));
    state.fail(5);
    for (const attempt of early) {
      state.clock.ms += 1_000;
      if (passes(state, "bad_0")) break;
      attempt?.end("failed");
    }
    expect(state.clock.ms).toBe(11_000);
  });

  test("counts a failure once that is reported twice", () => {
    const state = setUp();
    state.fail(3);
    const attempt = state.begin("bad_0");
    attempt?.end("failed");
    attempt?.end("failed");
    expect(state.breaker.failures).toBe(4);
  });
});

describe("a server that cannot be reached", () => {
  test("is given up for all after five requests in a row, of any accounts", () => {
    const state = setUp();
    state.fail(4, 1, "unreachable");
    expect(passes(state, "good")).toBe(true);
    state.fail(1, 1, "unreachable");
    expect(passes(state, "good")).toBe(false);
  });

  test.each(["ok", "failed", "refused"] as const)(
    "is open again once a request is %s",
    (result) => {
      const state = setUp();
      state.fail(5, 1, "unreachable");
      state.clock.ms += 10_000;
      const trial = state.begin("a");
      expect(passes(state, "a")).toBe(false);
      trial?.end(result);
      expect(passes(state, "a")).toBe(true);
      state.fail(4, 1, "unreachable");
      expect(passes(state, "good")).toBe(true);
    },
  );

  test("is tried by each account by itself: no account waits for the trial of another", () => {
    const state = setUp();
    state.fail(5, 1, "unreachable");
    state.clock.ms += 10_000;
    const hangs = state.begin("hangs");
    expect(passes(state, "hangs")).toBe(false);
    expect(state.begin("good")).not.toBeNull();
    hangs?.end("ignored");
    expect(passes(state, "hangs")).toBe(true);
  });

  test("is given up for twice as long once, however many trials found it away", () => {
    const state = setUp();
    state.fail(5, 1, "unreachable");
    state.clock.ms += 10_000;
    const trials = ["a", "b", "c"].map((account) => state.begin(account));
    for (const trial of trials) trial?.end("unreachable");
    state.clock.ms += 19_999;
    expect(passes(state, "good")).toBe(false);
    state.clock.ms += 1;
    expect(passes(state, "good")).toBe(true);
  });
});
