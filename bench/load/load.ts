// Runs the load generator, a separate process for each plan.

import { join } from "node:path";
import { BUN_SETTINGS } from "../../scripts/bun-settings.mjs";
import { BUN } from "../launch.ts";
import type { RequestKind } from "./requests.ts";

export interface LoadPlan extends RequestKind {
  readonly url: string;
  /** The headers of each caller; calls use them in turn. */
  readonly callers: readonly Readonly<Record<string, string>>[];
  readonly concurrency: number;
  /** The name of a header with another value in each call that is not streamed. */
  readonly numbered?: string | undefined;
  /** During this first part calls are made but not measured, because the generator warms up. */
  readonly rampMs: number;
  readonly durationMs: number;
}

export interface LoadResult {
  /** The number of calls, including the warm-up. */
  readonly calls: number;
  readonly failures: number;
  readonly firstFailure: string | null;
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The number of events of all streams. */
  readonly events: number;
  /** The sum of the costs in the responses, in nano-USD. */
  readonly costNano: string;
}

/** A plan that opens streams and holds them open. */
export interface HoldPlan extends Pick<LoadPlan, "url" | "callers" | "model"> {
  readonly streams: number;
  readonly holdMs: number;
}

/** Runs a plan to its end. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const output = await startGenerator("load-generator.ts", plan).stdout.text();
  return JSON.parse(output) as LoadResult;
}

/** Starts a generator, which reads its plan from its argument and exits when it is done. */
export function startGenerator(file: string, plan: object) {
  const child = Bun.spawn([BUN, join(import.meta.dir, file), JSON.stringify(plan)], {
    env: { ...process.env, ...BUN_SETTINGS },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const kill = () => child.kill();
  process.once("exit", kill);
  void child.exited.then(() => process.removeListener("exit", kill));
  return child;
}
