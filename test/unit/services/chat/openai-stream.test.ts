// Tests the adapter for OpenAI-compatible servers on streams that the test writes in its own
// process, byte by byte: the batches of one read, and the longest silence.

import { describe, expect, test } from "bun:test";
import type { CancelSignal } from "../../../../src/core/cancellation.ts";
import type { ProviderEntry } from "../../../../src/services/chat/models/catalogue.ts";
import { streamUpstream } from "../../../../src/services/chat/protocols/openai/openai-provider.ts";
import type { ChatBatch } from "../../../../src/services/chat/protocols/provider.ts";
import { RouteFailure } from "../../../../src/upstream/route-failure.ts";
import type { Fetch, UpstreamInit } from "../../../../src/upstream/upstream-http.ts";
import { providerAt, readAll, upstreamCall } from "../../../support/api/chat-routes.ts";
import { rejection } from "../../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../../support/eventually.ts";
import { UPSTREAM_SECRET } from "../../../support/fakes/fake-upstream.ts";

function streamFrom(fetch: Fetch, limits: Partial<ProviderEntry> = {}) {
  return streamUpstream(upstreamCall(providerAt("http://nowhere.test/v1", limits), "m", { fetch }));
}

type Write = (delta: object, finish?: string | null) => void;

const eventOf = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const deltaEvent = (delta: object, finish: string | null = null) =>
  eventOf({ choices: [{ index: 0, delta, finish_reason: finish }] });

/**
 * A stream that the test writes, without another thread or a socket between: the text is read
 * before any more time is counted, however busy the machine is.
 */
function writtenBy(
  limits: Partial<ProviderEntry>,
  writing: (write: Write, signal: CancelSignal) => void | Promise<void>,
) {
  const fetchWritten = async (_url: string, { signal }: UpstreamInit) => {
    if (!signal) throw new Error("Nobody can end this request");
    const start = (stream: ReadableStreamDefaultController) => {
      signal.addEventListener("abort", () => stream.error(signal.reason));
      const write: Write = (delta, finish = null) => {
        if (signal.aborted) return;
        stream.enqueue(new TextEncoder().encode(deltaEvent(delta, finish)));
        if (finish !== null) stream.close();
      };
      void writing(write, signal);
    };
    return new Response(new ReadableStream({ start }));
  };
  return streamFrom(fetchWritten, limits);
}

describe("a stream", () => {
  test("goes on while the server streams hidden reasoning beyond its limits", async () => {
    const limits = { firstByteTimeoutMs: 60, idleTimeoutMs: 60 };
    const thought = { content: null, reasoning_content: UPSTREAM_SECRET };
    const reply = writtenBy(limits, async (write, signal) => {
      write(thought);
      let isOutwaited = false;
      const silent = readAll(writtenBy(limits, (writeOther) => writeOther(thought)));
      void rejection(silent).then(() => {
        isOutwaited = true;
      });
      while (!isOutwaited && !signal.aborted) {
        write(thought);
        await eventLoopTurns(1);
      }
      write({ content: "42" }, "stop");
    });
    const { text, batches } = await readAll(reply);
    expect(text).toBe("42");
    // The reader learns that the server is alive, and nothing else.
    expect(batches[0]).toEqual({ deltas: [], usage: null, fingerprint: null });
  });

  test("is not cut off because the reader is slow", async () => {
    const limits = { idleTimeoutMs: 60 };
    const texts: unknown[] = [];
    const reply = writtenBy(limits, (write) => {
      for (const content of ["a", "b", "c"]) write({ content });
      write({}, "stop");
    });
    for await (const { deltas } of reply) {
      texts.push(...deltas.map(({ delta }) => delta.content));
      // For as long as a silent server with the same limits needs to be given up.
      if (texts.length === 1) {
        const silent = readAll(writtenBy(limits, (write) => write({ content: "a" })));
        expect(await rejection(silent)).toBeInstanceOf(RouteFailure);
      }
    }
    expect(texts).toEqual(["a", "b", "c", undefined]);
  });
});

describe("the end of a reply", () => {
  test("is not an empty finish_reason: a stream that then breaks off is incomplete", async () => {
    const text = deltaEvent({ content: "a" }, "") + deltaEvent({ content: "b" }, "");
    const error = await rejection(readAll(streamFrom(async () => new Response(text))));
    expect(error).toBeInstanceOf(RouteFailure);
    const whole = text + deltaEvent({}, "stop");
    const { deltas } = await readAll(streamFrom(async () => new Response(whole)));
    expect(deltas.map(({ finish_reason }) => finish_reason)).toEqual([null, null, "stop"]);
  });

  test("is not waited for longer because the server sends chunks without content", async () => {
    const fetchEndless = async (_url: string, { signal }: UpstreamInit) => {
      const start = async (stream: ReadableStreamDefaultController) => {
        signal?.addEventListener("abort", () => stream.error(signal.reason));
        const send = (event: string) => stream.enqueue(new TextEncoder().encode(event));
        send(deltaEvent({ content: "a" }, "stop"));
        while (!signal?.aborted) {
          await eventLoopTurns(1);
          if (!signal?.aborted) send(deltaEvent({}));
        }
      };
      return new Response(new ReadableStream({ start: (stream) => void start(stream) }));
    };
    expect((await readAll(streamFrom(fetchEndless, { usageTimeoutMs: 60 }))).text).toBe("a");
  });
});

