// Measures what refused requests cost all other callers: the time of the main thread for each code,
// and the small calls of a neighbour while one account floods the service.

import { temporaryFolder } from "../scripts/local/processes.mjs";
import type { ErrorCode } from "../src/core/errors.ts";
import { Accounts } from "../src/store/accounts/accounts.ts";
import { Pauses } from "../src/store/operators/pauses.ts";
import { Payments } from "../src/store/payments/payments.ts";
import { createTestAccount } from "../test/support/stores/accounts.ts";
import { makeCallers, random, SECRETS, type Stores, startApi, startStores } from "./farebox.ts";
import { BUN } from "./launch.ts";
import { mainThreadMs } from "./load/process-usage.ts";
import { REFUSAL_CASES, type RefusalCase } from "./refusal-cases.ts";
import { startUpstream } from "./targets.ts";

/** What a refused request may take of the main thread. */
const MAIN_MS_MAX = 1;
/** The neighbour's p99 under a flood, by its p99 without one. */
const RATIO_MAX = 3;
const CHAT = "/v1/chat/completions";
const ROUNDS = 3;
const REQUESTS_A_ROUND = 10;
const FREE_WINDOW = 20;
/** From then on the key is refused from memory. */
const OVER_LIMIT = 4 * FREE_WINDOW;
const FLOOD_CALLERS = 8;
const VICTIM_KEYS = 8;

export interface RefusalsOptions {
  readonly isQuick: boolean;
  readonly cleanup: AsyncDisposableStack;
  readonly progress: (line: string) => void;
}

interface RefusalFigures {
  readonly code: string;
  readonly bodyKb: number;
  /** In the least disturbed round; not a number where the system does not tell. */
  readonly mainMs: number;
}

interface FloodFigures {
  readonly flood: string;
  readonly refused: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface RefusalsReport {
  readonly refusals: readonly RefusalFigures[];
  readonly quiet: Pick<FloodFigures, "p50Ms" | "p99Ms">;
  readonly floods: readonly FloodFigures[];
}

interface Setting {
  readonly stores: Stores;
  readonly pauses: Pauses;
  readonly base: string;
  readonly pid: number;
}

/** Measures both. `cleanup` stops everything that it starts. */
export async function measureRefusals(options: RefusalsOptions): Promise<RefusalsReport> {
  const { isQuick, cleanup, progress } = options;
  const folder = temporaryFolder("farebox-bench-refusals-");
  cleanup.defer(() => folder.remove());
  const stores = await startStores(`${folder.path}/home`);
  cleanup.defer(() => stores.stop());
  const upstream = await startUpstream(folder.path);
  cleanup.defer(() => upstream.stop());
  const callers = await makeCallers(stores, { accountCount: 1, keysAnAccount: VICTIM_KEYS });
  const victims = callers.map(({ secret }) => secret);
  const place = { logFolder: folder.path, upstreamUrl: upstream.url };
  const api = await startApi(stores, place, victims);
  cleanup.defer(() => api.stop());
  const pauses = new Pauses({ database: stores.database, log: console });
  const setting = { stores, pauses, base: api.target.url.slice(0, -CHAT.length), pid: api.pid };
  await timesOf(setting, victims, 2_000);
  const refusals: RefusalFigures[] = [];
  for (const [code, cases] of Object.entries(REFUSAL_CASES)) {
    for (const one of cases ?? []) {
      progress(`refusing ${code}`);
      refusals.push(await measureCase(setting, code as ErrorCode, one));
    }
  }
  const forMs = isQuick ? 4_000 : 20_000;
  progress("calling in quiet");
  const before = await timesOf(setting, victims, forMs);
  const floods: FloodFigures[] = [];
  for (const flood of Object.keys(FLOODS)) {
    progress(`flooding with ${flood}`);
    floods.push(await measureFlood(setting, victims, { flood, forMs }));
  }
  const quiet = percentilesOf([...before, ...(await timesOf(setting, victims, forMs))]);
  return { refusals, quiet, floods };
}

async function measureCase(
  setting: Setting,
  code: ErrorCode,
  one: RefusalCase,
): Promise<RefusalFigures> {
  if (one.pause !== undefined) await setting.pauses.pause(one.pause);
  let size = 0;
  const rounds: number[] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    // What a key may send in a minute is limited.
    const key = one.key ?? (await keyOf(setting.stores, one));
    const first = one.isOverLimit ? OVER_LIMIT : 1;
    for (let sent = 0; sent < first; sent += 1) await send(setting, key, {});
    const bodies = Array.from({ length: REQUESTS_A_ROUND }, one.body);
    size = Buffer.byteLength(bodies[0] ?? "");
    const beforeMs = mainThreadMs(setting.pid);
    for (const body of bodies) {
      const answer = await send(setting, key, { ...one, body });
      // Callers without a key are refused by their address after a while.
      const isAddress = answer === "rate_limit_exceeded" && one.key !== undefined;
      if (answer !== code && !isAddress) throw new Error(`${answer} in place of ${code}`);
    }
    if (round > 0) rounds.push((mainThreadMs(setting.pid) - beforeMs) / REQUESTS_A_ROUND);
  }
  if (one.pause !== undefined) await setting.pauses.resume(one.pause);
  const name = one.name === undefined ? code : `${code}, ${one.name}`;
  return { code: name, bodyKb: size / 1_024, mainMs: Math.min(...rounds) };
}

