// Defines runs: budgets that callers name in their requests. A run counts the calls of all services
// and of all keys of its account, until it ends.

import { DAY_MS, MINUTE_MS, SECOND_MS } from "../durations.ts";
import type { NanoUsd } from "../money/money.ts";
import type { Budget } from "./budgets.ts";
import type { AccessRefusal } from "./key-limits.ts";

/** The form of ids of runs, and of names of steps. */
export const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The rule of `RUN_NAME` in words. */
export const RUN_NAME_RULE =
  "must be 1 to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit";

/** The most runs of an account that have not ended (D-788). */
export const OPEN_RUNS_MAX = 1_000;

/** The bounds of a run's time, in seconds. */
export const RUN_SECONDS = {
  min: MINUTE_MS / SECOND_MS,
  max: (30 * DAY_MS) / SECOND_MS,
  default: DAY_MS / SECOND_MS,
} as const;

/** The shortest time that a run is kept after its end (`RUN_KEEP_DAYS`). */
export const RUN_KEPT_MS_MIN = DAY_MS;

/** The run that a request names. */
export interface NamedRun {
  readonly id: string;
  /** The part of the run that the call belongs to; null without one. */
  readonly step: string | null;
  /** The amount of a run that begins with this request; null: it must have begun before. */
  readonly max: NanoUsd | null;
  /** The time of a run that begins with this request. */
  readonly seconds: number;
}

/** The operator's defaults for the parts of a run that callers leave out. */
export interface RunRules {
  /** Headers of clients whose value is the id of a run. */
  readonly sessionHeaders: readonly string[];
  /** The amount of a run whose first request names none; null: it must name one. */
  readonly max: NanoUsd | null;
  readonly seconds: number;
}

export const DEFAULT_RUN_RULES: RunRules = {
  sessionHeaders: [],
  max: null,
  seconds: RUN_SECONDS.default,
};

/** The states of a run: only an active one takes calls. */
export const RUN_STATES = ["active", "paused", "ended"] as const;
export type RunState = (typeof RUN_STATES)[number];

/** A run as Postgres has it. */
export interface Run {
  /** The number of the run's budget. */
  readonly number: number;
  readonly id: string;
  readonly amount: NanoUsd;
  readonly endsAtMs: number;
  readonly isPaused: boolean;
}

/** The number of a run that has not begun: its first call is decided by the terms that it names. */
export const NOT_BEGUN = 0;

/** The run that a request would begin. */
export function runToBegin({ id, seconds }: NamedRun, amount: NanoUsd, nowMs: number): Run {
  const endsAtMs = nowMs + seconds * SECOND_MS;
  return { number: NOT_BEGUN, id, amount, endsAtMs, isPaused: false };
}

export function isBegun({ number }: Pick<Run, "number">): boolean {
  return number !== NOT_BEGUN;
}

/** The state of a run at a time. */
export function runStateAt({ endsAtMs, isPaused }: Run, nowMs: number): RunState {
  if (nowMs >= endsAtMs) return "ended";
  return isPaused ? "paused" : "active";
}

/** The budget that a run is. */
export function runBudget({ number, amount, id }: Pick<Run, "number" | "amount" | "id">): Budget {
  return { number, of: "run", span: "total", amount, name: id };
}

/** The refusal of a call that names the run; null if its amount decides. */
export function runRefusal(run: Run, nowMs: number): AccessRefusal | null {
  const state = runStateAt(run, nowMs);
  if (state === "active") return null;
  if (state === "paused") {
    const message = `The run ${run.id} is paused; resume it, and send the call again`;
    return { code: "run_paused", message };
  }
  const end = new Date(run.endsAtMs).toISOString();
  const message = `The run ${run.id} ended at ${end}; give it more time, or name another run`;
  return { code: "run_ended", message };
}
