// Every provider that the configuration can name, over real HTTP, against servers that write its
// form: a caller's reply and cost are the same whatever the form, whole or streamed. The table of
// docs/providers.md has a cell for each of these tests.

import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ApiError } from "../../../../../src/core/errors.ts";
import { partsOf } from "../../../../../src/core/money/usage.ts";
import { base64Of } from "../../../../../src/services/chat/media/media-part.ts";
import { readImage } from "../../../../../src/services/chat/media/read-media.ts";
import { PROVIDER_MEDIA } from "../../../../../src/services/chat/models/provider-media.ts";
import type { UpstreamCall } from "../../../../../src/services/chat/protocols/protocol.ts";
import { RouteFailure } from "../../../../../src/upstream/route-failure.ts";
import { inspected, KEY, PROMPT, REQUEST } from "../../../../support/api/chat-routes.ts";
import { pngUrl } from "../../../../support/api/images.ts";
import { rejection } from "../../../../support/api/rejection.ts";
import { assembled, type CallersReply, replyOf } from "../../../../support/api/reply-corpus.ts";
import { eventually } from "../../../../support/eventually.ts";
import { eventsUpTo, type WireAnswer } from "../../../../support/fakes/wire/wire-answer.ts";
import {
  ALL_FORMS,
  ALL_WAYS,
  callBy,
  callTo,
  exchangeOf,
  protocolOf,
  sharedServiceAccount,
  type WireProvider,
  type WireWay,
} from "../../../../support/fakes/wire/wire-forms.ts";
import { startWireServer, type WireReply } from "../../../../support/fakes/wire/wire-server.ts";
import { shared } from "../../../../support/shared.ts";

const server = await shared(startWireServer());
const cloud = { region: "eu-west-1", serviceAccount: sharedServiceAccount() };

const USAGE = { uncached: 20, cacheRead: 7, cacheWrite: 0, output: 9, reasoning: 0 };
const THOUGHT = { text: "They ask for a fare.", seal: "c2VhbA==" };
const CALL = { id: "call_a1", name: "find_fare", input: { zone: "B", riders: 2 } };
const SCHEMA = { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] };
const TOOL = { type: "function", function: { name: "find_fare", parameters: SCHEMA } };

beforeEach(() => server.reset());

interface WireCase {
  readonly answer: WireAnswer;
  readonly parameters?: UpstreamCall["request"]["parameters"];
  readonly showsReasoning?: boolean;
  readonly expected: Partial<CallersReply>;
}

const PLAIN: WireAnswer = { text: ["Fares are ", "paid."], end: "stop", usage: USAGE };

const ROWS: Readonly<Record<string, WireCase>> = {
  plain: { answer: PLAIN, expected: { text: "Fares are paid.", finish: "stop" } },
  "cut by its limit": {
    answer: { ...PLAIN, end: "length" },
    expected: { text: "Fares are paid.", finish: "length" },
  },
  "stopped by a content filter": {
    answer: { ...PLAIN, end: "filter" },
    expected: { text: "Fares are paid.", finish: "content_filter" },
  },
  "tool calls": {
    answer: { calls: [CALL, { ...CALL, id: "call_a2", input: {} }], end: "stop", usage: USAGE },
    parameters: { tools: [TOOL] },
    expected: { finish: "tool_calls" },
  },
  "shown reasoning": {
    answer: { ...PLAIN, thought: THOUGHT, usage: { ...USAGE, reasoning: 4 } },
    showsReasoning: true,
    expected: { text: "Fares are paid.", reasoning: THOUGHT.text, finish: "stop" },
  },
  "hidden reasoning": {
    answer: { ...PLAIN, thought: THOUGHT, usage: { ...USAGE, reasoning: 4 } },
    expected: { text: "Fares are paid.", reasoning: "", finish: "stop" },
  },
  "structured output": {
    answer: { ...PLAIN, text: ['{"zone":', '"B"}'] },
    parameters: {
      response_format: { type: "json_schema", json_schema: { name: "fare", schema: SCHEMA } },
    },
    expected: { text: '{"zone":"B"}', finish: "stop" },
  },
  "cache write": {
    answer: { ...PLAIN, usage: { ...USAGE, cacheWrite: 40 } },
    expected: { text: "Fares are paid.", finish: "stop" },
  },
};

const KINDS = Object.keys(ALL_FORMS) as WireProvider[];
const TABLE = KINDS.flatMap((kind) =>
  Object.entries(ROWS)
    .filter(([, { answer }]) => answer.end !== "filter" || ALL_FORMS[kind].hasFilter !== false)
    .map(([name, row]) => [kind, name, row] as const),
);

async function askWhole(call: UpstreamCall, way: WireWay): Promise<CallersReply> {
  return replyOf(await exchangeOf(way).complete(call));
}

async function askStream(call: UpstreamCall, way: WireWay): Promise<CallersReply> {
  return assembled(await Array.fromAsync(exchangeOf(way).stream(call)));
}

/**
 * The parts that the caller pays for: a provider that names no such part counts its tokens as
 * input.
 */
