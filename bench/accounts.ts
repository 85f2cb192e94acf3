// Measures the cost of a call when Redis has many accounts, with two API processes on one store.

import { Redis } from "ioredis";
import { temporaryFolder } from "../scripts/local/processes.mjs";
import {
  makeCallers,
  type Stores,
  startApi,
  startStores,
  startWorker,
  untilFlushed,
} from "./farebox.ts";
import { fillAccounts, idleAccountBytes, type SampleAccount } from "./fill-accounts.ts";
import { runLoad } from "./load/load.ts";
import { plainCalls } from "./load/plans.ts";
import { cpuSeconds } from "./load/process-usage.ts";
import { requestOf } from "./load/requests.ts";
import type { RunLength } from "./options.ts";
import { middle } from "./rounds.ts";
import { startBare, startUpstream, type Target } from "./targets.ts";

export interface AccountsOptions {
  readonly length: RunLength;
  readonly counts: readonly number[];
  readonly cleanup: AsyncDisposableStack;
  readonly progress: (line: string) => void;
}

/** One line of the report: medians over the rounds with this number of accounts. */
export interface AccountsFigures {
  readonly accounts: number;
  readonly callsPerSecond: number;
  readonly gatewayCpuUs: number;
  readonly redisCpuUs: number;
  /** The bare proxy in the same rounds, which shows how busy the machine was. */
  readonly bareCpuUs: number;
  readonly p50Ms: number;
  readonly redisMb: number;
}

export interface AccountsReport {
  readonly stages: readonly AccountsFigures[];
  /** The sum of MEMORY USAGE over the keys of one account. */
  readonly idleAccountBytes: number;
  /** The growth of Redis divided by the number of added accounts. */
  readonly grownBytes: number;
}

const API_PROCESSES = 2;

interface Parts {
  readonly stores: Stores;
  readonly apis: readonly Target[];
  readonly bare: Target;
}

/** Measures in stages, from few accounts to many. */
export async function measureAccounts(options: AccountsOptions): Promise<AccountsReport> {
  const { length, counts, cleanup, progress } = options;
  const folder = temporaryFolder("farebox-bench-accounts-");
  cleanup.defer(() => folder.remove());
  const stores = await startStores(folder.path);
  cleanup.defer(() => stores.stop());
  const callers = await makeCallers(stores);
  const upstream = await startUpstream(folder.path);
  cleanup.defer(() => upstream.stop());
  const place = { logFolder: folder.path, upstreamUrl: upstream.url };
  const worker = await startWorker(stores, place);
  cleanup.defer(() => worker.stop());
  const bare = await startBare(place);
  cleanup.defer(() => bare.stop());
  const secrets = callers.map(({ secret }) => secret);
  const apis: Target[] = [];
  for (let started = 0; started < API_PROCESSES; started += 1) {
    const api = await startApi(stores, place, { secrets });
    cleanup.defer(() => api.stop());
    apis.push(api.target);
  }
  const redis = new Redis(stores.redisPortUrl);
  cleanup.defer(() => redis.disconnect());
  const parts: Parts = { stores, apis, bare: bare.target };
  progress("warming up");
  await runRound(parts, { ...length, roundMs: length.warmUpMs });
  const sample = await makeSample(stores, parts);
  return await measureStages({ parts, redis, sample, counts, length, progress });
}

/** An account with one key that has made a call, like most idle accounts. */
async function makeSample(stores: Stores, { apis: [api] }: Parts): Promise<SampleAccount> {
  const [sample] = await makeCallers(stores, { accountCount: 1, keysAnAccount: 1 });
  if (sample === undefined || api === undefined) throw new Error("There is no account to copy");
  const response = await fetch(api.url, {
    method: "POST",
    headers: { authorization: `Bearer ${sample.secret}` },
    body: requestOf({ model: "plain", stream: false }, 0).body,
  });
  if (!response.ok) throw new Error(`The account to copy cannot call: ${await response.text()}`);
  await untilFlushed(stores);
  return sample;
}

interface StagesOptions extends Pick<AccountsOptions, "length" | "counts" | "progress"> {
  readonly parts: Parts;
  readonly redis: Redis;
  readonly sample: SampleAccount;
}

