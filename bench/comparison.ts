// Compares the figures of two versions: medians, and their ratio.

import { cpuOfAll, median, middle, type Results, type Round, ratio } from "./rounds.ts";

export type FlushFigures = Readonly<Record<string, number>>;

export interface Comparison {
  readonly names: { readonly current: string; readonly other: string };
  /** Results of "bare", of both versions, and of the searches of both (`searchesOf`). */
  readonly calls: Results;
  /** Results of "bare" and both versions. */
  readonly streams: Results;
  readonly heldStreams: number;
  /** Bytes per open stream of each measurement, by version. */
  readonly streamBytes: Readonly<Record<string, readonly number[]>>;
  /** Journal entries per second, by version. */
  readonly flush: FlushFigures;
}

/** One line of the report. A figure that a version does not have is NaN. */
export interface ComparedFigure {
  readonly what: string;
  readonly current: number;
  readonly other: number;
  /** This version divided by the other one; with rounds, the median over the rounds. */
  readonly ratio: number;
  readonly digits: number;
}

const BARE = "bare";

/** The name of a version's searches, which take turns with its chats. */
export function searchesOf(version: string): string {
  return `${version} search`;
}

/** Every figure of both versions. */
export function comparedFigures(run: Comparison): ComparedFigure[] {
  const { calls, streams } = run;
  const ofCalls = (what: string, pick: Pick, digits = 1) =>
    compared(run, { what, results: calls, pick, digits });
  const ofStreams = (what: string, pick: Pick, digits = 2) =>
    compared(run, { what, results: streams, pick, digits });
  return [
    ofCalls("gateway CPU of a billed call, us", cpuPerCall),
    toBare(run, { what: "  the same, to the bare proxy's", results: calls, pick: cpuPerCall }),
    ofCalls("Redis CPU of a billed call, us", ({ othersPerCallUs }) => othersPerCallUs.redis),
    ofCalls("worker CPU of a billed call, us", ({ othersPerCallUs }) => othersPerCallUs.worker),
    ofCalls("Postgres CPU of a billed call, us", ({ othersPerCallUs }) => othersPerCallUs.postgres),
    ofCalls("CPU of all processes for a billed call, us", cpuOfAll),
    ofCalls("calls a second", ({ callsPerSecond }) => callsPerSecond, 0),
    ofCalls("p50 of a call, ms", ({ p50Ms }) => p50Ms),
    ofStreams("gateway CPU of a streamed chunk, us", cpuPerEvent),
    toBare(run, { what: "  the same, to the bare proxy's", results: streams, pick: cpuPerEvent }),
    heldMemory(run),
    compared(run, {
      what: "gateway CPU of a billed search, us",
      results: calls,
      pick: cpuPerCall,
      digits: 1,
      seriesOf: searchesOf,
    }),
    searchToChat(run),
    flushRates(run),
  ];
}

type Pick = (round: Round) => number | undefined;

interface Source {
  readonly what: string;
  readonly results: Results;
  readonly pick: Pick;
}

interface ComparedSource extends Source {
  readonly digits: number;
  /** The name of a version's rounds, if it differs from the name of the version. */
  readonly seriesOf?: (version: string) => string;
}

const cpuPerCall: Pick = ({ cpuPerCallUs }) => cpuPerCallUs;
const cpuPerEvent: Pick = ({ cpuPerEventUs }) => cpuPerEventUs;

function compared(
  { names: { current, other } }: Comparison,
  { what, results, pick, digits, seriesOf = (version) => version }: ComparedSource,
): ComparedFigure {
  const figure = (round: Round) => pick(round) ?? Number.NaN;
  const [one, another] = [seriesOf(current), seriesOf(other)];
  return {
    what,
    current: median(results, one, figure),
    other: median(results, another, figure),
    ratio: ratio(results, { over: one, under: another }, figure),
    digits,
  };
}

/** Both versions as multiples of the bare proxy in the same rounds. */
function toBare({ names }: Comparison, { what, results, pick }: Source): ComparedFigure {
  const figure = (round: Round) => pick(round) ?? Number.NaN;
  const current = ratio(results, { over: names.current, under: BARE }, figure);
  const other = ratio(results, { over: names.other, under: BARE }, figure);
  return { what, current, other, ratio: current / other, digits: 2 };
}

function heldMemory({ names, streamBytes, heldStreams }: Comparison): ComparedFigure {
  const [current = Number.NaN, other = Number.NaN] = [names.current, names.other].map(
    (name) => middle(streamBytes[name] ?? []) / 1024,
  );
  const what = `memory of an open stream (${heldStreams} open), KB`;
  return { what, current, other, ratio: current / other, digits: 1 };
}

/** Searches as multiples of the chats of the same version in the same rounds. */
function searchToChat({ names, calls }: Comparison): ComparedFigure {
  const [current = Number.NaN, other = Number.NaN] = [names.current, names.other].map((name) =>
    ratio(calls, { over: searchesOf(name), under: name }, ({ cpuPerCallUs }) => cpuPerCallUs),
  );
  const what = "  the same, to a billed chat's";
  return { what, current, other, ratio: current / other, digits: 2 };
}

function flushRates({ names, flush }: Comparison): ComparedFigure {
  const current = flush[names.current] ?? Number.NaN;
  const other = flush[names.other] ?? Number.NaN;
  const what = "journal entries flushed a second";
  return { what, current, other, ratio: current / other, digits: 0 };
}

/** The table of a comparison. */
export function comparisonTable(run: Comparison): string {
  const { current, other } = run.names;
  const head = row("", current, other.slice(0, COLUMN - 2), "ratio");
  const lines = comparedFigures(run).map((figure) =>
    row(
      figure.what,
      digitsOf(figure.current, figure.digits),
      digitsOf(figure.other, figure.digits),
      digitsOf(figure.ratio, 2),
    ),
  );
  const host = median(run.calls, BARE, ({ cpuPerCallUs }) => cpuPerCallUs);
  return [head, ...lines, `Ratios of a host on which a bare call takes ${host.toFixed(1)} us`].join(
    "\n",
  );
}

const COLUMN = 14;

function row(what: string, ...cells: readonly string[]): string {
  return [what.padEnd(46), ...cells.map((cell) => cell.padStart(COLUMN))].join("");
}

function digitsOf(value: number, digits: number): string {
  return Number.isNaN(value) ? "-" : value.toFixed(digits);
}

export function printComparison(run: Comparison): void {
  console.log(`\n${comparisonTable(run)}`);
}

/** The whole comparison as JSON, every round included. */
export function comparisonJson(run: Comparison): string {
  const plain = {
    ...run,
    calls: Object.fromEntries(run.calls),
    streams: Object.fromEntries(run.streams),
    figures: comparedFigures(run),
  };
  const replace = (_key: string, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value;
  return `${JSON.stringify(plain, replace, 2)}\n`;
}