function paid(kind: WireProvider, { usage }: WireAnswer) {
  const named = (part: keyof typeof usage) =>
    ALL_FORMS[kind].unnamed.includes(part) ? 0 : usage[part];
  const input = usage.uncached + named("cacheRead") + named("cacheWrite");
  return [input, named("cacheRead"), usage.output] as const;
}

describe.each(TABLE)("%s, %s", (kind, _, { answer, expected, ...parts }) => {
  const form = ALL_FORMS[kind];
  const { showsReasoning = false, parameters = {} } = parts;
  const call = () =>
    callTo(kind, server.url, { showsReasoning, request: { ...REQUEST, parameters } }, { cloud });

  test("gives the same reply and usage whole and streamed", async () => {
    server.queue(form.whole(answer), form.stream(answer));
    const whole = await askWhole(call(), { kind });
    const streamed = await askStream(call(), { kind });
    expect(streamed).toEqual(whole);
    expect(whole).toMatchObject({ ...expected, usage: paid(kind, answer) });
    const calls = answer.calls ?? [];
    expect(
      whole.calls.map(({ name, arguments: input }) => ({ name, input: JSON.parse(input) })),
    ).toEqual(calls.map(({ name, input }) => ({ name, input })));
  });
});

/** The usage of a reply, and of the stream of the same reply. */
async function usagesOf(kind: WireProvider, answer: WireAnswer) {
  const form = ALL_FORMS[kind];
  const call = () => callTo(kind, server.url, {}, { cloud });
  server.queue(form.whole(answer), form.stream(answer));
  const { usage } = await protocolOf(kind).complete(call());
  const batches = await Array.fromAsync(protocolOf(kind).stream(call()));
  return [usage, batches.at(-1)?.usage ?? null];
}

/** Providers whose cache keeps entries for five minutes. */
const SHORT_WRITES: ReadonlySet<WireProvider> = new Set(["anthropic", "amazon-bedrock"]);
const WRITING = KINDS.filter((kind) => !ALL_FORMS[kind].unnamed.includes("cacheWrite"));
const SEEING = KINDS.filter((kind) => PROVIDER_MEDIA[kind].kinds.includes("image"));

test("providers that write a cache are known, and those that take images", () => {
  expect(WRITING).toContain("anthropic");
  expect(SEEING).toContain("anthropic");
});

test.each(WRITING)("%s: a cache write is a part with a price of its own", async (kind) => {
  const answer = { ...PLAIN, usage: { ...USAGE, cacheWrite: 40 } };
  for (const usage of await usagesOf(kind, answer)) {
    const isShort = SHORT_WRITES.has(kind);
    expect(usage?.more).toEqual({ [isShort ? "cacheWrite5m" : "cacheWrite30m"]: 40 });
    expect(usage && partsOf(usage)).toMatchObject({ uncached: 20, text: USAGE.output });
  }
});

test("anthropic: a refusal before any output, which nobody bills, has no tokens", async () => {
  const { text: _, ...answer } = { ...PLAIN, end: "filter" as const };
  for (const usage of await usagesOf("anthropic", answer)) {
    expect(usage).toMatchObject({ promptTokens: 0, cachedTokens: 0, completionTokens: 0 });
  }
});

