// `npm run bench`: measures Farebox with billing against a proxy without, and against Portkey's
// gateway, all on this machine and in one run. docs/performance.md explains the figures.

import { temporaryFolder } from "../scripts/local/processes.mjs";
import { accountsTable, measureAccounts } from "./accounts.ts";
import { measureAgainst } from "./against.ts";
import { comparisonJson, printComparison } from "./comparison.ts";
import { areDoorsMet, type DoorFigures, doorRows, doorsTable, measureDoors } from "./doors.ts";
import {
  type Caller,
  makeCallers,
  proveBilling,
  type Stores,
  startApi,
  startStores,
  startWorker,
  untilFlushed,
} from "./farebox.ts";
import { measureFlush, measureLog } from "./flush.ts";
import type { Program } from "./launch.ts";
import { bytesPerStream } from "./load/held-streams.ts";
import { chunkStreams, plainCalls } from "./load/plans.ts";
import { mastersJson, mastersTable, measureMasters } from "./masters.ts";
import { measureMix } from "./mix.ts";
import { type RunLength, readOptions, USAGE } from "./options.ts";
import { measureParts, type PartFigures, partRows, partsTable } from "./parts.ts";
import { measureRefusals, missesOf, refusalsTable } from "./refusals.ts";
import { aimsOf, isMet, type Measurements, printReport, toJson } from "./report.ts";
import { type Contestant, middle, type Results, runRounds } from "./rounds.ts";
import { measureSearch } from "./search.ts";
import { searchOf, startBare, startPortkey, startUpstream, type TargetSetting } from "./targets.ts";

const cleanup = new AsyncDisposableStack();
let isInterrupted = false;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.mode === "help") return console.log(USAGE);
  const { jsonFile } = options;
  if (options.mode === "refusals") {
    const report = await measureRefusals({ ...options, cleanup, progress });
    console.log(refusalsTable(report));
    if (jsonFile !== null) await Bun.write(jsonFile, JSON.stringify(report, null, 2));
    if (missesOf(report).length > 0) process.exitCode = 1;
    return;
  }
  const { length } = options;
  if (options.mode === "against") {
    const comparison = await measureAgainst({ ref: options.ref, length, cleanup, progress });
    printComparison(comparison);
    if (jsonFile !== null) await Bun.write(jsonFile, comparisonJson(comparison));
    return;
  }
  if (options.mode === "accounts") {
    const report = await measureAccounts({ length, counts: options.counts, cleanup, progress });
    console.log(accountsTable(report));
    if (jsonFile !== null) await Bun.write(jsonFile, JSON.stringify(report, null, 2));
    return;
  }
  if (options.mode === "masters") {
    const report = await measureMasters({ length, cleanup, progress });
    console.log(mastersTable(report));
    if (jsonFile !== null) await Bun.write(jsonFile, mastersJson(report));
    return;
  }
  if (options.mode === "doors") {
    const doors = await measureAllDoors(length);
    console.log(doorsTable(doors));
    if (jsonFile !== null) await Bun.write(jsonFile, JSON.stringify(doorRows(doors), null, 2));
    if (!areDoorsMet(doors)) process.exitCode = 1;
    return;
  }
  if (options.mode === "parts") {
    const parts = await measureAllParts(length);
    console.log(partsTable(parts));
    if (jsonFile !== null) await Bun.write(jsonFile, JSON.stringify(partRows(parts), null, 2));
    return;
  }
  const run = await measure(length);
  printReport(run);
  if (jsonFile !== null) await Bun.write(jsonFile, toJson(run));
  if (!aimsOf(run).every(isMet)) process.exitCode = 1;
}

interface Setting {
  readonly length: RunLength;
  readonly stores: Stores;
  readonly callers: readonly Caller[];
  readonly place: TargetSetting;
  readonly worker: Program;
}

async function openSetting(length: RunLength): Promise<Setting> {
  const folder = temporaryFolder("farebox-bench-");
  cleanup.defer(() => folder.remove());
  progress("starting the stores");
  const stores = started(await startStores(folder.path));
  const callers = await makeCallers(stores);
  progress("starting the servers");
  const upstream = started(await startUpstream(folder.path));
  const place = { logFolder: folder.path, upstreamUrl: upstream.url };
  const worker = started(await startWorker(stores, place));
  return { length, stores, callers, place, worker };
}

