// Tests when requests to providers end because the caller has left.

import { expect, test } from "bun:test";
import { CallerWatch } from "../../../src/calls/caller-watch.ts";
import { Cancellation } from "../../../src/core/cancellation.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";

const LISTEN_AFTER_MS = 250;

function setUp() {
  const clock = new FakeClock();
  const caller = new Cancellation();
  return { clock, caller, watch: new CallerWatch(clock, caller) };
}

test("a caller who leaves ends the request, in a young call a quarter of a second later", () => {
  const young = setUp();
  young.watch.begin();
  young.caller.abort();
  young.clock.advance(LISTEN_AFTER_MS);
  const old = setUp();
  old.watch.begin();
  old.clock.advance(LISTEN_AFTER_MS);
  expect(old.watch.aborted).toBe(false);
  old.caller.abort();
  expect([young.watch.aborted, old.watch.aborted]).toEqual([true, true]);
});

test("no other request begins once the caller has left, however young the call is", () => {
  const { caller, watch } = setUp();
  watch.begin();
  caller.abort();
  watch.end();
  expect(() => watch.begin()).toThrow();
  expect(watch.aborted).toBe(true);
});

test("a caller who leaves after the call ends nothing", () => {
  const { clock, caller, watch } = setUp();
  clock.advance(LISTEN_AFTER_MS);
  watch.close();
  caller.abort();
  expect(watch.aborted).toBe(false);
});
