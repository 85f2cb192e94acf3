// Tests the range that the usage page requests, in zones whose clocks skip midnight or have it
// twice.

import { describe, expect, test } from "bun:test";
import { isoOf, midnight } from "../../../dashboard/src/time.ts";
import { presetRange } from "../../../dashboard/src/usage-range.ts";
import { HOUR_MS } from "../../../src/core/durations.ts";

describe("midnight of a zone", () => {
  test.each([
    ["America/Santiago", "2026-09-06T04:00:00.000Z"],
    ["America/Havana", "2026-03-08T05:00:00.000Z"],
    ["Atlantic/Azores", "2026-03-29T01:00:00.000Z"],
  ])("that %s skips is the begin of that day", (zone, begin) => {
    expect(isoOf(midnight(Date.parse(begin) + 5 * HOUR_MS, zone))).toBe(begin);
    expect(isoOf(midnight(Date.parse(begin) - 5 * HOUR_MS, zone, -1))).toBe(begin);
  });

  test.each([
    "America/Santiago",
    "America/Havana",
    "Atlantic/Azores",
    "Africa/Cairo",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "UTC",
  ])("in %s is followed by the next one, every day of two years", (zone) => {
    const end = Date.parse("2028-01-01T00:00:00Z");
    const hours = new Set<number>();
    for (let at = midnight(Date.parse("2026-01-01T12:00:00Z"), zone); at < end; ) {
      const next = midnight(at, zone, -1);
      hours.add((next - at) / HOUR_MS);
      at = Math.max(next, at + HOUR_MS);
    }
    expect([...hours].every((length) => length >= 23 && length <= 25)).toBe(true);
  });
});

test("the last preset day has all its hours before a midnight that is skipped", () => {
  const evening = Date.parse("2026-09-06T02:00:00Z");
  expect(presetRange("7d", evening, "America/Santiago").to).toBe("2026-09-06T04:00:00.000Z");
});