async function measureStages(options: StagesOptions): Promise<AccountsReport> {
  const { parts, redis, sample, counts, length, progress } = options;
  const stages: AccountsFigures[] = [];
  const before = await usedBytes(redis);
  let filled = 0;
  let grownBytes = 0;
  for (const accounts of counts) {
    // The calling accounts exist in every stage.
    const copies = Math.max(0, accounts - 1);
    progress(`filling Redis up to ${accounts} accounts`);
    await fillAccounts(parts.stores.redisUrl, redis, { sample, from: filled, to: copies });
    filled = Math.max(filled, copies);
    const used = await usedBytes(redis);
    if (filled > 0) grownBytes = (used - before) / filled;
    const rounds: Round[] = [];
    for (let round = 1; round <= length.rounds; round += 1) {
      rounds.push(await runRound(parts, length));
      progress(`round ${round}: ${Math.round(rounds.at(-1)?.callsPerSecond ?? 0)} calls/s`);
    }
    const medianOf = (pick: (round: Round) => number) => middle(rounds.map(pick));
    stages.push({
      accounts,
      callsPerSecond: medianOf((round) => round.callsPerSecond),
      gatewayCpuUs: medianOf((round) => round.gatewayCpuUs),
      redisCpuUs: medianOf((round) => round.redisCpuUs),
      bareCpuUs: medianOf((round) => round.bareCpuUs),
      p50Ms: medianOf((round) => round.p50Ms),
      redisMb: used / 1e6,
    });
  }
  return { stages, idleAccountBytes: await idleAccountBytes(redis, sample), grownBytes };
}

type Round = Omit<AccountsFigures, "accounts" | "redisMb">;

async function runRound({ stores, apis, bare }: Parts, length: RunLength): Promise<Round> {
  const { load } = plainCalls(length, () => {});
  const half = { ...load, concurrency: load.concurrency / apis.length, rampMs: 200 };
  const pids = apis.map(({ pid }) => pid);
  const gatewayBefore = pids.map(cpuSeconds);
  const redisPids = Object.values(stores.redisPids);
  const redisBefore = redisPids.map(cpuSeconds);
  const results = await Promise.all(apis.map((target) => runLoad({ ...half, ...target })));
  const gatewayAfter = pids.map(cpuSeconds);
  const redisAfter = redisPids.map(cpuSeconds);
  const failed = results.find(({ failures }) => failures > 0);
  if (failed !== undefined) throw new Error(`A call failed: ${failed.firstFailure}`);
  await untilFlushed(stores);
  const bareBefore = cpuSeconds(bare.pid);
  const floor = await runLoad({ ...load, ...bare, rampMs: 200, durationMs: load.durationMs / 2 });
  const bareSeconds = cpuSeconds(bare.pid) - bareBefore;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const calls = sum(results.map((result) => result.calls));
  return {
    callsPerSecond: sum(results.map((result) => result.callsPerSecond)),
    gatewayCpuUs: ((sum(gatewayAfter) - sum(gatewayBefore)) * 1e6) / calls,
    redisCpuUs: ((sum(redisAfter) - sum(redisBefore)) * 1e6) / calls,
    bareCpuUs: (bareSeconds * 1e6) / floor.calls,
    p50Ms: middle(results.map((result) => result.p50Ms)),
  };
}

async function usedBytes(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1]);
}

/** The report as a table. */
export function accountsTable({ stages, ...memory }: AccountsReport): string {
  const head = ["accounts", "calls/s", "gateway us", "Redis us", "bare us", "p50 ms", "Redis MB"];
  const rows = stages.map((stage) => [
    String(stage.accounts),
    stage.callsPerSecond.toFixed(0),
    stage.gatewayCpuUs.toFixed(1),
    stage.redisCpuUs.toFixed(1),
    stage.bareCpuUs.toFixed(1),
    stage.p50Ms.toFixed(1),
    stage.redisMb.toFixed(0),
  ]);
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cell.padStart(12)).join(""));
  return [
    ...lines,
    `an idle account takes ${memory.idleAccountBytes} bytes by its keys, ` +
      `${memory.grownBytes.toFixed(0)} with its share of the tables`,
  ].join("\n");
}