describe.each(Object.entries(ALL_WAYS))("%s", (_, way) => {
  const form = ALL_FORMS[way.kind];
  const call = (parts: Partial<UpstreamCall> = {}) => callBy(way, server.url, parts, { cloud });
  // The event with the reason of the end ends a message, whatever follows it.
  const endOf = (body: WireReply["body"]) =>
    way.own === "messages" ? eventsUpTo(body, "message_delta") : form.endEvent(body);

  async function refusals(reply: WireReply) {
    server.queue(reply, reply);
    return [await rejection(askWhole(call(), way)), await rejection(askStream(call(), way))];
  }

  test("sends the prompt and its output limit, once", async () => {
    server.queue(form.whole(PLAIN));
    const before = server.requests.length;
    await askWhole(call(), way);
    expect(server.requests.length).toBe(before + 1);
    const sent = server.requests.at(-1);
    const text = sent?.text;
    expect(text).toContain(PROMPT);
    expect(text).toMatch(/"\w*tokens\w*":32\b/i);
    expect(sent?.headers["accept-encoding"]).toBe("identity");
  });

  test("takes a wrong key for the operator's fault, and never names the key", async () => {
    for (const error of await refusals(form.refusal(401, `Wrong key ${KEY}`))) {
      expect(error).toBeInstanceOf(RouteFailure);
      expect(error).toMatchObject({ blames: "server" });
      expect(inspected(error)).not.toContain(KEY);
    }
  });

  test("takes an invalid request for the caller's fault", async () => {
    for (const error of await refusals(form.refusal(400, "Too many tools"))) {
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: "invalid_parameter" });
      expect(String(error)).toContain("Too many tools");
    }
  });

  test("hands on how long a busy server wants to be left alone", async () => {
    const busy = { ...form.refusal(429, "Slow down"), headers: { "retry-after": "17" } };
    for (const error of await refusals(busy)) {
      expect(error).toMatchObject({ blames: "nobody", retryAfterSeconds: 17 });
    }
  });

  test.each([500, 503, 529])(
    "leaves a server that answers %d to the next route",
    async (status) => {
      for (const error of await refusals(form.refusal(status, "Overloaded"))) {
        expect(error).toBeInstanceOf(RouteFailure);
        expect(error).toMatchObject({ blames: "server" });
      }
    },
  );

  test("fails on a reply that is not JSON, and does not quote it", async () => {
    for (const error of await refusals({ body: [`<html>${KEY}</html>`] })) {
      expect(error).toBeInstanceOf(RouteFailure);
      expect(inspected(error)).not.toContain(KEY);
    }
  });

  test("fails on an error in the middle of a stream, after the text before it", async () => {
    const { body, ...reply } = form.stream(PLAIN);
    const texts = form.textEvents(body);
    server.queue({ ...reply, body: [...body.slice(0, texts), form.failure()] });
    const seen: unknown[] = [];
    const error = await rejection(
      (async () => {
        for await (const { deltas } of exchangeOf(way).stream(call())) seen.push(...deltas);
      })(),
    );
    expect(error).toBeInstanceOf(RouteFailure);
    expect(JSON.stringify(seen)).toContain("Fares are ");
  });

  test("fails on a stream that breaks off, wherever it does", async () => {
    const { body, ...reply } = form.stream(PLAIN);
    for (const end of ["whole", "cut"] as const) {
      for (let events = 0; events < endOf(body); events += 1) {
        server.queue({ ...reply, body: body.slice(0, events), end });
        expect(await rejection(askStream(call(), way))).toBeInstanceOf(RouteFailure);
      }
    }
  });

  test("ends the request of a caller who leaves at any event", async () => {
    const { body, ...reply } = form.stream(PLAIN);
    for (let events = 0; events < endOf(body); events += 1) {
      server.queue({ ...reply, body: body.slice(0, events), end: "hang" });
      const leaving = new AbortController();
      const asked = server.requests.length;
      const left = server.left.length;
      const reading = rejection(askStream(call({ signal: leaving.signal }), way));
      await eventually("a request", () => server.requests.length > asked);
      leaving.abort(new Error("The caller has left"));
      expect(await reading).toMatchObject({ message: "The caller has left" });
      await eventually("the end of it", () => server.left.length > left);
    }
  });

  test("gives up a server that is silent, at the head or in a stream", async () => {
    const limits = { replyTimeoutMs: 50, firstByteTimeoutMs: 50, idleTimeoutMs: 50 };
    // A request that was given up may still arrive, and must not take another test's reply.
    await using silent = await startWireServer();
    const { body, ...reply } = form.stream(PLAIN);
    const hanging: WireReply = {
      ...reply,
      body: body.slice(0, endOf(body) - 1),
      end: "hang",
    };
    silent.queue(hanging, hanging, { ...hanging, body: [] });
    const impatient = () => callBy(way, silent.url, {}, { ...limits, cloud });
    for (const ask of [askWhole, askStream, askStream]) {
      expect(await rejection(ask(impatient(), way))).toBeInstanceOf(RouteFailure);
    }
  });
});

test.each(SEEING)("%s: an image is in each request as it came", async (kind) => {
  const image = readImage({ url: pngUrl(64, 32, 300), param: "p" });
  const content = [{ type: "text", text: "What is this?" }, image] as const;
  const request = { ...REQUEST, messages: [{ role: "user", content } as const], media: [image] };
  server.queue(ALL_FORMS[kind].whole(PLAIN), ALL_FORMS[kind].stream(PLAIN));
  for (const ask of [askWhole, askStream]) {
    const reply = await ask(callTo(kind, server.url, { request }, { cloud }), { kind });
    expect(server.requests.at(-1)?.text).toContain(base64Of(image));
    expect(reply).toMatchObject({ text: "Fares are paid.", usage: paid(kind, PLAIN) });
  }
});

test("the page has a cell for each provider and row of the table", () => {
  const shared = ["plain", "tool calls", "structured output", "shown reasoning"];
  const cells = (kind: WireProvider) => {
    const { unnamed } = ALL_FORMS[kind];
    const named = (part: "cacheRead" | "cacheWrite") => !unnamed.includes(part);
    const takes = PROVIDER_MEDIA[kind].kinds.includes("image");
    return [...shared.map(() => true), named("cacheRead"), named("cacheWrite"), takes, true];
  };
  const words = (kind: WireProvider) => cells(kind).map((is) => (is ? "yes" : "no"));
  const page = readFileSync("docs/providers.md", "utf8");
  const lines = page.split("\n").filter((line) => /^\| `[a-z-]+` +\| (?:yes|no) /.test(line));
  const rows = lines.map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
  expect(rows.map(([, name, ...rest]) => [name, ...rest.slice(0, -1)])).toEqual(
    [...KINDS].sort().map((kind) => [kind, ...words(kind)]),
  );
});
