import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../src/core/errors.ts";
import { SERVED_PLAINLY } from "../../../../src/core/money/usage.ts";
import type { ProviderEntry } from "../../../../src/services/chat/models/catalogue.ts";
import {
  completeUpstream,
  streamUpstream,
} from "../../../../src/services/chat/protocols/openai/openai-provider.ts";
import { streamBytesMax } from "../../../../src/services/chat/protocols/openai/streamed-reply.ts";
import type { UpstreamCall } from "../../../../src/services/chat/protocols/protocol.ts";
import type { ChatRequest } from "../../../../src/services/chat/protocols/provider.ts";
import { RouteFailure } from "../../../../src/upstream/route-failure.ts";
import {
  inspected,
  KEY,
  limitsIn,
  PATIENT,
  providerAt,
  REQUEST,
  readAll,
  upstreamCall,
} from "../../../support/api/chat-routes.ts";
import { readChat } from "../../../support/api/read-chat.ts";
import { rejection } from "../../../support/api/rejection.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFakeUpstream, UPSTREAM_SECRET } from "../../../support/fakes/fake-upstream.ts";
import { shared } from "../../../support/shared.ts";

const upstream = await shared(startFakeUpstream());

interface CallParts extends Partial<Omit<UpstreamCall, "provider">> {
  readonly provider?: Partial<ProviderEntry>;
}

function callOf(mood: string, { provider = {}, ...parts }: CallParts = {}): UpstreamCall {
  const server = providerAt(upstream.baseUrl, { ...limitsIn(mood), ...provider });
  return upstreamCall(server, mood, parts);
}

const TEXT = "Fares are paid before the ride begins.";
const USAGE = {
  promptTokens: 12,
  cachedTokens: 0,
  completionTokens: 8,
  served: { ...SERVED_PLAINLY, model: "m" },
};

async function outcome(call: UpstreamCall, stream: boolean) {
  if (stream) return await readAll(streamUpstream(call));
  const { choices, usage } = await completeUpstream(call);
  return { text: choices[0]?.message.content ?? "", usage };
}

/** The request that reached the upstream while this ran. */
async function seenWhile(work: Promise<unknown>) {
  await work;
  const seen = upstream.requests.at(-1);
  if (seen === undefined) throw new Error("The upstream was not asked");
  return seen;
}

describe("the request to the upstream", () => {
  const hostile = {
    model: "public-model",
    messages: [
      { role: "developer", content: [{ type: "text", text: "a" }], api_base: "http://evil" },
      { role: "user", content: "b", cache_control: {}, __proto__: { x: 1 } },
    ],
    max_tokens: 7,
    temperature: 0.5,
    tools: [{ type: "function", function: { name: "f", url: "http://evil" }, extra: 1 }],
    stream: true,
    stream_options: { include_usage: false, include_obfuscation: true },
    api_base: "http://evil",
    base_url: "http://evil",
    api_key: "sk-evil",
    user_config: {},
    extra_headers: { authorization: "evil" },
    extra_body: { n: 100 },
    metadata: {},
    store: true,
    best_of: 4,
    echo: true,
    n: 1,
  };

  for (const stream of [false, true]) {
    test(`has only known fields, ${stream ? "streamed" : "plain"}`, async () => {
      const { request } = readChat(JSON.stringify(hostile));
      const { body, headers, path } = await seenWhile(outcome(callOf("ok", { request }), stream));
      expect(path).toBe("/v1/chat/completions");
      expect(body).toEqual({
        model: "ok",
        messages: [
          { role: "system", content: "a" },
          { role: "user", content: "b" },
        ],
        max_tokens: 7,
        temperature: 0.5,
        tools: [{ type: "function", function: { name: "f" } }],
        stream,
        ...(stream && { stream_options: { include_usage: true } }),
      });
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
      const known = ["authorization", "content-type", "accept", "content-length", "host"];
      const usual = ["connection", "user-agent", "accept-encoding"];
      expect(Object.keys(headers).filter((name) => ![...known, ...usual].includes(name))).toEqual(
        [],
      );
    });
  }

  test("cannot be changed by a parameter of the same name", async () => {
    const parameters = {
      model: "evil",
      messages: [],
      stream: true,
      max_tokens: 9,
      stream_options: {},
    };
    const request: ChatRequest = { ...REQUEST, parameters };
    const plain = await seenWhile(completeUpstream(callOf("ok", { request })));
    expect(plain.body).toMatchObject({ model: "ok", stream: false, max_tokens: 32 });
    expect(plain.body.messages).toHaveLength(1);
    const streamed = await seenWhile(readAll(streamUpstream(callOf("ok", { request }))));
    expect(streamed.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("names the output limit as the provider does, and a key only if it has one", async () => {
    const provider = { maxTokensField: "max_completion_tokens", apiKey: null } as const;
    const { body, headers } = await seenWhile(completeUpstream(callOf("ok", { provider })));
    expect(body).toMatchObject({ max_completion_tokens: 32 });
    expect(body).not.toHaveProperty("max_tokens");
    expect(headers).not.toHaveProperty("authorization");
  });

  test("has the whole tool conversation", async () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } } as const;
    const messages = [
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", content: "42", tool_call_id: "c" },
    ] as const;
    const request = { ...REQUEST, messages };
    const { body } = await seenWhile(completeUpstream(callOf("ok", { request })));
    expect(body.messages).toEqual(messages);
  });
});

