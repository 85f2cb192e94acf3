// One trial: spending before, a race, perhaps a kill and a second race, spending after, a verdict.

import { type NanoUsd, nano, toDollars } from "../../src/core/money/money.ts";
import { readSpend, type SpendSource, settledSpend } from "./gateways.ts";
import { type Race, type RaceResult, race, together, worth } from "./race.ts";

/** The gateway is killed at this whole answer. */
export const KILLED_AT = 10;
const READY_MS_MAX = 120_000;

export interface Trial extends Omit<Race, "answered"> {
  /** The balance that the key or the customer may spend. */
  readonly balance: NanoUsd;
  /** Null if no request reports the spending. */
  readonly spend: SpendSource | null;
  /**
   * Kills the process that serves the first address, as `kill -9` does; null for a trial without a
   * kill.
   */
  readonly kill: (() => Promise<void>) | null;
}

export interface TrialResult extends RaceResult {
  readonly balance: NanoUsd;
  /** The sum of the prices of all whole answers. */
  readonly answeredWorth: NanoUsd;
  /** The spending that the gateway recorded; null if it was not read. */
  readonly spent: NanoUsd | null;
  readonly wasKilled: boolean;
}

/** Runs a trial to its end, also over a kill. */
export async function runTrial(trial: Trial): Promise<TrialResult> {
  const { spend, balance } = trial;
  const before = spend === null ? null : await readSpend(spend);
  const { result, wasKilled } = await racesOf(trial);
  const last = trial.urls.at(-1) ?? "";
  const after = spend === null ? null : await settledSpend({ ...spend, url: last });
  const spent = before === null || after === null ? null : nano(after - before);
  return { ...result, balance, answeredWorth: worth(result.answered), spent, wasKilled };
}

interface Raced {
  readonly result: RaceResult;
  readonly wasKilled: boolean;
}

async function racesOf(trial: Trial): Promise<Raced> {
  const { urls, kill } = trial;
  if (kill === null) return { result: await race(trial), wasKilled: false };
  // The first address serves alone until it dies, so that all open calls die with it.
  const kills: Promise<void>[] = [];
  const answered = (count: number) => {
    if (count === KILLED_AT) kills.push(kill());
  };
  const first = await race({ ...trial, urls: urls.slice(0, 1), answered });
  await Promise.all(kills);
  const last = urls.slice(-1);
  await untilAnswering(last[0] ?? "", trial.key);
  const second = await race({ ...trial, urls: last });
  return { result: together(first, second), wasKilled: kills.length > 0 };
}

async function untilAnswering(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (const endMs = performance.now() + READY_MS_MAX; performance.now() < endMs; ) {
    const reply = await fetch(`${url}/models`, { headers }).catch(() => null);
    if (reply !== null && reply.status < 500) return;
    await Bun.sleep(500);
  }
  throw new Error(`${url} does not answer after the kill`);
}

/** The faults of a result, in words; none if no more was given than paid, and all is charged. */
export function faultsOf({ balance, answeredWorth, spent, wasKilled }: TrialResult): string[] {
  const faults: string[] = [];
  const dollars = (amount: bigint) => toDollars(nano(amount));
  if (answeredWorth > balance) {
    faults.push(`answers worth ${dollars(answeredWorth)} for a balance of ${dollars(balance)}`);
  }
  if (spent === null) return faults;
  if (spent < answeredWorth) faults.push(`${dollars(answeredWorth - spent)} were never charged`);
  if (spent > balance) faults.push(`${dollars(spent - balance)} were charged beyond the balance`);
  // Calls that were open at a kill may be charged although their answers were lost.
  if (spent > answeredWorth && !wasKilled) {
    faults.push(`${dollars(spent - answeredWorth)} were charged without an answer`);
  }
  return faults;
}
