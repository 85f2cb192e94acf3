import { expect, test } from "bun:test";
import { type Comparison, comparedFigures, comparisonTable } from "../../../bench/comparison.ts";
import { middle, type Results, type Round, ratio, turnsOf } from "../../../bench/rounds.ts";

function round(cpuPerCallUs: number, more: Partial<Round> = {}): Round {
  return {
    callsPerSecond: 1_000_000 / cpuPerCallUs,
    p50Ms: 1,
    p99Ms: 2,
    cpuPerCallUs,
    eventsPerSecond: 1,
    cpuPerEventUs: cpuPerCallUs / 100,
    othersPerCallUs: {},
    costNano: 1n,
    ...more,
  };
}

function resultsOf(series: Readonly<Record<string, readonly Round[]>>): Results {
  return new Map(
    Object.entries(series).map(([name, rounds]) => [name, { rounds: [...rounds], costNano: 0n }]),
  );
}

/** Three rounds; in the second one the machine was busy with other work. */
const CALLS = resultsOf({
  bare: [round(10), round(100), round(12)],
  this: [
    round(20, { othersPerCallUs: { redis: 30 } }),
    round(210, { othersPerCallUs: { redis: 300 } }),
    round(24, { othersPerCallUs: { redis: 33 } }),
  ],
  old: [
    round(40, { othersPerCallUs: { redis: 60 } }),
    round(400, { othersPerCallUs: { redis: 600 } }),
    round(48, { othersPerCallUs: { redis: 66 } }),
  ],
  "this search": [round(30), round(420), round(36)],
  "old search": [round(80), round(600), round(96)],
});

const RUN: Comparison = {
  names: { current: "this", other: "old" },
  calls: CALLS,
  streams: CALLS,
  heldStreams: 1_000,
  streamBytes: { this: [20 * 1024, 30 * 1024], old: [50 * 1024] },
  flush: { this: 30_000 },
};

function figureOf(run: Comparison, start: string) {
  const found = comparedFigures(run).find(({ what }) => what.startsWith(start));
  if (found === undefined) throw new Error(`There is no figure '${start}'`);
  return found;
}

test("every contestant has one turn a round, and each round begins with the next one", () => {
  const turns = [...turnsOf(["a", "b", "c"], 4)];
  expect(turns.map(({ contestant }) => contestant).join("")).toBe("abcbcacababc");
  expect(turns.map(({ round }) => round)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
  expect([...turnsOf([], 3)]).toEqual([]);
});

test("a ratio is the median of the ratios within the rounds, so a busy machine cancels out", () => {
  const pick = ({ cpuPerCallUs }: Round) => cpuPerCallUs;
  expect(ratio(CALLS, { over: "this", under: "old" }, pick)).toBeCloseTo(0.5);
  expect(ratio(CALLS, { over: "this", under: "bare" }, pick)).toBeCloseTo(2);
  expect(ratio(CALLS, { over: "this", under: "nobody" }, pick)).toBeNaN();
  expect(middle([3, 1, 2])).toBe(2);
  expect(middle([4, 1, 2, 3])).toBe(2.5);
});

test("versions are compared in every figure that both have", () => {
  expect(figureOf(RUN, "gateway CPU of a billed call")).toMatchObject({ current: 24, other: 48 });
  expect(figureOf(RUN, "gateway CPU of a billed call").ratio).toBeCloseTo(0.5);
  expect(figureOf(RUN, "  the same, to the bare proxy's").current).toBeCloseTo(2);
  expect(figureOf(RUN, "Redis CPU").ratio).toBeCloseTo(0.5);
  expect(figureOf(RUN, "memory of an open stream")).toMatchObject({ current: 25, other: 50 });
});

test("a search is compared with the chats of the same rounds", () => {
  expect(figureOf(RUN, "gateway CPU of a billed search")).toMatchObject({ current: 36, other: 96 });
  expect(figureOf(RUN, "gateway CPU of a billed search").ratio).toBeCloseTo(0.375);
  expect(figureOf(RUN, "  the same, to a billed chat's")).toMatchObject({ current: 1.5, other: 2 });
});

test("a figure that one version does not have is a dash, and no ratio", () => {
  expect(figureOf(RUN, "journal entries")).toMatchObject({ current: 30_000, other: Number.NaN });
  const line = comparisonTable(RUN)
    .split("\n")
    .find((text) => text.startsWith("journal"));
  expect(line?.replace(/ +/g, " ")).toBe("journal entries flushed a second 30000 - -");
});
