// Tests when requests to providers end after the caller of a non-streamed call has left.

import { describe, expect, test } from "bun:test";
import { Cancellation } from "../../../../src/core/cancellation.ts";
import { DisconnectGrace } from "../../../../src/services/chat/disconnect-grace.ts";
import { FakeClock } from "../../../support/fakes/fake-clock.ts";

const LISTEN_AFTER_MS = 250;
const REPLY_MS = 60_000;

function setUp() {
  const clock = new FakeClock();
  const caller = new Cancellation();
  return { clock, caller, grace: new DisconnectGrace(clock, caller) };
}

describe("a request that is in progress when the caller leaves", () => {
  for (const leavesAtMs of [0, LISTEN_AFTER_MS - 1, LISTEN_AFTER_MS, 5_000]) {
    test(`may be answered for a minute, after ${leavesAtMs} ms`, () => {
      const { clock, caller, grace } = setUp();
      grace.begin();
      clock.advance(leavesAtMs);
      caller.abort();
      clock.advance(REPLY_MS - 1);
      expect(grace.aborted).toBe(false);
      clock.advance(LISTEN_AFTER_MS + 1);
      expect([grace.aborted, grace.hasTimedOut]).toEqual([true, true]);
    });
  }

  test("is followed by no other", () => {
    const { clock, caller, grace } = setUp();
    grace.begin();
    caller.abort();
    grace.end();
    expect(() => grace.begin()).toThrow();
    clock.advance(REPLY_MS + LISTEN_AFTER_MS);
    expect(grace.hasTimedOut).toBe(false);
  });
});

test("a request that waits for its turn ends when the caller leaves, or soon after", () => {
  const young = setUp();
  young.caller.abort();
  young.clock.advance(LISTEN_AFTER_MS);
  expect(young.grace.aborted).toBe(true);
  const old = setUp();
  old.clock.advance(LISTEN_AFTER_MS);
  expect(old.grace.aborted).toBe(false);
  old.caller.abort();
  expect(old.grace.aborted).toBe(true);
});

test("a caller who has left ends the call at its next request, however young it is", () => {
  const { caller, grace } = setUp();
  grace.begin();
  grace.end();
  caller.abort();
  expect(grace.aborted).toBe(false);
  expect(() => grace.begin()).toThrow();
  expect(grace.aborted).toBe(true);
});

test("a caller who has left before has no requests at all", () => {
  const caller = new Cancellation();
  caller.abort();
  const grace = new DisconnectGrace(new FakeClock(), caller);
  expect(grace.aborted).toBe(true);
  expect(() => grace.begin()).toThrow();
});

test("a request whose caller was waited for already ends at once, and has timed out", () => {
  const clock = new FakeClock();
  const caller = new Cancellation();
  const grace = new DisconnectGrace(clock, caller, 0);
  grace.begin();
  clock.advance(LISTEN_AFTER_MS);
  caller.abort();
  clock.advance(0);
  expect([grace.aborted, grace.hasTimedOut]).toEqual([true, true]);
});

test("after its end it has no timers, and a caller who leaves changes nothing", () => {
  for (const endsAtMs of [0, LISTEN_AFTER_MS]) {
    const { clock, caller, grace } = setUp();
    clock.advance(endsAtMs);
    grace.close();
    caller.abort();
    clock.advance(REPLY_MS);
    expect([grace.aborted, clock.pending]).toEqual([false, 0]);
  }
});
