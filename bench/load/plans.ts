// Defines the two loads that every comparison runs.

import type { RunLength } from "../options.ts";
import type { RoundsOptions } from "../rounds.ts";

const CALLS_AT_ONCE = 64;
const STREAMS_AT_ONCE = 50;

type Progress = RoundsOptions["progress"];

/** Calls that are not streamed. */
export function plainCalls(length: RunLength, progress: Progress): RoundsOptions {
  const load = { model: "plain", stream: false, concurrency: CALLS_AT_ONCE };
  const { rounds, warmUpMs, roundMs } = length;
  return { rounds, warmUpMs, load: { ...load, durationMs: roundMs }, progress };
}

/** Streams of 200 chunks. */
export function chunkStreams(length: RunLength, progress: Progress): RoundsOptions {
  const load = { model: "chunks-200", stream: true, concurrency: STREAMS_AT_ONCE };
  const { streamRounds: rounds, warmUpMs, streamRoundMs } = length;
  return { rounds, warmUpMs, load: { ...load, durationMs: streamRoundMs }, progress };
}