describe("the reply from the upstream", () => {
  for (const mood of ["ok", "slow", "no-done", "crlf-sse", "no-usage", "reset-after-finish"]) {
    test(`has the text and the usage, streamed, in the mood ${mood}`, async () => {
      const { text, usage, deltas } = await outcomeOfStream(mood);
      expect(TEXT.startsWith(text)).toBe(true);
      expect(deltas.at(-1)?.finish_reason).toBe("stop");
      expect(usage).toEqual(/no-usage|reset/.test(mood) ? null : USAGE);
    });
  }

  test("has no usage if the server falls silent after its end", async () => {
    const { deltas, usage } = await outcomeOfStream("hang-after-finish");
    expect(deltas.at(-1)?.finish_reason).toBe("stop");
    expect(usage).toBeNull();
  });

  test("waits for its usage only as long as a caller may wait for the end", async () => {
    const provider = { idleTimeoutMs: PATIENT.idleTimeoutMs, usageTimeoutMs: 40 };
    const { deltas, usage } = await readAll(
      streamUpstream(callOf("hang-after-finish", { provider })),
    );
    expect(deltas.at(-1)?.finish_reason).toBe("stop");
    expect(usage).toBeNull();
  });

  for (const stream of [false, true]) {
    const how = stream ? "streamed" : "plain";
    for (const mood of [
      "no-usage",
      "negative-usage",
      "nan-usage",
      "fraction-usage",
      "huge-usage",
      "zero-usage",
      "over-cached-usage",
    ]) {
      test(`has no usage in the mood ${mood}, ${how}`, async () => {
        expect(await outcome(callOf(mood), stream)).toMatchObject({ text: TEXT, usage: null });
      });
    }

    test(`counts cached tokens, ${how}`, async () => {
      const { usage } = await outcome(callOf("cached-usage"), stream);
      expect(usage).toEqual({ ...USAGE, cachedTokens: 10 });
    });

    test(`never shows hidden reasoning, ${how}`, async () => {
      for (const mood of ["reasoning", "tool-call", "ok"]) {
        const call = callOf(mood);
        const shown = stream ? await readAll(streamUpstream(call)) : await completeUpstream(call);
        expect(inspected(shown)).not.toContain(UPSTREAM_SECRET);
        expect(inspected(shown)).not.toContain("reasoning_content");
      }
    });

    test(`may be nothing but hidden reasoning, ${how}`, async () => {
      expect((await outcome(callOf("reasoning-only"), stream)).text).toBe("");
    });

    test(`may be a refusal, which is not content, ${how}`, async () => {
      const refusal = "I will not do that";
      if (stream) {
        const { deltas } = await outcomeOfStream("refusal");
        expect(deltas.map(({ delta }) => delta)).toEqual([{ role: "assistant", refusal }, {}]);
      } else {
        const { choices } = await completeUpstream(callOf("refusal"));
        expect(choices[0]?.message).toEqual({ role: "assistant", content: null, refusal });
      }
    });

    test(`has logprobs only for a caller who asked for them, ${how}`, async () => {
      const none = { token: "No", logprob: -2.5, bytes: [78, 111] };
      const token = { token: "Yes", logprob: -0.25, bytes: null, top_logprobs: [none] };
      for (const asked of [true, false]) {
        const request = { ...REQUEST, parameters: asked ? { logprobs: true } : {} };
        const call = callOf("details", { request });
        const [one] = stream
          ? (await readAll(streamUpstream(call))).deltas
          : (await completeUpstream(call)).choices;
        expect(one?.logprobs).toEqual(asked ? { content: [token], refusal: null } : undefined);
      }
    });

    test(`has a fingerprint, and the kinds of its output tokens, ${how}`, async () => {
      const call = callOf("details");
      const { usage, fingerprint } = stream
        ? await wholeStream(call)
        : await completeUpstream(call);
      const { served: _, ...counts } = USAGE;
      expect(usage).toMatchObject({ ...counts, outputDetails: { reasoning_tokens: 3 } });
      expect(fingerprint).toBe("fp_44709d6fcb");
    });
  }

  test("survives a usage that is not JSON after the end of a stream", async () => {
    expect(await outcomeOfStream("nan-literal")).toMatchObject({ text: TEXT, usage: null });
  });
});

