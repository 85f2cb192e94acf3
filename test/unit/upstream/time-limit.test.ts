// Tests the one signal of a time limit and of a caller who may leave.

import { expect, test } from "bun:test";
import { RouteFailure } from "../../../src/upstream/route-failure.ts";
import { TimeLimit } from "../../../src/upstream/time-limit.ts";
import { eventually } from "../../support/eventually.ts";

const LONG_MS = 60_000;

test("a time that passes aborts with a failure of the server", async () => {
  const { signal } = new TimeLimit(1);
  await eventually("the time is over", () => signal.aborted);
  expect(signal.reason).toBeInstanceOf(RouteFailure);
});

test("a caller who leaves, or has left, aborts with their own reason", () => {
  const caller = new AbortController();
  const before = new TimeLimit(LONG_MS, caller.signal);
  const reason = new Error("the caller left");
  caller.abort(reason);
  const after = new TimeLimit(LONG_MS, caller.signal);
  for (const limit of [before, after]) {
    expect(limit.signal.aborted).toBe(true);
    expect(limit.signal.reason).toBe(reason);
    limit.end();
  }
});

test("after its end nothing aborts: neither the caller nor the time", async () => {
  const caller = new AbortController();
  const limits = [new TimeLimit(LONG_MS, caller.signal), new TimeLimit(1)];
  for (const limit of limits) limit.end();
  caller.abort();
  const later = new TimeLimit(2);
  await eventually("a later time is over", () => later.signal.aborted);
  expect(limits.map(({ signal }) => signal.aborted)).toEqual([false, false]);
});
