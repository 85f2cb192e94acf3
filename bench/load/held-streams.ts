// Measures the memory of an open stream: how much a gateway grows while many streams are open.

import { middle } from "../rounds.ts";
import type { Target } from "../targets.ts";
import type { HoldPlan } from "./load.ts";
import { startGenerator } from "./load.ts";
import { residentBytes } from "./process-usage.ts";

const WARM_UP_STREAMS = 100;
/**
 * After this time a gateway records the streamed text: then the gateway has loaded the parts that
 * all streams need once, such as its tokenizer.
 */
const WARM_UP_MS = 7_000;
/** Time for the garbage collection of earlier streams. */
const SETTLE_MS = 3_000;
const HOLD_MS = 6_000;
const SAMPLE_MS = 200;

/** The growth in bytes of a fresh target's process for each open stream. */
export async function bytesPerStream(target: Target, streams: number): Promise<number> {
  const { url, callers } = target;
  const plan = { url, callers, model: "held" };
  await whileHeld({ ...plan, streams: WARM_UP_STREAMS, holdMs: WARM_UP_MS }, async () => {});
  await Bun.sleep(SETTLE_MS);
  const before = await typicalBytes(target.pid, 1_000);
  const held = await whileHeld({ ...plan, streams, holdMs: HOLD_MS }, async () => {
    await Bun.sleep(SETTLE_MS);
    return await typicalBytes(target.pid, HOLD_MS - SETTLE_MS - 1_000);
  });
  await Bun.sleep(1_000);
  return (held - before) / streams;
}

async function whileHeld<Result>(plan: HoldPlan, measure: () => Promise<Result>): Promise<Result> {
  const holder = startGenerator("stream-holder.ts", plan);
  const { value } = await holder.stdout.getReader().read();
  if (value === undefined) throw new Error("The streams could not be opened");
  const result = await measure();
  await holder.exited;
  return result;
}

async function typicalBytes(pid: number, forMs: number): Promise<number> {
  const samples: number[] = [];
  for (const endMs = Date.now() + forMs; Date.now() < endMs; await Bun.sleep(SAMPLE_MS)) {
    samples.push(residentBytes(pid));
  }
  return middle(samples);
}
