// The types of supervisor.mjs for the tests.

import type { Child, Exit } from "./processes.mjs";

export interface Supervised {
  readonly name: string;
  running(): Promise<void>;
  stop(timeoutMs?: number): Promise<void>;
}

export interface SupervisorOptions {
  readonly name: string;
  readonly child: Child;
  readonly start: (signal: AbortSignal) => Promise<Child>;
  readonly mayRestart: () => boolean;
  readonly say: (line: string) => void;
  readonly giveUp: (exit: Exit | null, why: string) => void;
  readonly now?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const DEATHS_MAX: number;
export function supervise(options: SupervisorOptions): Supervised;