async function wholeStream(call: UpstreamCall) {
  const { batches, usage } = await readAll(streamUpstream(call));
  return { usage, fingerprint: batches[0]?.fingerprint };
}

const outcomeOfStream = (mood: string) => readAll(streamUpstream(callOf(mood)));

describe("tool calls", () => {
  const called = { name: "get_fare", arguments: '{"from":"A","to":"B"}' };

  test("come plain, their arguments always as text", async () => {
    const { choices } = await completeUpstream(callOf("tool-call"));
    expect(choices).toEqual([
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call_a", type: "function", function: called },
            {
              id: "call_b",
              type: "function",
              function: { name: "get_fare", arguments: '{"from":"C"}' },
            },
          ],
        },
        finish_reason: "tool_calls",
      },
    ]);
  });

  test("come in pieces that add up, even if the server leaves the index out", async () => {
    const { deltas, usage } = await readAll(streamUpstream(callOf("tool-call")));
    const pieces = deltas.flatMap(({ delta }) => (delta.tool_calls ?? []) as ToolPiece[]);
    const first = pieces.filter(({ id }) => id === undefined || id === "call_a");
    expect(first.map((piece) => piece.function?.arguments).join("")).toBe(called.arguments);
    expect(first.map(({ index }) => index)).toEqual([0, 0, 0]);
    const both = pieces.slice(3).map(({ id, index }) => [id, index]);
    expect(both).toEqual([
      ["b", 1],
      ["c", 2],
    ]);
    expect(deltas.at(-1)?.finish_reason).toBe("tool_calls");
    expect(usage).toEqual(USAGE);
  });
});

interface ToolPiece {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly arguments?: string };
}

