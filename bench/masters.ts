// Measures the cost of a call on one Redis and on a Cluster of three masters, each with its own
// stores, worker and API process, in alternating rounds of the same load.

import { join } from "node:path";
import { Redis } from "ioredis";
import { bucketKeys } from "../actors/records/keys.ts";
import { temporaryFolder } from "../scripts/local/processes.mjs";
import { BUCKETS } from "../src/core/access/limits.ts";
import {
  type Caller,
  makeCallers,
  proveBilling,
  type RedisKind,
  type Stores,
  startApi,
  startStores,
  startWorker,
  untilFlushed,
} from "./farebox.ts";
import { plainCalls } from "./load/plans.ts";
import type { RunLength } from "./options.ts";
import { type Contestant, median, type Results, type Round, ratio, runRounds } from "./rounds.ts";
import { startUpstream, type TargetSetting } from "./targets.ts";

export interface MastersOptions {
  readonly length: RunLength;
  readonly cleanup: AsyncDisposableStack;
  readonly progress: (line: string) => void;
}

/** The share of one master of the Cluster. */
export interface MasterShare {
  readonly name: string;
  readonly buckets: number;
  /** The number of calling accounts on this master. */
  readonly accounts: number;
}

export interface MastersReport {
  /** Rounds of `1 master` and `3 masters`. */
  readonly calls: Results;
  readonly shares: readonly MasterShare[];
}

/** One key each: masters share the buckets, and a bucket has some of the accounts. */
const CALLERS = { accountCount: 192, keysAnAccount: 1 } as const;
const [ONE, THREE] = ["1 master", "3 masters"];
const KINDS: readonly (readonly [name: string, kind: RedisKind])[] = [
  [ONE, "single"],
  [THREE, "cluster"],
];

interface Runner {
  readonly stores: Stores;
  readonly callers: readonly Caller[];
  readonly contestant: Contestant;
}

/** Measures both. `cleanup` stops everything that it starts. */
export async function measureMasters(options: MastersOptions): Promise<MastersReport> {
  const { length, cleanup, progress } = options;
  const folder = temporaryFolder("farebox-bench-masters-");
  cleanup.defer(() => folder.remove());
  const upstream = await startUpstream(folder.path);
  cleanup.defer(() => upstream.stop());
  const place = { logFolder: folder.path, upstreamUrl: upstream.url };
  const runners = new Map<string, Runner>();
  for (const [name, kind] of KINDS) {
    progress(`starting ${name}`);
    runners.set(name, await startRunner(options, { name, kind, place }));
  }
  const contestants = [...runners.values()].map(({ contestant }) => contestant);
  const calls = await runRounds(contestants, plainCalls(length, progress));
  for (const [name, { stores }] of runners) {
    await proveBilling(stores, calls.get(name)?.costNano ?? 0n);
  }
  const cluster = runners.get(THREE);
  return { calls, shares: cluster === undefined ? [] : await sharesOf(cluster) };
}

async function startRunner(
  { cleanup }: MastersOptions,
  { name, kind, place }: { name: string; kind: RedisKind; place: TargetSetting },
): Promise<Runner> {
  const started = await startStores(join(place.logFolder, kind), kind);
  cleanup.defer(() => started.stop());
  // A Cluster has no sockets, so neither side uses one.
  const stores = { ...started, redisUrl: started.redisPortUrl };
  const callers = await makeCallers(stores, CALLERS);
  const worker = await startWorker(stores, place);
  cleanup.defer(() => worker.stop());
  const secrets = callers.map(({ secret }) => secret);
  const api = await startApi(stores, place, { secrets });
  cleanup.defer(() => api.stop());
  const contestant: Contestant = {
    target: { ...api.target, name },
    others: { ...stores.redisPids, worker: worker.pid },
    settle: () => untilFlushed(stores),
  };
  return { stores, callers, contestant };
}

/** Counts each master's buckets, and its calling accounts. */
async function sharesOf({ stores, callers }: Runner): Promise<MasterShare[]> {
  const urls = stores.redisUrl.split(",");
  const node = new Redis(urls[0] ?? "");
  try {
    const ranges = await node.cluster("SLOTS");
    const names = await Promise.all(
      Array.from({ length: BUCKETS }, async (_, bucket) => {
        const slot = Number(await node.cluster("KEYSLOT", bucketKeys(bucket).bucket));
        const range = ranges.find(([first, last]) => first <= slot && slot <= last);
        return `redis-${urls.findIndex((url) => url.endsWith(`:${range?.[2]?.[1]}`))}`;
      }),
    );
    return urls.map((_, index) => {
      const name = `redis-${index}`;
      const buckets = names.filter((owner) => owner === name).length;
      const accounts = callers.filter(({ bucket }) => names[bucket] === name).length;
      return { name, buckets, accounts };
    });
  } finally {
    node.disconnect();
  }
}

const isMaster = ([name]: readonly [string, number]) => name.startsWith("redis");

function mastersOf({ othersPerCallUs }: Round): number[] {
  return Object.entries(othersPerCallUs)
    .filter(isMaster)
    .map(([, us]) => us);
}

/** CPU of all masters for each call, in microseconds. */
const redisSum = (round: Round) => mastersOf(round).reduce((sum, us) => sum + us, 0);
/** CPU of the busiest master: when its core is full, it bounds all of them. */
const busiest = (round: Round) => Math.max(...mastersOf(round));

const ROWS: readonly (readonly [what: string, pick: (round: Round) => number, digits: number])[] = [
  ["calls/s, all on the same cores", ({ callsPerSecond }) => callsPerSecond, 0],
  ["p50 ms", ({ p50Ms }) => p50Ms, 1],
  ["p99 ms", ({ p99Ms }) => p99Ms, 1],
  ["gateway CPU us/call", ({ cpuPerCallUs }) => cpuPerCallUs, 1],
  ["worker CPU us/call", ({ othersPerCallUs }) => othersPerCallUs.worker ?? Number.NaN, 1],
  ["Redis CPU us/call, sum", redisSum, 1],
  ["Redis CPU us/call, busiest master", busiest, 1],
  ["calls/s until its core is full", (round) => 1e6 / busiest(round), 0],
];

/** The report as a table: medians of the rounds, and of the ratios within each round. */
export function mastersTable({ calls, shares }: MastersReport): string {
  const line = (what: string, ...cells: readonly string[]) =>
    [what.padEnd(36), ...cells.map((cell) => cell.padStart(12))].join("");
  const rows = ROWS.map(([what, pick, digits]) =>
    line(
      what,
      median(calls, ONE, pick).toFixed(digits),
      median(calls, THREE, pick).toFixed(digits),
      ratio(calls, { over: THREE, under: ONE }, pick).toFixed(2),
    ),
  );
  const spread = shares.map(({ name, buckets, accounts }) => {
    const cpu = median(calls, THREE, (round) => round.othersPerCallUs[name] ?? Number.NaN);
    return `${name}: ${buckets} buckets, ${accounts} accounts, ${cpu.toFixed(1)} us/call`;
  });
  return [line("", ONE, THREE, "ratio"), ...rows, ...spread].join("\n");
}

/** The report as JSON, every round included. */
export function mastersJson({ calls, shares }: MastersReport): string {
  const replace = (_key: string, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value;
  return `${JSON.stringify({ calls: Object.fromEntries(calls), shares }, replace, 2)}\n`;
}
