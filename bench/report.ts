// Formats the figures of a run as tables, and compares them with the aims.

import type { FlushResult, LogSize } from "./flush.ts";
import { aboveBare, type MixedFigures, mixedTable } from "./mix.ts";
import { cpuOfAll, median, type Results, type Round, ratio } from "./rounds.ts";
import type { SearchFigures } from "./search.ts";

export interface Measurements {
  readonly calls: Results;
  readonly streams: Results;
  readonly mix: MixedFigures;
  /** The number of open streams, and the bytes of each, by target. */
  readonly heldStreams: number;
  readonly streamBytes: Readonly<Record<"bare" | "farebox", number>>;
  readonly flush: FlushResult;
  readonly log: LogSize;
  readonly index: SearchFigures;
  readonly charged: { readonly byCallersNano: bigint; readonly byLedgerNano: bigint };
}

interface Aim {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

const CALL_ROWS = [
  ["calls/s", (round: Round) => round.callsPerSecond, 0],
  ["p50 ms", (round: Round) => round.p50Ms, 1],
  ["p99 ms", (round: Round) => round.p99Ms, 1],
  ["gateway CPU us/call", (round: Round) => round.cpuPerCallUs, 1],
  ["Redis CPU us/call", (round: Round) => round.othersPerCallUs.redis, 1],
  ["worker CPU us/call", (round: Round) => round.othersPerCallUs.worker, 1],
  ["Postgres CPU us/call", (round: Round) => round.othersPerCallUs.postgres, 1],
  ["all of them us/call", cpuOfAll, 1],
] as const;

const STREAM_ROWS = [
  ["chunks/s", (round: Round) => round.eventsPerSecond, 0],
  ["gateway CPU us/chunk", (round: Round) => round.cpuPerEventUs, 2],
  ["Redis CPU us/stream", (round: Round) => round.othersPerCallUs.redis, 1],
] as const;

/** The aims of the project, with the figures of this run. */
export function aimsOf(run: Measurements): Aim[] {
  const cpu = ratio(run.calls, { over: "farebox", under: "bare" }, (round) => round.cpuPerCallUs);
  const speed = ratio(
    run.calls,
    { over: "farebox", under: "portkey" },
    (round) => round.callsPerSecond,
  );
  const chunk = ratio(
    run.streams,
    { over: "farebox", under: "bare" },
    (round) => round.cpuPerEventUs,
  );
  return [
    {
      what: "gateway CPU of a billed call, to the bare proxy's",
      value: cpu,
      unit: "x",
      atMost: 1.8,
    },
    ...wholeCost(run),
    { what: "calls/s, to Portkey's", value: speed, unit: "x", atLeast: 6 },
    { what: "gateway CPU of a streamed chunk, to bare", value: chunk, unit: "x", atMost: 1.5 },
    {
      what: `memory of an open stream (${run.heldStreams} open)`,
      value: run.streamBytes.farebox / 1024,
      unit: "KB",
      atMost: 25,
    },
    {
      what: "journal entries flushed a second",
      value: run.flush.entriesPerSecond,
      unit: "",
      atLeast: 25_000,
    },
    {
      what: "a row of the request log, indexes included",
      value: run.log.bytesPerRow,
      unit: "bytes",
      atMost: 280,
    },
    {
      what: "gateway CPU of a billed search, to a billed chat's",
      value: ratio(run.calls, { over: "search", under: "farebox" }, (round) => round.cpuPerCallUs),
      unit: "x",
      atMost: 1.2,
    },
    {
      what: `CPU of a query on ${run.index.documents} documents`,
      value: run.index.queryMs,
      unit: "ms",
      atMost: 15,
    },
    { what: "opening that index again", value: run.index.reopenMs, unit: "ms", atMost: 50 },
  ];
}

/** The aims for the CPU of all processes of a call, and for the delay of users in a mixed load. */
function wholeCost({ calls, mix }: Measurements): Aim[] {
  const us = (what: string, atMost: number, pick: (round: Round) => number) => ({
    what,
    value: median(calls, "farebox", pick),
    unit: "us",
    atMost,
  });
  const later = (what: string, atMost: number, time: "chat" | "firstByte") => ({
    what,
    value: aboveBare(mix, time, ({ p99Ms }) => p99Ms),
    unit: "ms",
    atMost,
  });
  const of = (name: string) => (round: Round) => round.othersPerCallUs[name] ?? Number.NaN;
  return [
    us("Redis CPU of a billed call", 60, of("redis")),
    us("worker and Postgres", 40, (round) => of("worker")(round) + of("postgres")(round)),
    us("all processes", 200, cpuOfAll),
    later("mixed load: p99 of a chat, above the bare proxy's", 40, "chat"),
    later("mixed load: p99 of a stream's first byte, above bare", 15, "firstByte"),
  ];
}

/** The whole run as text. */
export function printReport(run: Measurements): void {
  console.log("\nCalls that are not streamed");
  printTable(run.calls, ["bare", "farebox", "portkey"], CALL_ROWS);
  console.log("\nStreams of 200 chunks");
  printTable(run.streams, ["bare", "farebox"], STREAM_ROWS);
  console.log("\nSearches of ten results, the provider in a process of its own");
  printTable(run.calls, ["search"], CALL_ROWS);
  const { maximum, rate } = run.mix;
  console.log(
    "\n80 % chats of 200 ms, 15 % streams, 5 % searches: " +
      `${rate.toFixed(0)} a second, of at most ${maximum.toFixed(0)}`,
  );
  console.log(mixedTable(run.mix));
  const [bare, farebox] = [run.streamBytes.bare, run.streamBytes.farebox].map((bytes) =>
    (bytes / 1024).toFixed(1),
  );
  console.log(`\nMemory of an open stream: bare ${bare} KB, farebox ${farebox} KB`);
  console.log(
    `Flush: ${Math.round(run.flush.entriesPerSecond)} entries/s, ` +
      `${run.flush.cpuPerEntryUs.toFixed(1)} us of CPU each`,
  );
  console.log(`Request log: ${run.log.bytesPerRow.toFixed(0)} bytes a row, ${run.log.rows} rows`);
  console.log(
    `Search index: ${run.index.documents} documents built in ${run.index.buildMs.toFixed(0)} ms, ` +
      `${run.index.fileMb.toFixed(0)} MB, slowest query ${run.index.slowestQueryMs.toFixed(0)} ms`,
  );
  const dollars = (Number(run.charged.byLedgerNano) / 1e9).toFixed(6);
  console.log(`Billed: $${dollars}, the same by the callers' headers and by the ledger\n`);
  const host = median(run.calls, "bare", ({ cpuPerCallUs }) => cpuPerCallUs);
  for (const aim of aimsOf(run)) {
    console.log(`${isMet(aim) ? "met   " : "MISSED"} ${lineOf(aim, host)}`);
  }
}

/** Ratios depend on the host, so that its speed stands beside each: the CPU of a bare call. */
function lineOf({ what, value, unit, atMost, atLeast }: Aim, hostUs: number): string {
  const host = unit === "x" ? `, a bare call takes ${hostUs.toFixed(1)} us here` : "";
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  const shown = value >= 1000 ? value.toFixed(0) : value.toFixed(2);
  return `${what}: ${shown} ${unit} (${bound}${host})`.replace("  ", " ");
}

/** True if the figure was measured and is within its bound. */
export function isMet({ value, atMost, atLeast }: Aim): boolean {
  return atMost === undefined ? value >= (atLeast ?? 0) : value <= atMost;
}

type ReportRow = readonly [
  name: string,
  pick: (round: Round) => number | undefined,
  digits: number,
];

function printTable(results: Results, names: readonly string[], rows: readonly ReportRow[]): void {
  const others = names.includes("farebox") ? names.filter((name) => name !== "farebox") : [];
  const head = [...names, ...others.map((name) => `farebox/${name}`)];
  console.log(["".padEnd(22), ...head.map((name) => name.padStart(16))].join(""));
  for (const [label, pick, digits] of rows) {
    const figure = (round: Round) => pick(round) ?? Number.NaN;
    const values = names.map((name) => shown(median(results, name, figure), digits));
    const ratios = others.map((name) =>
      shown(ratio(results, { over: "farebox", under: name }, figure), 2),
    );
    const cells = [...values, ...ratios].map((cell) => cell.padStart(16));
    console.log([label.padEnd(22), ...cells].join(""));
  }
}

function shown(value: number, digits: number): string {
  return Number.isNaN(value) ? "" : value.toFixed(digits);
}

/** The whole run as JSON, every round included. */
export function toJson(run: Measurements): string {
  const plain = {
    ...run,
    calls: Object.fromEntries(run.calls),
    streams: Object.fromEntries(run.streams),
    aims: aimsOf(run).map((aim) => ({ ...aim, met: isMet(aim) })),
  };
  const replace = (_key: string, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value;
  return `${JSON.stringify(plain, replace, 2)}\n`;
}
