import { expect, test } from "bun:test";
import type { MixedFigures } from "../../../bench/mix.ts";
import { aimsOf, isMet, type Measurements } from "../../../bench/report.ts";
import type { Results, Round } from "../../../bench/rounds.ts";

const round = (cpuPerCallUs: number, others: Readonly<Record<string, number>> = {}): Round => ({
  callsPerSecond: 7_000 / cpuPerCallUs,
  p50Ms: 1,
  p99Ms: 2,
  cpuPerCallUs,
  eventsPerSecond: 1,
  cpuPerEventUs: cpuPerCallUs,
  othersPerCallUs: others,
  costNano: 1n,
});
const series = (...rounds: Round[]) => ({ rounds, costNano: 0n });
const OTHERS = { redis: 50, worker: 20, postgres: 15 };
const CALLS: Results = new Map([
  ["bare", series(round(30), round(60))],
  ["farebox", series(round(51, OTHERS), round(102, OTHERS))],
  ["portkey", series(round(600), round(1_200))],
  ["search", series(round(52), round(104))],
]);
const STREAMS: Results = new Map([
  ["bare", series(round(30))],
  ["farebox", series(round(36))],
]);
const times = (p99Ms: number) => {
  const one = { p50Ms: 1, p99Ms };
  return { chat: one, stream: one, firstByte: one, search: one };
};
const MIX: MixedFigures = {
  maximum: 1_000,
  rate: 500,
  rounds: { bare: [times(10), times(100)], farebox: [times(20), times(114)] },
  costNano: 0n,
};
const RUN: Measurements = {
  calls: CALLS,
  streams: STREAMS,
  mix: MIX,
  heldStreams: 1_000,
  streamBytes: { bare: 1, farebox: 20 * 1_024 },
  flush: { entriesPerSecond: 40_000, cpuPerEntryUs: 20 },
  log: { rows: 10, bytesPerRow: 260 },
  index: { documents: 1, buildMs: 1, reopenMs: 1, queryMs: 1, slowestQueryMs: 1, fileMb: 1 },
  charged: { byCallersNano: 1n, byLedgerNano: 1n },
};

const valueIn = (start: string, run = RUN) =>
  aimsOf(run).find(({ what }) => what.startsWith(start))?.value;

test("the whole cost of a call is that of all its processes", () => {
  expect(valueIn("worker and Postgres")).toBe(35);
  expect(valueIn("all processes")).toBe(76.5 + 85);
});

test("the delay of a mixed load is compared with the bare proxy's in the same round", () => {
  expect(valueIn("mixed load: p99 of a chat")).toBe(12);
});

test("an aim is missed by a figure over its bound, and by a figure that was not measured", () => {
  expect(aimsOf(RUN).filter((aim) => !isMet(aim))).toEqual([]);
  const slow = { ...RUN, mix: { ...MIX, rounds: { bare: [times(10)], farebox: [times(51)] } } };
  expect(aimsOf(slow).filter((aim) => !isMet(aim))).toHaveLength(2);
  const without = { ...RUN, mix: { ...MIX, rounds: {} } };
  expect(aimsOf(without).filter((aim) => !isMet(aim))).toHaveLength(2);
});