async function keyOf({ database }: Stores, { terms = {} }: RefusalCase): Promise<string> {
  const accounts = new Accounts({ database, random, keyPepper: SECRETS.KEY_PEPPER });
  const payments = new Payments({ database, random });
  return (await createTestAccount({ accounts, payments }, terms)).key;
}

/** Sends one request; resolves to the code of its refusal, "" if there is none. */
async function send(
  { base }: Pick<Setting, "base">,
  key: string,
  {
    method = "POST",
    path = CHAT,
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

/** What floods send, all with the key of one Free or suspended account. */
const FLOODS: Readonly<Record<string, RefusalCase>> = {
  "429 from memory, 126 KB of keys": REFUSAL_CASES.rate_limit_exceeded?.[1] as RefusalCase,
  "429 from memory, 4 MB": REFUSAL_CASES.rate_limit_exceeded?.[0] as RefusalCase,
  "403, 4 MB": REFUSAL_CASES.account_inactive?.[0] as RefusalCase,
  "400, 126 KB of keys": REFUSAL_CASES.invalid_parameter?.[1] as RefusalCase,
  "402, 4 MB": REFUSAL_CASES.insufficient_credits?.[0] as RefusalCase,
};

interface Flood {
  readonly flood: string;
  readonly base: string;
  readonly key: string;
  readonly forMs: number;
}

async function measureFlood(
  setting: Setting,
  victims: readonly string[],
  { flood, forMs }: Pick<Flood, "flood" | "forMs">,
): Promise<FloodFigures> {
  const key = await keyOf(setting.stores, FLOODS[flood] as RefusalCase);
  // In a process of its own: it would delay the neighbour's calls here.
  const order: Flood = { flood, base: setting.base, key, forMs };
  const command = [BUN, import.meta.path, JSON.stringify(order)];
  const attacker = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const times = await timesOf(setting, victims, forMs);
  const refused = Number(await attacker.stdout.text());
  return { flood, refused, ...percentilesOf(times) };
}

async function sendFlood({ flood, base, key, forMs }: Flood): Promise<void> {
  const one = FLOODS[flood];
  if (one === undefined) throw new Error(`There is no flood ${flood}`);
  const bodies = Array.from({ length: FLOOD_CALLERS }, one.body);
  const endMs = performance.now() + forMs;
  let refused = 0;
  const sendInTurn = async (body: string) => {
    while (performance.now() < endMs) {
      await send({ base }, key, { body });
      refused += 1;
    }
  };
  await Promise.all(bodies.map(sendInTurn));
  console.log(refused);
}

/** Makes small calls one after the other; returns their times in milliseconds. */
async function timesOf(
  { base }: Pick<Setting, "base">,
  keys: readonly string[],
  forMs: number,
): Promise<number[]> {
  const times: number[] = [];
  const body = JSON.stringify({ model: "plain", messages: [{ role: "user", content: "Hello" }] });
  for (const endMs = performance.now() + forMs; performance.now() < endMs; ) {
    const headers = { "x-api-key": keys[times.length % keys.length] ?? "" };
    const begun = performance.now();
    const response = await fetch(base + CHAT, { method: "POST", headers, body });
    await response.bytes();
    if (!response.ok) throw new Error(`A small call was answered ${response.status}`);
    times.push(performance.now() - begun);
  }
  return times;
}

function percentilesOf(times: readonly number[]): Pick<FloodFigures, "p50Ms" | "p99Ms"> {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** What is over its bound. */
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
    row("neighbour", ["refused", "p50 ms", "p99 ms", "by quiet", `at most ${RATIO_MAX}`]),
    row("quiet", ["", ms(quiet.p50Ms), ms(quiet.p99Ms)]),
    ...floods.map(({ flood, refused, p50Ms, p99Ms }) =>
      row(flood, [String(refused), ms(p50Ms), ms(p99Ms), ms(p99Ms / quiet.p99Ms)]),
    ),
  ].join("\n");
}

if (import.meta.main) await sendFlood(JSON.parse(process.argv[2] ?? "{}") as Flood);
