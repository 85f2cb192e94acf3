// Tests cancellation: one object that works like an AbortController and its signal.

import { expect, test } from "bun:test";
import { abortSignalOf, Cancellation, throwIfCancelled } from "../../../src/core/cancellation.ts";

test("every listener is called once, in order, with the reason to read", () => {
  const work = new Cancellation();
  const heard: unknown[] = [];
  work.addEventListener("abort", () => heard.push(["function", work.aborted, work.reason]));
  work.addEventListener("abort", { handleEvent: () => heard.push(["object", work.reason]) });
  const reason = new Error("nobody waits");
  work.abort(reason);
  work.abort(new Error("too late"));
  expect(heard).toEqual([
    ["function", true, reason],
    ["object", reason],
  ]);
  expect(work.reason).toBe(reason);
});

test("a listener that was removed, or that comes too late, is not called", () => {
  const work = new Cancellation();
  const heard: string[] = [];
  const removed = () => heard.push("removed");
  work.addEventListener("abort", removed);
  work.addEventListener("abort", () => heard.push("stayed"));
  work.removeEventListener("abort", removed);
  work.removeEventListener("abort", removed);
  work.abort();
  work.addEventListener("abort", () => heard.push("late"));
  expect(heard).toEqual(["stayed"]);
});

test("a listener may remove others and itself while all are called", () => {
  const work = new Cancellation();
  const heard: string[] = [];
  const first = () => {
    heard.push("first");
    work.removeEventListener("abort", first);
    work.removeEventListener("abort", second);
  };
  const second = () => heard.push("second");
  work.addEventListener("abort", first);
  work.addEventListener("abort", second);
  work.abort();
  // As an AbortSignal does.
  expect(heard).toEqual(["first"]);
});

test("a listener that throws does not keep the others from being called", () => {
  const work = new Cancellation();
  const heard: string[] = [];
  work.addEventListener("abort", () => {
    throw new Error("the listener's own fault");
  });
  work.addEventListener("abort", () => heard.push("second"));
  expect(() => work.abort()).toThrow("own fault");
  expect(heard).toEqual(["second"]);
});

test("a cancellation without a reason gets one, and work that must end can throw it", () => {
  const work = new Cancellation();
  expect(() => throwIfCancelled(work)).not.toThrow();
  work.abort();
  expect(work.reason).toBeInstanceOf(DOMException);
  expect(() => throwIfCancelled(work)).toThrow("cancelled");
});

test("the platform's signal aborts with it, even if made later", () => {
  const work = new Cancellation();
  const before = abortSignalOf(work);
  expect(before.aborted).toBe(false);
  const reason = new Error("nobody waits");
  work.abort(reason);
  expect([before.aborted, before.reason]).toEqual([true, reason]);
  const after = abortSignalOf(work);
  expect([after.aborted, after.reason]).toEqual([true, reason]);
  const { signal } = new AbortController();
  expect(abortSignalOf(signal)).toBe(signal);
});
