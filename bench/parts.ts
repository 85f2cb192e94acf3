// Measures the time that each part of a customer's control adds to a call that uses it, against
// calls of the same rounds that use none; a quote is measured against the call that it quotes. A
// new part is a row of `PARTS`.

import { STANDING_SPANS } from "../src/core/access/budgets.ts";
import { type Caller, type CallersShape, makeCallers, type Stores } from "./farebox.ts";
import { plainCalls } from "./load/plans.ts";
import type { RequestForm } from "./load/requests.ts";
import type { RunLength } from "./options.ts";
import {
  type Contestant,
  difference,
  median,
  type Results,
  type Round,
  ratio,
  runRounds,
} from "./rounds.ts";

interface Part {
  readonly name: string;
  /** The settings that accounts and keys of the part have beyond those of the plain calls. */
  readonly terms?: Pick<CallersShape, "key" | "budgets" | "endUsers">;
  readonly headers?: Readonly<Record<string, string>>;
  /** A header with another value in each call. */
  readonly numbered?: string;
  /** The path and the form of the calls, if they are no chat completions. */
  readonly path?: string;
  readonly form?: RequestForm;
  /** The calls at once, for calls that wait: those of a few would measure an idle process. */
  readonly concurrency?: number;
}

const MANY = 1_000_000_000;
const RATES = {
  requestsPerMinute: MANY,
  requestsPerDay: MANY,
  tokensPerMinute: MANY,
  tokensPerDay: MANY,
} as const;
const MODELS = ["plain*", "slow*"] as const;

const PARTS: readonly Part[] = [
  { name: "rates and models of a key", terms: { key: { ...RATES, models: MODELS } } },
  { name: "one budget of the account", terms: { budgets: ["day"] } },
  { name: "budgets of all four spans", terms: { budgets: STANDING_SPANS } },
  {
    name: "a budget of the end user",
    terms: { endUsers: ["day"] },
    headers: { "x-svc-end-user": "customer-4711" },
  },
  { name: "a cap on the call", headers: { "x-svc-max-cost-usd": "1.00" } },
  { name: "a run", headers: { "x-svc-run": "bench; max-usd=10000" } },
  { name: "an idempotency key", numbered: "idempotency-key" },
  { name: "an inline receipt", headers: { "x-svc-receipt": "inline" }, concurrency: 1_000 },
  { name: "a quote in place of the call", path: "/v1/quote", form: "quote" },
];

/** The rounds of every part, and of plain calls under the name of their target. */
export interface PartFigures {
  readonly plain: string;
  readonly calls: Results;
}

interface PartOptions {
  readonly plain: Contestant;
  readonly stores: Stores;
  readonly length: RunLength;
  readonly progress: (line: string) => void;
}

export async function measureParts(options: PartOptions): Promise<PartFigures> {
  const { plain, length, progress } = options;
  const contestants = [plain];
  for (const part of PARTS) contestants.push(await contestantOf(options, part));
  return {
    plain: plain.target.name,
    calls: await runRounds(contestants, plainCalls(length, progress)),
  };
}

async function contestantOf({ plain, stores }: PartOptions, part: Part): Promise<Contestant> {
  const { name, terms, headers, path, ...load } = part;
  const made = terms === undefined ? null : (await makeCallers(stores, terms)).map(callerOf);
  const callers = (made ?? plain.target.callers).map((caller) => ({ ...caller, ...headers }));
  const url = path === undefined ? plain.target.url : new URL(path, plain.target.url).href;
  return { ...plain, ...load, target: { ...plain.target, name, callers, url } };
}

function callerOf({ secret }: Caller): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${secret}` };
}

interface PartRow {
  readonly what: string;
  /** CPU above that of a plain call, in microseconds; the medians over the rounds. */
  readonly gatewayUs: number;
  readonly redisUs: number;
  /** The gateway's CPU, to that of a plain call. */
  readonly ratio: number;
}

const ofGateway = ({ cpuPerCallUs }: Round) => cpuPerCallUs;
const ofRedis = ({ othersPerCallUs }: Round) => othersPerCallUs.redis ?? Number.NaN;

/** A row for each part. */
export function partRows({ plain, calls }: PartFigures): PartRow[] {
  return PARTS.map(({ name }) => {
    const sides = { over: name, under: plain };
    return {
      what: name,
      gatewayUs: difference(calls, sides, ofGateway),
      redisUs: difference(calls, sides, ofRedis),
      ratio: ratio(calls, sides, ofGateway),
    };
  });
}

/** The rows as text. */
export function partsTable(figures: PartFigures): string {
  const { plain, calls } = figures;
  const line = (what: string, ...cells: readonly string[]) =>
    [what.padEnd(32), ...cells.map((cell) => cell.padStart(16))].join("");
  const rows = partRows(figures).map(({ what, gatewayUs, redisUs, ratio }) =>
    line(what, gatewayUs.toFixed(1), redisUs.toFixed(1), ratio.toFixed(2)),
  );
  const [gateway, redis] = [ofGateway, ofRedis].map((pick) => median(calls, plain, pick));
  return [
    `CPU of a call without them: gateway ${gateway?.toFixed(1)} us, Redis ${redis?.toFixed(1)} us`,
    line("with", "gateway us more", "Redis us more", "gateway ratio"),
    ...rows,
  ].join("\n");
}
