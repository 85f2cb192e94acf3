// Tests the days and months of a usage query in every time zone: each has one start, the first
// moment of its date, even if the clock shows midnight twice, or skips it.

import { expect, test } from "bun:test";
import { fromWall } from "../../../dashboard/src/time.ts";
import { UnknownZone, zoneBorders } from "../../../src/store/usage/usage.ts";
import { shared } from "../../support/shared.ts";
import { openTestDatabase } from "../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());
const QUARTER_MS = 900_000;
const ZONES = Intl.supportedValuesOf("timeZone");

async function begins(zone: string, year: number, unit: "day" | "month"): Promise<number[] | null> {
  const [fromMs, toMs] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)];
  // Postgres may know fewer names.
  return await zoneBorders(database, { fromMs, toMs, zone, unit }).catch((error: unknown) => {
    if (error instanceof UnknownZone) return null;
    throw error;
  });
}

// Past years, which are the same in every version of the tz database. In 2011 Samoa skipped a day.
test.each([2011, 2024])("every date of %d has one begin in every zone", async (year) => {
  let zones = 0;
  for (const zone of ZONES) {
    const days = await begins(zone, year, "day");
    if (days === null) continue;
    zones += 1;
    const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
    const dates = days.map((ms) => format.format(ms));
    expect([zone, new Set(dates).size]).toEqual([zone, dates.length]);
    expect([zone, dates]).toEqual([zone, dates.toSorted()]);
    expect([zone, dates.length >= 363]).toEqual([zone, true]);
    for (const [at, ms] of days.entries()) {
      expect([zone, ms % QUARTER_MS]).toEqual([zone, 0]);
      const before = format.format(ms - QUARTER_MS);
      expect([zone, dates[at], before < (dates[at] ?? "")]).toEqual([zone, dates[at], true]);
    }
    const months = (await begins(zone, year, "month")) ?? [];
    expect([zone, months]).toEqual([zone, days.filter((ms) => format.format(ms).endsWith("-01"))]);
  }
  expect(zones).toBeGreaterThan(300);
});

test.each([
  ["Atlantic/Azores", "2026-10-25T00:00:00.000Z", 25],
  ["America/Havana", "2026-11-01T04:00:00.000Z", 25],
  ["Atlantic/Azores", "2026-03-29T01:00:00.000Z", 23],
  ["America/Santiago", "2026-09-06T04:00:00.000Z", 23],
] as const)(
  "%s: the day that begins at %s has %d hours, and the page begins it there",
  async (...row) => {
    const [zone, begin, hours] = row;
    const fromMs = Date.parse(begin);
    const [next] = await zoneBorders(database, {
      fromMs,
      toMs: fromMs + 2 * 86_400_000,
      zone,
      unit: "day",
    });
    expect(((next ?? 0) - fromMs) / 3_600_000).toBe(hours);
    const inner = await zoneBorders(database, {
      fromMs: fromMs - 3_600_000,
      toMs: fromMs + 7_200_000,
      zone,
      unit: "day",
    });
    expect(inner.map((ms) => new Date(ms).toISOString())).toEqual([begin]);
    const date = new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(fromMs);
    expect(new Date(fromWall(Date.parse(date), zone)).toISOString()).toBe(begin);
  },
);