/** Measures chat completions and every other door, whose charges must equal the ledger. */
async function measureAllDoors(length: RunLength): Promise<DoorFigures> {
  const { stores, callers, place } = await openSetting(length);
  const api = started(await startApi(stores, place, { secrets: secretsOf(callers) }));
  const chat = { target: api.target, others: {}, settle: () => untilFlushed(stores) };
  const figures = await measureDoors({ chat, length, progress });
  await proveBilling(stores, costOf([figures.calls, figures.streams]));
  return figures;
}

/** Measures plain calls and those that use a part, whose charges must equal the ledger. */
async function measureAllParts(length: RunLength): Promise<PartFigures> {
  const { stores, callers, place } = await openSetting(length);
  const api = started(await startApi(stores, place, { secrets: secretsOf(callers) }));
  const others = stores.redisPids;
  const plain = { target: api.target, others, settle: () => untilFlushed(stores) };
  const figures = await measureParts({ plain, stores, length, progress });
  await proveBilling(stores, costOf([figures.calls]));
  return figures;
}

async function measure(length: RunLength): Promise<Measurements> {
  const setting = await openSetting(length);
  const { stores, callers, worker } = setting;
  const loads = await runLoads(setting);
  progress(`holding ${length.heldStreams} streams open`);
  const streamBytes = await heldBytes(setting);
  await untilFlushed(stores);
  await worker.stop();
  progress(`flushing ${length.entries} entries`);
  const flush = await measureFlush(stores, callers, length.entries);
  const log = await measureLog(stores);
  progress("searching 100,000 documents");
  const index = await measureSearch();
  return { ...loads, heldStreams: length.heldStreams, streamBytes, flush, log, index };
}

async function runLoads(setting: Setting) {
  const { length, stores, callers, place, worker } = setting;
  const api = started(await startApi(stores, place, { secrets: secretsOf(callers) }));
  const bare = started(await startBare(place));
  const portkey = started(await startPortkey(place));
  const alone = { others: {}, settle: () => Promise.resolve() };
  const others = { ...stores.redisPids, worker: worker.pid, postgres: stores.postgresPid };
  const farebox = { target: api.target, others, settle: () => untilFlushed(stores) };
  const contestants: Contestant[] = [
    { target: bare.target, ...alone },
    farebox,
    { target: portkey.target, ...alone },
    // Searches run in the same rounds, because a search is compared with a chat.
    { ...farebox, target: searchOf(api.target), model: "search" },
  ];
  const calls = await runRounds(contestants, plainCalls(length, progress));
  await portkey.stop();
  const streams = await runRounds(contestants.slice(0, 2), chunkStreams(length, progress));
  const mix = await measureMix({
    targets: { bare: bare.target, farebox: api.target },
    rounds: length.mixedRounds,
    roundMs: length.mixedRoundMs,
    settle: farebox.settle,
    progress,
  });
  await Promise.all([bare.stop(), api.stop()]);
  const charged = await proveBilling(stores, costOf([calls, streams]) + mix.costNano);
  return { calls, streams, mix, charged };
}

function costOf(runs: readonly Results[]): bigint {
  const costs = runs.flatMap((results) => [...results.values()].map(({ costNano }) => costNano));
  return costs.reduce((sum, cost) => sum + cost, 0n);
}

function secretsOf(callers: readonly Caller[]): string[] {
  return callers.map(({ secret }) => secret);
}

/**
 * Measures the memory of an open stream, by target, in fresh processes: a process that has worked
 * hard has free memory, which would hide the growth. The remaining garbage differs from one process
 * to the next.
 */
async function heldBytes({ length, stores, callers, place }: Setting) {
  const bare: number[] = [];
  const farebox: number[] = [];
  for (let run = 0; run < length.heldRuns; run += 1) {
    bare.push(await held(startBare(place), length));
    farebox.push(await held(startApi(stores, place, { secrets: secretsOf(callers) }), length));
  }
  return { bare: middle(bare), farebox: middle(farebox) };
}

async function held(starting: ReturnType<typeof startBare>, length: RunLength): Promise<number> {
  const gateway = started(await starting);
  const bytes = await bytesPerStream(gateway.target, length.heldStreams);
  await gateway.stop();
  return bytes;
}

/** Registers a program to be stopped at the end; the last one started is stopped first. */
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
