// `bun run bench`: Farebox with billing against a proxy without, and against Portkey's gateway,
// all on this machine and in one run. docs/performance.md says what the figures mean.

import { parseArgs } from "node:util";
import { temporaryFolder } from "../scripts/processes.mjs";
import {
  type Caller,
  chargedNano,
  makeCallers,
  type Stores,
  startApi,
  startStores,
  startWorker,
  untilFlushed,
} from "./farebox.ts";
import { measureFlush, measureLog } from "./flush.ts";
import { bytesPerStream } from "./held-streams.ts";
import type { Program } from "./launch.ts";
import { aimsOf, type Measurements, printReport, toJson } from "./report.ts";
import { type Contestant, type Results, runRounds } from "./rounds.ts";
import { measureSearch } from "./search.ts";
import { type Place, startBare, startPortkey, startUpstream, type Target } from "./targets.ts";

const USAGE = `Usage: bun run bench [--quick] [--json FILE]

  --quick       a rough answer in a minute and a half instead of a good one in five
  --json FILE   also writes every round to FILE`;

interface Scale {
  readonly rounds: number;
  readonly roundMs: number;
  readonly streamRounds: number;
  readonly streamRoundMs: number;
  readonly warmUpMs: number;
  readonly heldStreams: number;
  readonly entries: number;
}

const FULL: Scale = {
  rounds: 7,
  roundMs: 5_000,
  streamRounds: 5,
  streamRoundMs: 5_000,
  warmUpMs: 10_000,
  heldStreams: 1_000,
  entries: 50_000,
};
const QUICK: Scale = {
  rounds: 2,
  roundMs: 2_000,
  streamRounds: 2,
  streamRoundMs: 2_000,
  warmUpMs: 2_500,
  heldStreams: 1_000,
  entries: 20_000,
};

const CALLS_AT_ONCE = 64;
const STREAMS_AT_ONCE = 50;

const cleanup = new AsyncDisposableStack();
let isInterrupted = false;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const run = await measure(values.quick ? QUICK : FULL);
  printReport(run);
  if (values.json !== undefined) await Bun.write(values.json, toJson(run));
  if (aimsOf(run).some(({ value }) => Number.isNaN(value))) process.exitCode = 1;
}

interface Setting {
  readonly scale: Scale;
  readonly stores: Stores;
  readonly callers: readonly Caller[];
  readonly place: Place;
  readonly worker: Program;
}

async function measure(scale: Scale): Promise<Measurements> {
  const folder = temporaryFolder("farebox-bench-");
  cleanup.defer(() => folder.remove());
  progress("starting the stores");
  const stores = started(await startStores(folder.path));
  const callers = await makeCallers(stores);
  progress("starting the servers");
  const upstream = started(await startUpstream(folder.path));
  const place = { logFolder: folder.path, upstreamUrl: upstream.url };
  const worker = started(await startWorker(stores, place));
  const setting = { scale, stores, callers, place, worker };

  const loads = await runLoads(setting);
  progress(`holding ${scale.heldStreams} streams open`);
  // Fresh processes: one that has worked hard has memory to spare, which would hide the growth.
  const streamBytes = {
    bare: await held(startBare(place), scale),
    farebox: await held(startApi(stores, place, callers), scale),
  };
  await untilFlushed(stores);
  await worker.stop();
  progress(`flushing ${scale.entries} entries`);
  const flush = await measureFlush(stores, callers, scale.entries);
  const log = await measureLog(stores);
  progress("searching 100,000 documents");
  const index = await measureSearch();
  return { ...loads, heldStreams: scale.heldStreams, streamBytes, flush, log, index };
}

async function runLoads(setting: Setting) {
  const { scale, stores, callers, place, worker } = setting;
  const api = started(await startApi(stores, place, callers));
  const bare = started(await startBare(place));
  const portkey = started(await startPortkey(place));
  const alone = { others: {}, settle: () => Promise.resolve() };
  const others = { redis: stores.redisPid, worker: worker.pid };
  const farebox = { target: api.target, others, settle: () => untilFlushed(stores) };
  const contestants: Contestant[] = [
    { target: bare.target, ...alone },
    farebox,
    { target: portkey.target, ...alone },
  ];
  const { warmUpMs } = scale;
  const calls = await runRounds(contestants, {
    rounds: scale.rounds,
    warmUpMs,
    load: {
      model: "plain",
      stream: false,
      concurrency: CALLS_AT_ONCE,
      durationMs: scale.roundMs,
    },
    progress,
  });
  await portkey.stop();
  const searches = await runRounds([{ ...farebox, target: searchOf(api.target) }], {
    rounds: scale.streamRounds,
    warmUpMs,
    load: {
      model: "search",
      stream: false,
      concurrency: CALLS_AT_ONCE,
      durationMs: scale.roundMs,
    },
    progress,
  });
  const streams = await runRounds(contestants.slice(0, 2), {
    rounds: scale.streamRounds,
    warmUpMs,
    load: {
      model: "chunks-200",
      stream: true,
      concurrency: STREAMS_AT_ONCE,
      durationMs: scale.streamRoundMs,
    },
    progress,
  });
  await Promise.all([bare.stop(), api.stop()]);
  const charged = await proveBilling(stores, [calls, streams, searches]);
  return { calls, streams, searches, charged };
}

/** The same process, asked to search. */
function searchOf(target: Target): Target {
  return { ...target, name: "search", url: new URL("/v1/search", target.url).href };
}

/** What callers were told that they paid must be what the ledger says, and more than nothing. */
async function proveBilling(stores: Stores, runs: readonly Results[]) {
  const costs = runs.map((results) => {
    return (results.get("farebox") ?? results.get("search"))?.costNano ?? 0n;
  });
  const byCallersNano = costs.reduce((sum, cost) => sum + cost, 0n);
  const byLedgerNano = await chargedNano(stores);
  if (byCallersNano > 0n && byCallersNano === byLedgerNano) return { byCallersNano, byLedgerNano };
  throw new Error(`Callers paid ${byCallersNano} nano-USD, the ledger has ${byLedgerNano}`);
}

async function held(starting: ReturnType<typeof startBare>, scale: Scale): Promise<number> {
  const gateway = started(await starting);
  const bytes = await bytesPerStream(gateway.target, scale.heldStreams);
  await gateway.stop();
  return bytes;
}

/** Sees to it that what was started is stopped at the end, the last one first. */
function started<Program extends { stop(): Promise<void> }>(program: Program): Program {
  cleanup.defer(() => program.stop());
  return program;
}

function progress(line: string): void {
  if (!isInterrupted) console.error(`- ${line}`);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    console.error("Stopping.");
    void cleanup.disposeAsync().finally(() => process.exit(130));
  });
}

try {
  await main();
} catch (error) {
  if (!isInterrupted) console.error(error);
  process.exitCode = 1;
}
if (!isInterrupted) {
  await cleanup.disposeAsync();
  process.exit();
}
