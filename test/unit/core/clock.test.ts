import { expect, test } from "bun:test";
import { wait } from "../../../src/core/clock.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";

test("a wait ends with its signal, and leaves no timer", async () => {
  const clock = new FakeClock();
  const leaving = new AbortController();
  const waiting = wait({ clock }, 60_000, leaving.signal);
  expect(clock.pending).toBe(1);
  leaving.abort();
  await waiting;
  expect(clock.pending).toBe(0);
  await wait({ clock }, 60_000, leaving.signal);
  expect(clock.pending).toBe(0);
});

test("a wait ends after its time", async () => {
  const clock = new FakeClock();
  const waiting = wait({ clock }, 60_000, new AbortController().signal);
  clock.advance(60_000);
  await waiting;
  expect(clock.pending).toBe(0);
});
