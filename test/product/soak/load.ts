// Makes a fixed number of calls a second, whether or not earlier ones have ended, and counts how
// they ended.

import { setTimeout as sleep } from "node:timers/promises";
import { type Caller, pickKind } from "./traffic.ts";
import { median } from "./verdict.ts";

const TICK_MS = 10;
/** The rate is reached step by step: an account's first call costs more. */
const RAMP_MS = 30_000;
/** With this many open calls the product does not keep up: further calls are left out. */
const UNDER_WAY_MAX = 1_000;
/** The most ends that are distinguished. */
const ENDS_MAX = 200;

/** The figures since the last look. */
export interface Lap {
  readonly answered: number;
  readonly p50: number;
  readonly p99: number;
}

export class SoakLoad {
  /** The number of calls of each kind by their end. */
  readonly ends = new Map<string, number>();
  /** The number of calls with a forbidden end, by that end. */
  readonly unexpected = new Map<string, number>();
  answered = 0;
  leftOut = 0;
  readonly #underWay = new Set<Promise<void>>();
  readonly #loop: Promise<void>;
  #latencies: number[] = [];
  #goesOn = true;

  constructor(
    readonly caller: Caller,
    readonly rate: number,
  ) {
    this.#loop = this.#run();
  }

  /** The share of calls with a forbidden end. */
  get unexpectedShare(): number {
    const count = [...this.unexpected.values()].reduce((sum, one) => sum + one, 0);
    return count / Math.max(1, this.answered);
  }

  /** The answers since the last lap. */
  lap(): Lap {
    const latencies = this.#latencies;
    this.#latencies = [];
    const sorted = latencies.toSorted((a, b) => a - b);
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    return { answered: latencies.length, p50: median(latencies), p99 };
  }

  /** Resolves when the open calls have ended. */
  async stop(): Promise<void> {
    this.#goesOn = false;
    await this.#loop;
    await Promise.all(this.#underWay);
  }

  async #run(): Promise<void> {
    const startMs = performance.now();
    let due = 0;
    while (this.#goesOn) {
      const now = callsDue(performance.now() - startMs, this.rate);
      for (; due < now; due += 1) this.#begin();
      await sleep(TICK_MS);
    }
  }

  #begin(): void {
    if (this.#underWay.size >= UNDER_WAY_MAX) {
      this.leftOut += 1;
      return;
    }
    const call: Promise<void> = this.#call().finally(() => this.#underWay.delete(call));
    this.#underWay.add(call);
  }

  async #call(): Promise<void> {
    const [name, kind] = pickKind(this.caller.random);
    const startMs = performance.now();
    let end: string;
    let isExpected = false;
    try {
      const status = await kind.run(this.caller);
      end = `${name}: ${status ?? "left"}`;
      isExpected = kind.expected.includes(status);
      if (status !== null) this.#latencies.push(performance.now() - startMs);
    } catch (error) {
      end = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.answered += 1;
    count(this.ends, end);
    if (!isExpected) count(this.unexpected, end);
  }
}

/** The calls that must have begun after this time. */
function callsDue(elapsedMs: number, rate: number): number {
  const rampedMs = Math.min(elapsedMs, RAMP_MS);
  const fullMs = rampedMs ** 2 / (2 * RAMP_MS) + (elapsedMs - rampedMs);
  return Math.floor((fullMs * rate) / 1_000);
}

function count(counts: Map<string, number>, what: string): void {
  const name = counts.has(what) || counts.size < ENDS_MAX ? what : "others";
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
