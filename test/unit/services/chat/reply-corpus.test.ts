// Tests replies as servers have sent them, one file for each report or habit in corpus/: whole, cut
// at every byte, and byte by byte, each gives the same reply in OpenAI's vocabulary.

import { describe, expect, test } from "bun:test";
import {
  completeUpstream,
  streamUpstream,
} from "../../../../src/services/chat/protocols/openai/openai-provider.ts";
import type { UpstreamCall } from "../../../../src/services/chat/protocols/protocol.ts";
import type { ChatBatch } from "../../../../src/services/chat/protocols/provider.ts";
import { RouteFailure } from "../../../../src/upstream/route-failure.ts";
import type { Fetch } from "../../../../src/upstream/upstream-http.ts";
import { providerAt, upstreamCall } from "../../../support/api/chat-routes.ts";
import { rejection } from "../../../support/api/rejection.ts";
import {
  assembled,
  type CorpusCase,
  corpus,
  expectedOf,
  replyOf,
  streamTypeOf,
} from "../../../support/api/reply-corpus.ts";

const CASES = corpus();
const provider = providerAt("http://nowhere.test/v1");

function callOf({ showsReasoning = false }: CorpusCase, fetch: Fetch): UpstreamCall {
  return upstreamCall(provider, "m", { fetch, showsReasoning });
}

/** A response with these reads of a stream. */
function streamOf(one: CorpusCase, reads: readonly Uint8Array[]): Fetch {
  const headers = { "content-type": streamTypeOf(one) };
  return async () => {
    const left = [...reads];
    const pull = (stream: ReadableStreamDefaultController) => {
      const next = left.shift();
      if (next === undefined) stream.close();
      else stream.enqueue(next);
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers });
  };
}

/** The reply of a stream in the form that its caller gets; `failed` if the stream broke off. */
async function streamed(one: CorpusCase, reads: readonly Uint8Array[]) {
  const batches: ChatBatch[] = [];
  try {
    for await (const batch of streamUpstream(callOf(one, streamOf(one, reads))))
      batches.push(batch);
  } catch (error) {
    expect(error).toBeInstanceOf(RouteFailure);
    return { failed: true, ...assembled(batches) };
  }
  return { failed: false, ...assembled(batches) };
}

for (const one of CASES) {
  const expected = expectedOf(one);
  describe(`${one.name}: ${one.report}`, () => {
    const bytes = one.streamBytes;
    if (bytes !== null) {
      test("whole stream", async () => {
        expect(await streamed(one, [bytes])).toEqual(expected);
      });

      test("a stream byte by byte", async () => {
        const reads = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
        expect(await streamed(one, reads)).toEqual(expected);
      });

      test("a stream cut in two anywhere", async () => {
        for (let at = 1; at < bytes.length; at += 1) {
          const read = await streamed(one, [bytes.subarray(0, at), bytes.subarray(at)]);
          if (!Bun.deepEquals(read, expected)) expect({ at, ...read }).toEqual({ at, ...expected });
        }
      });
    }

    if (one.whole !== null) {
      const { whole } = one;
      test("a whole reply", async () => {
        const call = callOf(one, async () => new Response(whole));
        if (expected.failed) {
          expect(await rejection(completeUpstream(call))).toBeInstanceOf(RouteFailure);
        } else {
          expect({ failed: false, ...replyOf(await completeUpstream(call)) }).toEqual(expected);
        }
      });
    }
  });
}
