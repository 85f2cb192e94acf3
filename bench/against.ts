// Compares this version with the version of a git ref, in alternating rounds. Each version has its
// own stores, worker and API process; both call the same upstream.

import { join } from "node:path";
import { temporaryFolder } from "../scripts/local/processes.mjs";
import { type Comparison, type FlushFigures, searchesOf } from "./comparison.ts";
import { PROJECT, type Program } from "./launch.ts";
import { bytesPerStream } from "./load/held-streams.ts";
import { runLoad } from "./load/load.ts";
import { chunkStreams, plainCalls } from "./load/plans.ts";
import type { RunLength } from "./options.ts";
import { type Contestant, runRounds, turnsOf } from "./rounds.ts";
import { searchOf, startBare, startUpstream, type Target, type TargetSetting } from "./targets.ts";
import {
  checkOut,
  startVersionApi,
  startVersionStores,
  startVersionWorker,
  untilLogged,
  type Version,
  type VersionStores,
} from "./versions.ts";

export interface AgainstOptions {
  readonly ref: string;
  readonly length: RunLength;
  readonly cleanup: AsyncDisposableStack;
  readonly progress: (line: string) => void;
}

const THIS = "this";
const MEMORY_ROUNDS = 2;

interface Runner {
  readonly version: Version;
  readonly stores: VersionStores;
  readonly place: TargetSetting;
  worker: Program;
  /** Calls made so far: the log must get the same number of rows. */
  calls: number;
}

interface Setting extends AgainstOptions {
  readonly place: TargetSetting;
  readonly runners: readonly Runner[];
}

/** Measures both versions. `cleanup` stops everything that it starts. */
export async function measureAgainst(options: AgainstOptions): Promise<Comparison> {
  const { ref, length, cleanup, progress } = options;
  const folder = temporaryFolder("farebox-bench-");
  cleanup.defer(() => folder.remove());
  progress(`checking out ${ref}`);
  const versions: Version[] = [{ name: THIS, folder: PROJECT }, checkOut(ref, folder.path)];
  const upstream = stopLater(cleanup, await startUpstream(folder.path));
  const place = { logFolder: folder.path, upstreamUrl: upstream.url };
  const runners: Runner[] = [];
  for (const [index, version] of versions.entries()) {
    progress(`making accounts for ${version.name}`);
    const home = join(folder.path, `home-${index}`);
    const stores = stopLater(cleanup, await startVersionStores(version, home));
    const worker = await startVersionWorker(version, stores, place);
    runners.push({ version, stores, place, worker, calls: 0 });
  }
  cleanup.defer(async () => {
    await Promise.all(runners.map(({ worker }) => worker.stop()));
  });
  const setting = { ...options, place, runners };
  const loads = await runLoads(setting);
  const streamBytes = await holdStreams(setting);
  const flush = await flushBoth(setting);
  const names = { current: THIS, other: ref };
  return { names, ...loads, heldStreams: length.heldStreams, streamBytes, flush };
}

async function runLoads({ runners, place, length, progress, cleanup }: Setting) {
  const bare = stopLater(cleanup, await startBare(place));
  const apis = await Promise.all(
    runners.map(async (runner) => stopLater(cleanup, await startRunner(runner))),
  );
  const contestants = runners.flatMap((runner, index): Contestant[] => {
    const target = apis[index]?.target;
    return target === undefined ? [] : [contestantOf(runner, target)];
  });
  const floor: Contestant = { target: bare.target, others: {}, settle: async () => {} };
  // Searches run in the same rounds, because a search is compared with a chat.
  const searching = contestants.map((contestant) => ({
    ...contestant,
    target: searchOf(contestant.target, searchesOf(contestant.target.name)),
    model: "search",
  }));
  const calls = await runRounds(
    [floor, ...contestants, ...searching],
    plainCalls(length, progress),
  );
  const streams = await runRounds([floor, ...contestants], chunkStreams(length, progress));
  await Promise.all([bare, ...apis].map((program) => program.stop()));
  return { calls, streams };
}

function contestantOf(runner: Runner, target: Target): Contestant {
  return {
    target,
    others: {
      redis: runner.stores.redisPid,
      worker: runner.worker.pid,
      postgres: runner.stores.postgresPid,
    },
    settle: async (calls) => {
      runner.calls += calls;
      await untilLogged(runner.stores, runner.calls);
    },
  };
}

/** Uses fresh processes, because a process that has worked hard has free memory left. */
async function holdStreams(setting: Setting): Promise<Comparison["streamBytes"]> {
  const { runners, length, progress } = setting;
  const bytes: Record<string, number[]> = {};
  for (const { contestant: runner } of turnsOf(runners, MEMORY_ROUNDS)) {
    const { name } = runner.version;
    progress(`holding ${length.heldStreams} streams open, ${name}`);
    const api = stopLater(setting.cleanup, await startRunner(runner));
    const measured = await bytesPerStream(api.target, length.heldStreams);
    await api.stop();
    bytes[name] = [...(bytes[name] ?? []), measured];
  }
  return bytes;
}

/** Calls pile up while no worker runs; then the worker of the version moves them. */
async function flushBoth({ runners, length, progress, cleanup }: Setting): Promise<FlushFigures> {
  const rates: Record<string, number> = {};
  for (const runner of runners) {
    const { version, stores, place } = runner;
    await runner.worker.stop();
    const before = await stores.loggedRequests();
    const api = stopLater(cleanup, await startRunner(runner));
    progress(`piling up ${length.entries} entries, ${version.name}`);
    let made = 0;
    while (made < length.entries) {
      const plan = plainCalls(length, progress).load;
      const { calls, failures, firstFailure } = await runLoad({
        ...plan,
        ...api.target,
        rampMs: 0,
      });
      if (failures > 0) throw new Error(`${version.name}: a call failed: ${firstFailure}`);
      made += calls;
    }
    await api.stop();
    runner.worker = await startVersionWorker(version, stores, place);
    rates[version.name] = await drainRate(stores, before, made);
  }
  return rates;
}

/** Entries per second that arrive in Postgres, between 10 % and 90 % of all entries. */
async function drainRate(stores: VersionStores, before: number, made: number): Promise<number> {
  await untilLogged(stores, before + made * 0.1);
  const startMs = performance.now();
  const start = await stores.loggedRequests();
  await untilLogged(stores, before + made * 0.9);
  const end = await stores.loggedRequests();
  const seconds = (performance.now() - startMs) / 1000;
  await untilLogged(stores, before + made);
  return (end - start) / seconds;
}

function startRunner({ version, stores, place }: Runner) {
  return startVersionApi(version, stores, place);
}

/** Stops a program at the end of the run, unless it was stopped before. */
function stopLater<Program extends { stop(): Promise<void> }>(
  cleanup: AsyncDisposableStack,
  program: Program,
): Program {
  cleanup.defer(() => program.stop());
  return program;
}