test("a stream whose taker throws fails at once with that error", async () => {
  const fault = new Error("a fault of ours");
  const reply = writtenBy({}, (write) => write({ content: "a" }, "stop"));
  const told: unknown[] = [];
  reply.pull({
    take: () => {
      throw fault;
    },
    end: () => told.push("the end"),
    fail: (error) => told.push(error),
  });
  await eventually("the fault is told", () => told.length > 0);
  expect(told).toEqual([fault]);
});

test("a stream that breaks off blames the server, without its address", async () => {
  const start = (stream: ReadableStreamDefaultController) =>
    stream.error(Object.assign(new Error("http://secret.test broke"), { code: "ECONNRESET" }));
  const broken = streamFrom(async () => new Response(new ReadableStream({ start })));
  const error = await rejection(readAll(broken));
  expect(error).toMatchObject({ name: "RouteFailure", blames: "server" });
  expect(String(error)).not.toContain("secret.test");
});

describe("one read of a stream", () => {
  const delta = (content: string, finish?: string) => deltaEvent({ content }, finish);
  const readOnce = (text: string) => streamFrom(async () => new Response(text));

  test("returns the content before the failure in it", async () => {
    const texts: unknown[] = [];
    const reading = (async () => {
      const read = readOnce(delta("a") + delta("b") + eventOf({ error: { message: "c" } }));
      for await (const { deltas } of read) texts.push(deltas.map((one) => one.delta.content));
    })();
    expect(await rejection(reading)).toBeInstanceOf(RouteFailure);
    expect(texts).toEqual([["a", "b"]]);
  });

  test("shows that the model thinks, even if a usage stands beside the thought", async () => {
    const batches: ChatBatch[] = [];
    const thought = { delta: { content: null, reasoning_content: UPSTREAM_SECRET } };
    const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
    const reading = (async () => {
      const read = readOnce(eventOf({ choices: [thought], usage }));
      for await (const batch of read) batches.push(batch);
    })();
    await rejection(reading);
    // A batch with a usage would not keep the caller's stream alive.
    expect(batches).toEqual([{ deltas: [], usage: null, fingerprint: null }]);
  });

  test("returns nothing after [DONE]", async () => {
    const text = `${delta("a", "stop")}data: [DONE]\n\n${delta("b")}`;
    expect((await readAll(readOnce(text))).text).toBe("a");
  });

  test("may be followed by a flood after [DONE], which is cut off", async () => {
    let pulls = 0;
    let wasAborted = false;
    const fetchFlood = async (_url: string, { signal }: UpstreamInit) => {
      signal?.addEventListener("abort", () => {
        wasAborted = true;
      });
      const pull = (stream: ReadableStreamDefaultController) => {
        const text = pulls === 0 ? `${delta("a", "stop")}data: [DONE]\n\n` : ": more\n\n";
        pulls += 1;
        stream.enqueue(new TextEncoder().encode(text));
      };
      return new Response(new ReadableStream({ pull }));
    };
    const { text } = await readAll(streamFrom(fetchFlood));
    expect(text).toBe("a");
    await eventually("the request is ended", () => wasAborted);
    expect(pulls).toBeLessThan(20);
  });

  test("may have events without data, and no object but chunks", async () => {
    expect((await readAll(readOnce(`data:\n\n${delta("a", "stop")}`))).text).toBe("a");
    for (const junk of [[1], null, 5, "x"]) {
      expect(await rejection(readAll(readOnce(eventOf(junk))))).toBeInstanceOf(RouteFailure);
    }
  });

  test("of nonsense in every field shows only the valid parts", async () => {
    const index = -1;
    const tool_calls = [null, 5, { index, id: 3, type: "x", function: { name: {} } }];
    const choices = [null, { index: 7, delta: { content: "other" } }, { delta: { tool_calls } }];
    const text = eventOf({ choices, usage: "x" }) + delta("a", "stop");
    expect((await readAll(readOnce(text))).deltas).toEqual([
      { index: 0, delta: { content: "a" }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "stop" },
    ]);
  });
});

test("a stream without an end is refused at a size that no reply has", async () => {
  const text = `data: {"choices":[{"delta":{"content":"${"x".repeat(900_000)}"}}]}\n\n`;
  const bytes = new TextEncoder().encode(text);
  const pull = (stream: ReadableStreamDefaultController) => stream.enqueue(bytes);
  const fetchEndless = async () => new Response(new ReadableStream({ pull }));
  const reading = (async () => {
    for await (const _ of streamFrom(fetchEndless));
  })();
  expect(String(await rejection(reading))).toContain("larger");
});
