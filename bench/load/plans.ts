// Defines the two loads that every comparison runs.

import type { RunLength } from "../options.ts";
import type { RoundsOptions } from "../rounds.ts";

const CALLS_AT_ONCE = 64;
const STREAMS_AT_ONCE = 50;
/** After so many calls a gateway runs compiled code. */
const WARM_UP_CALLS = 15_000;

type Progress = RoundsOptions["progress"];

/** Calls that are not streamed. */
export function plainCalls(length: RunLength, progress: Progress): RoundsOptions {
  const load = { model: "plain", stream: false, concurrency: CALLS_AT_ONCE };
  const { rounds, warmUpMs, roundMs } = length;
  const plan = { ...load, durationMs: roundMs };
  return { rounds, warmUpMs, warmUpCalls: WARM_UP_CALLS, load: plan, progress };
}

/** Streams of 200 chunks. */
export function chunkStreams(length: RunLength, progress: Progress): RoundsOptions {
  const load = { model: "chunks-200", stream: true, concurrency: STREAMS_AT_ONCE };
  const { streamRounds: rounds, warmUpMs, streamRoundMs } = length;
  const plan = { ...load, durationMs: streamRoundMs };
  return { rounds, warmUpMs, warmUpCalls: 0, load: plan, progress };
}
