// Tests that usage by days of a zone is the sum of its own calls to the last one, even on the two
// days of a year that have 23 and 25 hours, and at any start of a range.

import { beforeAll, describe, expect, test } from "bun:test";
import { LatencyCounts } from "../../../../src/core/latency-bands.ts";
import { readUsage, type UsageCell, zoneBorders } from "../../../../src/store/usage/usage.ts";
import { shared } from "../../../support/shared.ts";
import { openTestDatabase } from "../../../support/stores/test-database.ts";

const ACCOUNT = 7;
const QUARTER_MS = 900_000;
const HOUR_MS = 4 * QUARTER_MS;
const NO_FILTER = { service: null, model: null, keys: null, status: null };
const SPRING = [Date.parse("2026-03-05T00:00:00Z"), Date.parse("2026-04-02T00:00:00Z")] as const;
const AUTUMN = [Date.parse("2026-10-20T00:00:00Z"), Date.parse("2026-11-08T00:00:00Z")] as const;

/**
 * Every quarter of an hour has its own number of calls, cost and latency, so no mistake cancels
 * another.
 */
const callsOf = (ms: number) => ((ms / QUARTER_MS) % 7) + 1;
const costOf = (ms: number) => (ms / QUARTER_MS) % 1_009;
const modelOf = (ms: number) => `model-${(ms / QUARTER_MS) % 3}`;
const bandOf = (ms: number) => (ms / QUARTER_MS) % 40;

const { database } = await shared(openTestDatabase());
beforeAll(async () => {
  for (const minutes of [15, 60, 1_440]) {
    const rows = [SPRING, AUTUMN].flatMap(([from, to]) => rowsOf(minutes, from, to));
    for (let at = 0; at < rows.length; at += 1_000) {
      await database.sql`INSERT INTO usage_rollups ${database.sql(rows.slice(at, at + 1_000))}`;
    }
  }
});

function rowsOf(minutes: number, from: number, to: number) {
  const rows = new Map<
    string,
    { ms: number; model: string; calls: number; cost: number; latencies: LatencyCounts }
  >();
  for (let ms = from; ms < to; ms += QUARTER_MS) {
    const length = minutes * 60_000;
    const begin = Math.floor(ms / length) * length;
    const key = `${begin} ${modelOf(ms)}`;
    const row = rows.get(key) ?? {
      ms: begin,
      model: modelOf(ms),
      calls: 0,
      cost: 0,
      latencies: new LatencyCounts(),
    };
    row.calls += callsOf(ms);
    row.cost += costOf(ms);
    row.latencies.add(bandOf(ms), callsOf(ms));
    rows.set(key, row);
  }
  return [...rows.values()].map(({ ms, model, calls, cost, latencies }) => ({
    account: ACCOUNT,
    minutes,
    at: new Date(ms).toISOString(),
    key: 1,
    service: "models",
    model,
    status: "ok",
    calls,
    prompt_tokens: calls,
    cached_tokens: 0,
    completion_tokens: 0,
    cost,
    free_cost: 0,
    latencies: latencies.pack(),
  }));
}

/** Computes the sums from the quarters alone. */
function expected(fromMs: number, toMs: number, model: string) {
  const sums = { calls: 0, cost: 0n, latencies: new LatencyCounts() };
  for (let ms = fromMs; ms < toMs; ms += QUARTER_MS) {
    if (modelOf(ms) !== model) continue;
    sums.calls += callsOf(ms);
    sums.cost += BigInt(costOf(ms));
    sums.latencies.add(bandOf(ms), callsOf(ms));
  }
  return sums;
}

async function days(zone: string, fromMs: number, toMs: number) {
  const inner = await zoneBorders(database, { fromMs, toMs, zone, unit: "day" });
  const borders = [fromMs, ...inner, toMs];
  const asked = { account: ACCOUNT, borders, filter: NO_FILTER };
  const question = { ...asked, group: "model", tags: new Map() } as const;
  return { borders, cells: await readUsage(database, question) };
}

function check(cells: readonly UsageCell[], borders: readonly number[]): void {
  for (let step = 0; step < borders.length - 1; step += 1) {
    for (const model of ["model-0", "model-1", "model-2"]) {
      const sums = expected(borders[step] ?? 0, borders[step + 1] ?? 0, model);
      const cell = cells.find((one) => one.step === step && one.group === model);
      expect([step, model, Number(cell?.calls ?? 0), cell?.cost_usd ?? 0n]).toEqual([
        step,
        model,
        sums.calls,
        sums.cost,
      ]);
      expect(Number(cell?.prompt_tokens ?? 0)).toBe(sums.calls);
      for (const percent of [5, 50, 95]) {
        expect(cell?.latencies.percentile(percent) ?? null).toBe(
          sums.latencies.percentile(percent),
        );
      }
    }
  }
}

const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Pacific/Auckland",
  "UTC",
  // Zones whose midnight occurs twice or not at all, and with offsets of half and quarter hours.
  "Atlantic/Azores",
  "America/Havana",
  "Africa/Cairo",
  "Asia/Beirut",
  "America/Santiago",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
];

describe.each(ZONES)("in %s", (zone) => {
  test.each([
    ["spring", SPRING],
    ["autumn", AUTUMN],
  ] as const)("days of %s have their own calls, however long they are", async (_, [from, to]) => {
    // Starts and ends within a day, and within an hour.
    const range = [from + 29 * HOUR_MS + QUARTER_MS, to - 31 * HOUR_MS - 2 * QUARTER_MS] as const;
    const { borders, cells } = await days(zone, ...range);
    check(cells, borders);
    const total = cells.reduce((sum, { cost_usd: cost }) => sum + cost, 0n);
    const models = ["model-0", "model-1", "model-2"];
    expect(total).toBe(models.reduce((sum, one) => sum + expected(...range, one).cost, 0n));
    const lengths = new Set(
      borders.slice(1, -2).map((ms, at) => ((borders[at + 2] ?? 0) - ms) / HOUR_MS),
    );
    if (zone === "Europe/Berlin" || zone === "America/New_York") {
      expect(lengths).toEqual(new Set([24, from === SPRING[0] ? 23 : 25]));
    }
  });
});
