// Keeps the sums of runs for a while, so that repeated requests for a run take only a small part of
// the database's time (D-823).

import type { Database } from "../servers/database.ts";
import { type RunSums, readRunSums, type SummedRun } from "./run-sums.ts";

/** The most runs whose sums a process keeps. */
export const RUN_SUMS_KEPT_MAX = 200;
/** Sums are kept for this many times the duration of their reading. */
const KEPT_TIMES = 20;
const KEPT_MS_MAX = 60_000;

interface Kept {
  readonly sums: Promise<RunSums>;
  /** Infinite while the sums are being read. */
  untilMs: number;
}

export class KeptRunSums {
  readonly #database: Database;
  readonly #monotonicMs: () => number;
  /** The sums by run, in the order in which their readings began. */
  readonly #kept = new Map<string, Kept>();

  constructor(database: Database, monotonicMs: () => number) {
    this.#database = database;
    this.#monotonicMs = monotonicMs;
  }

  /**
   * The sums of a run as `readRunSums` reads them, or as it read them a moment ago. Callers at the
   * same time share one reading.
   */
  of(run: SummedRun): Promise<RunSums> {
    const name = `${run.account} ${run.createdAt.getTime()} ${run.id}`;
    const before = this.#kept.get(name);
    if (before !== undefined && this.#monotonicMs() < before.untilMs) return before.sums;
    const kept = { sums: this.#read(run, name), untilMs: Number.POSITIVE_INFINITY };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > RUN_SUMS_KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return kept.sums;
  }

  async #read(run: SummedRun, name: string): Promise<RunSums> {
    const beganMs = this.#monotonicMs();
    let untilMs = 0;
    try {
      const sums = await readRunSums(this.#database, run);
      const endedMs = this.#monotonicMs();
      untilMs = endedMs + Math.min(KEPT_TIMES * (endedMs - beganMs), KEPT_MS_MAX);
      return sums;
    } finally {
      // The promise of a failed reading is not kept, so that the next call reads again.
      const kept = this.#kept.get(name);
      if (kept?.untilMs === Number.POSITIVE_INFINITY) kept.untilMs = untilMs;
    }
  }
}
