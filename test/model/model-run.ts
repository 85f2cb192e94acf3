// Runs many lists of commands at once, one bucket each, and makes the first that fails small.

import { defineScript } from "../../actors/script.ts";
import { type BucketCursor, Ledger } from "../../src/store/ledger.ts";
import { flushJournal } from "../../workers/log-flush.ts";
import { silent, type World } from "../support/world.ts";
import type { Command } from "./commands.ts";
import { Lane, type LaneDeps } from "./lane.ts";
import { type ModelAccount, makeAccounts } from "./model-accounts.ts";

export const START_MS = Date.parse("2031-03-15T12:00:00.000Z");
const LANES = 64;

/** A ledger that sees only the buckets that want to be flushed now. */
class SomeBuckets extends Ledger {
  wanted: ReadonlySet<number> = new Set();

  override async cursors(): Promise<BucketCursor[]> {
    return (await super.cursors()).filter((cursor) => this.wanted.has(cursor.bucket));
  }
}

/** Flushes the buckets of all lanes that ask meanwhile in one go. */
class SharedFlush {
  readonly #ledger: SomeBuckets;
  #waiting = new Set<number>();
  #next: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(readonly world: World) {
    this.#ledger = new SomeBuckets(world.database);
  }

  flush(bucket: number): Promise<void> {
    this.#waiting.add(bucket);
    this.#next ??= this.#running.then(() => this.#run());
    this.#running = this.#next;
    return this.#next;
  }

  async #run(): Promise<void> {
    this.#next = null;
    this.#ledger.wanted = this.#waiting;
    this.#waiting = new Set();
    const { accounts } = this.world;
    await flushJournal({
      scripts: accounts.scripts,
      ledger: this.#ledger,
      log: silent,
      keepMs: 60_000,
      rebuild: async () => {},
      onFork: (bucket) => {
        throw new Error(`The journal of bucket ${bucket} contradicts the ledger`);
      },
    });
  }
}

/** A script with a fault in it: what `good` is in its source becomes `bad`. */
export interface Fault {
  readonly script: { readonly source: string; readonly sha: string };
  readonly good: string;
  readonly bad: string;
}

export interface Failure {
  readonly run: number;
  readonly commands: readonly Command[];
  readonly error: unknown;
}

export class ModelRun {
  readonly #deps: LaneDeps;
  readonly finished: { readonly account: ModelAccount; readonly lane: Lane }[] = [];

  constructor(
    readonly world: World,
    faults: readonly Fault[] = [],
  ) {
    const flusher = new SharedFlush(world);
    this.#deps = {
      redis: world.redis,
      database: world.database,
      flush: (bucket) => flusher.flush(bucket),
      faulty: new Map(faults.map((fault) => [fault.script.sha, faultyScript(fault)])),
    };
  }

  /** Runs every list on an account of its own. The first that failed, or null. */
  async run(runs: readonly (readonly Command[])[]): Promise<Failure | null> {
    await this.world.accounts.scripts.prepare();
    const buckets = Array.from({ length: Math.min(LANES, runs.length) }, (_, bucket) => bucket);
    const count = Math.ceil(runs.length / Math.max(1, buckets.length));
    const { database } = this.world;
    const accounts = await makeAccounts(database, { buckets, count, startMs: START_MS });
    let failure: Failure | null = null;
    const lane = async (bucket: number) => {
      for (const [turn, account] of (accounts[bucket] ?? []).entries()) {
        const run = turn * buckets.length + bucket;
        const commands = runs[run];
        if (commands === undefined || failure !== null) return;
        const error = await this.#runOne(account, commands);
        if (error !== null) failure ??= { run, commands, error };
      }
    };
    await Promise.all(buckets.map(lane));
    return failure;
  }

  /** The shortest list found that fails still. */
  async shrink(failure: Failure): Promise<Failure> {
    let best = failure;
    for (let size = Math.ceil(best.commands.length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let at = best.commands.length - size; at >= 0; at -= size) {
        const commands = best.commands.toSpliced(at, size);
        const again = await this.run([commands]);
        if (again !== null) best = { ...again, run: failure.run };
      }
    }
    return best;
  }

  async #runOne(account: ModelAccount, commands: readonly Command[]): Promise<unknown> {
    const lane = new Lane(this.#deps, account, START_MS);
    try {
      for (const command of commands) await lane.step(command);
      await lane.finish();
      this.finished.push({ account, lane });
      return null;
    } catch (error) {
      return error ?? new Error("The run failed without a reason");
    }
  }
}

function faultyScript({ script, good, bad }: Fault): { source: string; sha: string } {
  const source = script.source.replace(good, () => bad);
  if (source === script.source) throw new Error(`No script has '${good}' to be made faulty`);
  const { sha } = defineScript(source, { keys: () => [], args: () => [], reply: () => null });
  return { source, sha };
}
