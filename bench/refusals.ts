// Measures the cost of refused requests for all other callers: the time of the main thread for each
// code, and the small calls of a neighbour while one account floods the service.

import type { ErrorCode } from "../src/core/errors.ts";
import { Pauses } from "../src/store/operators/pauses.ts";
import { type FloodFigures, keyOf, measureFloods } from "./floods.ts";
import { mainThreadMs } from "./load/process-usage.ts";
import { CHAT_PATH, REFUSAL_CASES, type RefusalCase } from "./refusal-cases.ts";
import { type Percentiles, percentilesOf } from "./rounds.ts";
import { during, type SmallCaller, startSmallCaller, timesOf } from "./small-calls.ts";

/** The milliseconds of the main thread that a refused request may take. */
const MAIN_MS_MAX = 1;
/** The neighbour's p99 under a flood, divided by its p99 without a flood. */
const RATIO_MAX = 3;
/** Estimates of the playground need a person. */
const CONSOLE = { SESSION_SECRET: "benchmark secret of sessions", CONSOLE_SHOW_MAILS: "true" };
const ROUNDS = 3;
const REQUESTS_A_ROUND = 10;
const FREE_WINDOW = 20;
/** After this many requests the key is refused from memory. */
const OVER_LIMIT = 4 * FREE_WINDOW;
const WARM_UP_MS = 2_000;

export interface RefusalsOptions {
  readonly isQuick: boolean;
  readonly cleanup: AsyncDisposableStack;
  readonly progress: (line: string) => void;
}

interface RefusalFigures {
  readonly code: string;
  readonly bodyKb: number;
  /** The time in the least disturbed round; NaN if the system does not measure it. */
  readonly mainMs: number;
}

export interface RefusalsReport {
  readonly refusals: readonly RefusalFigures[];
  readonly quiet: Percentiles;
  readonly floods: readonly FloodFigures[];
}

interface Setting {
  /** The account whose small calls are slowed down. */
  readonly neighbour: SmallCaller;
  readonly pauses: Pauses;
  readonly base: string;
}

/** Measures refusals and floods. `cleanup` stops everything that it starts. */
export async function measureRefusals(options: RefusalsOptions): Promise<RefusalsReport> {
  const { isQuick, cleanup, progress } = options;
  const neighbour = await startSmallCaller(cleanup, "farebox-bench-refusals-", CONSOLE);
  const { stores, target } = neighbour;
  const pauses = new Pauses({ database: stores.database, log: console });
  const setting = { neighbour, pauses, base: target.url.slice(0, -CHAT_PATH.length) };
  await timesOf(neighbour, during(WARM_UP_MS));
  const refusals: RefusalFigures[] = [];
  for (const [code, cases] of Object.entries(REFUSAL_CASES)) {
    for (const one of cases ?? []) {
      progress(`refusing ${code}`);
      refusals.push(await measureCase(setting, code as ErrorCode, one));
    }
  }
  const forMs = isQuick ? 4_000 : 20_000;
  progress("calling in quiet");
  const before = await timesOf(neighbour, during(forMs));
  const floods = await measureFloods({ ...setting, forMs, cleanup }, progress);
  const quiet = percentilesOf([...before, ...(await timesOf(neighbour, during(forMs)))]);
  return { refusals, quiet, floods };
}

async function measureCase(
  setting: Setting,
  code: ErrorCode,
  one: RefusalCase,
): Promise<RefusalFigures> {
  const { stores, target } = setting.neighbour;
  if (one.pause !== undefined) await setting.pauses.pause(one.pause);
  let size = 0;
  const rounds: number[] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    // Each round uses a new key, because a key's requests in a minute are limited.
    const key = one.key ?? (await keyOf(stores, one));
    const first = one.isOverLimit ? OVER_LIMIT : 1;
    for (let sent = 0; sent < first; sent += 1) await send(setting, key, {});
    const bodies = Array.from({ length: REQUESTS_A_ROUND }, one.body);
    size = Buffer.byteLength(bodies[0] ?? "");
    const beforeMs = mainThreadMs(target.pid);
    for (const body of bodies) {
      const answer = await send(setting, key, { ...one, body });
      // Callers without a key are refused by their address after a while.
      const isAddress = answer === "rate_limit_exceeded" && one.key !== undefined;
      if (answer !== code && !isAddress) throw new Error(`${answer} in place of ${code}`);
    }
    if (round > 0) rounds.push((mainThreadMs(target.pid) - beforeMs) / REQUESTS_A_ROUND);
  }
  if (one.pause !== undefined) await setting.pauses.resume(one.pause);
  const name = one.name === undefined ? code : `${code}, ${one.name}`;
  return { code: name, bodyKb: size / 1_024, mainMs: Math.min(...rounds) };
}

/** Sends one request; resolves to the code of its refusal, "" if there is none. */
async function send(
  { base }: Pick<Setting, "base">,
  key: string,
  {
    method = "POST",
    path = CHAT_PATH,
    body = "{",
  }: Partial<Omit<RefusalCase, "body">> & {
    readonly body?: string;
  },
): Promise<string> {
  const headers = { "content-type": "application/json", "x-api-key": key };
  const response = await fetch(base + path, { method, headers, body });
  const { error } = (await response.json()) as { readonly error?: { readonly code: string } };
  return error?.code ?? "";
}

/** The names of the refusals and floods that are over their bounds. */
export function missesOf({ refusals, quiet, floods }: RefusalsReport): readonly string[] {
  return [
    ...refusals.filter(({ mainMs }) => mainMs > MAIN_MS_MAX).map(({ code }) => code),
    ...floods.filter(({ p99Ms }) => p99Ms > RATIO_MAX * quiet.p99Ms).map(({ flood }) => flood),
  ];
}

/** The report as two tables, with the bounds. */
export function refusalsTable(report: RefusalsReport): string {
  const { refusals, quiet, floods } = report;
  const misses = missesOf(report);
  const row = (name: string, figures: readonly string[]) =>
    name.padEnd(36) +
    figures.map((figure) => figure.padStart(12)).join("") +
    (misses.includes(name) ? "  MISSED" : "");
  const ms = (value: number) => value.toFixed(2);
  return [
    row("refusal", ["body KB", "main ms", `at most ${MAIN_MS_MAX}`]),
    ...refusals.map(({ code, bodyKb, mainMs }) => row(code, [bodyKb.toFixed(0), ms(mainMs)])),
    "",
    row("neighbour", ["sent", "p50 ms", "p99 ms", "by quiet", "beside", `at most ${RATIO_MAX}`]),
    row("quiet", ["", ms(quiet.p50Ms), ms(quiet.p99Ms)]),
    ...floods.map(({ flood, sent, p50Ms, p99Ms, besideP99Ms }) => {
      const ratios = [p99Ms, besideP99Ms].map((one) => ms(one / quiet.p99Ms));
      return row(flood, [String(sent), ms(p50Ms), ms(p99Ms), ...ratios]);
    }),
    "",
    "beside: the same flood while a process of its own takes it, by quiet",
  ].join("\n");
}