describe("a route fails", () => {
  const both = [
    "401 403 404 408 429 500 503 redirect redirect-kept bad-json empty no-message",
    "error-200 hang-before-headers hang-in-error reset-before-headers reset-mid-stream",
    "hang-mid-stream error-mid-stream",
  ].flatMap((moods) => moods.split(" "));
  const onlyPlain = ["no-choices", "nan-literal"];
  const onlyStreamed = ["junk-mid-stream", "end-mid-stream", "oversize-event"];
  for (const mood of both.concat(onlyPlain)) {
    test(`in the mood ${mood}, plain`, async () => {
      const error = await rejection(completeUpstream(callOf(mood)));
      expect(error).not.toBeInstanceOf(ApiError);
    });
  }
  for (const mood of both.concat(onlyStreamed).filter((one) => one !== "no-message")) {
    test(`in the mood ${mood}, streamed`, async () => {
      expect(await rejection(outcomeOfStream(mood))).not.toBeInstanceOf(ApiError);
    });
  }

  test("by a redirect, which is not followed", async () => {
    const before = upstream.requests.length;
    for (const mood of ["redirect", "redirect-kept"]) {
      expect(await rejection(completeUpstream(callOf(mood)))).toBeInstanceOf(RouteFailure);
    }
    expect(upstream.requests.slice(before).map(({ path }) => path)).not.toContain("/v1/elsewhere");
  });

  for (const mood of ["huge", "gzip-bomb"]) {
    test(`by a reply over the size cap, and the rest is not read: ${mood}`, async () => {
      const error = await rejection(completeUpstream(callOf(mood)));
      expect(error).toMatchObject({ name: "RouteFailure" });
      expect(String(error)).toContain("larger");
      await eventually("the connection is closed", () => upstream.open <= 2);
    });
  }

  test("by bytes that no honest stream of its tokens has, and it reads no further", async () => {
    const delta = { reasoning: "a".repeat(60_000) };
    const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
    let sentBytes = 0;
    let wasCancelled = false;
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sentBytes += frame.length;
              controller.enqueue(new TextEncoder().encode(frame));
            },
            cancel() {
              wasCancelled = true;
            },
          }),
        ),
    });
    const provider = { baseUrl: `http://127.0.0.1:${server.port}/v1` };
    const failure = await rejection(outcome(callOf("flood", { provider }), true));
    expect(failure).toBeInstanceOf(RouteFailure);
    await eventually("the server was told", () => wasCancelled);
    expect(sentBytes).toBeGreaterThan(streamBytesMax(REQUEST.maxTokens));
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  test("by a server that floods it with usage and says nothing", async () => {
    const call = callOf("usage-flood", { provider: { firstByteTimeoutMs: 100 } });
    const error = await rejection(readAll(streamUpstream(call)));
    expect(inspected(error)).toContain("silent for 100 ms");
  });

  for (const mood of ["hang-before-headers", "hang-mid-stream"]) {
    test(`by its time limit, and says so: ${mood}`, async () => {
      const plain = await rejection(completeUpstream(callOf(mood)));
      expect(inspected(plain)).toContain("did not answer in time");
      const streamed = await rejection(outcomeOfStream(mood));
      expect(inspected(streamed)).toContain("silent for 100 ms");
    });
  }

  test("without its words in the log, since they may quote the prompt", async () => {
    for (const mood of ["500", "error-200", "error-mid-stream"]) {
      for (const stream of [false, true]) {
        const error = await rejection(outcome(callOf(mood), stream));
        expect(inspected(error)).not.toContain("secret-zone");
      }
    }
  });
});

describe("the end of a stream", () => {
  test("leaves the connection open for the next request", async () => {
    await outcomeOfStream("ok");
    const before = upstream.connections;
    for (let count = 0; count < 20; count += 1) await outcomeOfStream("tokens-3-every-1");
    expect(upstream.connections - before).toBeLessThanOrEqual(1);
  });

  test("that is not read to its end ends the request", async () => {
    for await (const _ of streamUpstream(callOf("hang-mid-stream", { provider: PATIENT }))) break;
    const seen = upstream.requests.at(-1);
    await eventually("the upstream is hung up on", () => seen?.isAborted === true);
  });
});
