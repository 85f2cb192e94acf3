import { expect, test } from "bun:test";
import { partRows, partsTable } from "../../../bench/parts.ts";
import type { Results, Round } from "../../../bench/rounds.ts";

const PART = "a run";

const round = (gatewayUs: number, redisUs: number): Round => ({
  callsPerSecond: 1,
  p50Ms: 1,
  p99Ms: 2,
  cpuPerCallUs: gatewayUs,
  eventsPerSecond: 1,
  cpuPerEventUs: 1,
  othersPerCallUs: { redis: redisUs },
  costNano: 1n,
});
const seriesOf = (...rounds: readonly Round[]) => ({ rounds: [...rounds], costNano: 1n });
const calls: Results = new Map([
  // The machine was half as fast in the second round.
  ["farebox", seriesOf(round(100, 40), round(200, 80))],
  [PART, seriesOf(round(110, 43), round(220, 87))],
]);

test("a part is compared with plain calls of the same round", () => {
  const row = partRows({ plain: "farebox", calls }).find(({ what }) => what === PART);
  expect(row?.gatewayUs).toBe(15);
  expect(row?.redisUs).toBe(5);
  expect(row?.ratio).toBeCloseTo(1.1);
});

test("a part that was not measured is shown as such", () => {
  const table = partsTable({ plain: "farebox", calls });
  expect(table).toMatch(/^a run +15\.0 +5\.0 +1\.10$/m);
  expect(table).toMatch(/^an idempotency key +NaN +NaN +NaN$/m);
});
