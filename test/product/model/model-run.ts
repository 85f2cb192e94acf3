// Runs many lists of commands at once, each in a bucket of its own, and shortens the first list
// that fails.

import { SCRIPT_LIBRARY } from "../../../actors/scripts/script-library.ts";
import type { BucketCursor } from "../../../src/store/ledger/journal-cursors.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import type { World } from "../../support/stores/world.ts";
import type { Command, Run } from "./commands.ts";
import { type Fault, libraryWith } from "./compared.ts";
import { Lane } from "./lane.ts";
import type { LaneDeps } from "./lane-process.ts";
import { type ModelAccount, makeAccounts } from "./model-accounts.ts";

export const START_MS = Date.parse("2031-03-15T12:00:00.000Z");
const LANES = 64;
/** Windows of evicted wallets and stored replies leave Redis after a minute of real time. */
const REDIS_FORGETS_SECONDS = 60;

/** A ledger that lists only the buckets to be flushed now. */
class SomeBuckets extends Ledger {
  wanted: ReadonlySet<number> = new Set();

  override async cursors(): Promise<BucketCursor[]> {
    return (await super.cursors()).filter((cursor) => this.wanted.has(cursor.bucket));
  }
}

/** Collects the lanes that ask for a flush, and flushes their buckets together. */
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
      onRejected: ([rejected]) => {
        if (rejected !== undefined) throw new Error(`An entry was rejected: ${rejected.reason}`);
      },
    });
  }
}

export interface Failure extends Run {
  readonly index: number;
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
      library: faults.reduce(libraryWith, SCRIPT_LIBRARY),
    };
  }

  /** Runs each list on an account of its own. Returns the first that failed, or null. */
  async run(runs: readonly Run[]): Promise<Failure | null> {
    // Each lane has a client of its own that listens for a new server.
    this.world.redis.setMaxListeners(0);
    await this.world.accounts.scripts.prepare();
    const wanted = runs.map(({ kind }, index) => ({ kind, bucket: index % LANES }));
    const accounts = await makeAccounts(this.world.database, wanted, START_MS);
    let failure: Failure | null = null;
    const lane = async (bucket: number) => {
      for (let index = bucket; index < runs.length && failure === null; index += LANES) {
        const [run, account] = [runs[index], accounts[index]];
        if (run === undefined || account === undefined) return;
        const error = await this.#runOne(account, run.commands);
        if (error !== null) failure ??= { ...run, index, error };
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, bucket) => lane(bucket)));
    return failure;
  }

  /** The shortest list found that still fails on the same kind of account. */
  async shrink(failure: Failure): Promise<Failure> {
    let best = failure;
    const { kind, index } = failure;
    for (let size = Math.ceil(best.commands.length / 2); size >= 1; ) {
      const { commands } = best;
      const shorter = Array.from({ length: Math.ceil(commands.length / size) }, (_, part) => ({
        kind,
        commands: commands.toSpliced(part * size, size),
      }));
      const again = await this.run(shorter);
      if (again === null) size = size === 1 ? 0 : Math.ceil(size / 2);
      else best = { ...again, index };
    }
    return best;
  }

  async #runOne(account: ModelAccount, commands: readonly Command[]): Promise<unknown> {
    const lane = new Lane(this.#deps, account, START_MS);
    const startMs = performance.now();
    try {
      for (const command of commands) await lane.step(command);
      await lane.finish();
      this.finished.push({ account, lane });
      return null;
    } catch (error) {
      const seconds = Math.round((performance.now() - startMs) / 1_000);
      if (seconds < REDIS_FORGETS_SECONDS) return error ?? new Error("There is no reason");
      return new Error(`The run took ${seconds} s: what Redis forgets by its own clock was gone`);
    }
  }
}
