import { expect, test } from "bun:test";
import { seldom } from "../../src/core/log.ts";

test("an error that repeats is logged at once, and then once in ten seconds", () => {
  let nowMs = 1_000_000;
  const lines: object[] = [];
  const warn = seldom(
    () => nowMs,
    (fields) => lines.push(fields),
  );
  for (let times = 0; times < 100; times += 1) warn("first");
  expect(lines).toEqual([{ err: "first", omitted: 0 }]);
  nowMs += 9_999;
  warn("first");
  expect(lines).toHaveLength(1);
  nowMs += 1;
  warn("second");
  warn("second");
  expect(lines[1]).toEqual({ err: "second", omitted: 100 });
  nowMs += 10_000;
  warn("third");
  expect(lines[2]).toEqual({ err: "third", omitted: 1 });
});

test("an error is logged although the clock was set back", () => {
  let nowMs = 1_000_000;
  const lines: object[] = [];
  const warn = seldom(
    () => nowMs,
    (fields) => lines.push(fields),
  );
  warn("before");
  nowMs -= 500_000;
  warn("after");
  expect(lines).toEqual([
    { err: "before", omitted: 0 },
    { err: "after", omitted: 0 },
  ]);
});
