// Replies with the counts of the vectors go over HTTP: by its package and passed through, each has
// the usage that the reader of its form gives, which other tests hold to the bill of the vector. So
// do recorded replies, where they lie beside this checkout.

import { beforeEach, describe, expect, test } from "bun:test";
import { isObject } from "../../../../../src/core/text/json.ts";
import { chargedUsage } from "../../../../../src/services/chat/protocols/openai/reply-usage.ts";
import type { ChatUsage } from "../../../../../src/services/chat/protocols/provider.ts";
import { SENT_PLAINLY } from "../../../../../src/services/chat/usage/reply-usage.ts";
import { bedrockEvent } from "../../../../support/fakes/wire/bedrock-wire.ts";
import { SSE, type WireAnswer } from "../../../../support/fakes/wire/wire-answer.ts";
import {
  ALL_FORMS,
  callBy,
  exchangeOf,
  type WireWay,
} from "../../../../support/fakes/wire/wire-forms.ts";
import { startWireServer, type WireReply } from "../../../../support/fakes/wire/wire-server.ts";
import { shared } from "../../../../support/shared.ts";
import { allVectors, recordedVectors } from "./all-vectors.ts";
import { READERS } from "./vector.ts";
import { eventsOf } from "./vector-events.ts";
import type { Json, Vector } from "./vector-form.ts";
import { streamOf } from "./vector-streams.ts";

const server = await shared(startWireServer());
const cloud = { region: "eu-west-1" };

beforeEach(() => server.reset());

const USAGE = { uncached: 20, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 };
const ANSWER: WireAnswer = { text: ["Fares are paid."], end: "stop", usage: USAGE };

/** The ways to servers that answer in each shape. */
const WAYS: Readonly<Record<string, readonly WireWay[]>> = {
  "openai-chat": [{ kind: "openai" }],
  "openai-responses": [
    { kind: "openai-responses" },
    { kind: "openai-responses", own: "responses" },
  ],
  "anthropic-messages": [{ kind: "anthropic" }, { kind: "anthropic", own: "messages" }],
  "gemini-generate": [{ kind: "google" }],
  "bedrock-converse": [{ kind: "amazon-bedrock" }],
  "cohere-chat": [{ kind: "cohere" }],
};

/** The members of a reply with its text: our own vectors have only hints of it. */
const TEXTS = ["content", "candidates", "output", "choices", "message", "finish_reason", "type"];

/** Our own vector as a whole reply: the text is the wire's, all else the vector's. */
function completed(vector: Vector, { kind }: WireWay): Json {
  const [body] = ALL_FORMS[kind].whole(ANSWER).body;
  const wire = JSON.parse(String(body)) as Json;
  const response = vector.response as Json;
  const texts = TEXTS.filter((name) => name in wire && !isEmptyList(response[name]));
  return { ...wire, ...response, ...Object.fromEntries(texts.map((name) => [name, wire[name]])) };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

interface Served {
  readonly reply: WireReply;
  readonly isStream: boolean;
  /** The events of the reply, as its reader takes them. */
  readonly events: readonly Json[];
}

function served(vector: Vector, way: WireWay): Served {
  const { response_form: form, response } = vector;
  if (form === "json") {
    const isRecorded = typeof response === "string";
    const body = isRecorded ? response : JSON.stringify(completed(vector, way));
    return { reply: { body: [body] }, isStream: false, events: [JSON.parse(body)] };
  }
  return streamed(way, eventsOf(vector));
}

/** A vector of ours as a stream with the same counts. */
function servedAsStream(vector: Vector, way: WireWay): Served {
  const reply = completed(vector, way);
  const { text: _, ...silent } = ANSWER;
  const answer = TEXTS.some((name) => isEmptyList(reply[name])) ? silent : ANSWER;
  const written = { form: ALL_FORMS[way.kind], answer };
  return streamed(way, streamOf(vector.shape, reply, written));
}

function streamed(way: WireWay, events: readonly Json[]): Served {
  const isStream = true;
  if (way.kind === "amazon-bedrock") {
    const headers = { "content-type": "application/vnd.amazon.eventstream" };
    const frames = events.flatMap((event) =>
      Object.entries(event).map(([type, data]) => bedrockEvent(type, data as object)),
    );
    return { reply: { headers, body: frames }, isStream, events };
  }
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return { reply: { headers: SSE, body }, isStream, events };
}

/** The usage of the reply, and whether it has a text. */
async function answered(way: WireWay, { reply, isStream }: Served) {
  server.queue(reply);
  const call = callBy(way, server.url, { givesImages: true }, { cloud });
  const { complete, stream } = exchangeOf(way);
  if (!isStream) {
    const { choices, usage } = await complete(call);
    return { usage, ...deliveredIn(choices.map(({ message }) => ({ ...message }))) };
  }
  const batches = await Array.fromAsync(stream(call));
  const deltas = batches.flatMap((batch) => batch.deltas);
  const usage = batches.at(-1)?.usage ?? null;
  return { usage, ...deliveredIn(deltas.map(({ delta }) => delta)) };
}

/** The parts of a reply that the caller got in these pieces. */
function deliveredIn(pieces: readonly Json[]) {
  const has = (name: string) => pieces.some((piece) => Boolean(piece[name]));
  const hasImages = has("images");
  return { hasOutput: hasImages || ["content", "refusal", "tool_calls"].some(has), hasImages };
}

/** The facts of a usage that a bill depends on. A package tells nothing of a provider's tools. */
function facts(usage: ChatUsage | null, { own, kind }: WireWay) {
  if (usage === null) return null;
  const { promptTokens, cachedTokens, completionTokens, more, reportedCost, pieces } = usage;
  const fees = own !== undefined || kind === "openai" ? usage.fees : undefined;
  const reasoning = usage.outputDetails?.reasoning_tokens ?? 0;
  const { tier, model } = usage.served ?? {};
  const counts = { promptTokens, cachedTokens, completionTokens, reasoning };
  return { ...counts, more, reportedCost, pieces, fees, tier, model };
}

/** The usage that the reader of the form gives for the same events. */
function expected(
  vector: Vector,
  {
    way,
    events,
    delivered,
  }: {
    readonly way: WireWay;
    readonly events: readonly Json[];
    readonly delivered: ReturnType<typeof deliveredIn>;
  },
) {
  const reader = READERS[vector.shape];
  if (reader === undefined) throw new Error(`No reader of ${vector.shape}`);
  const isPlain = way.kind === "openai" || way.kind === "openai-responses";
  const read = reader(events, isPlain ? SENT_PLAINLY : { tier: "standard", writes: "5m" });
  if (read === null) return null;
  const hasThought = /"(?:thinking|reasoning|thought)/.test(JSON.stringify(events));
  const details = read.reasoningTokens > 0 ? { reasoning_tokens: read.reasoningTokens } : null;
  // Only where a request is passed through, nobody knows whether a reply has an image.
  const { hasOutput, hasImages } = delivered;
  const images = way.own === undefined ? { hasImages } : {};
  const usage = chargedUsage(read, { hasOutput, hasThought, ...images }, details);
  return typeof usage === "string" ? null : usage;
}

const own = allVectors().flatMap(([, vectors]) => vectors);
const recorded = recordedVectors() ?? [];
const isError = ({ response }: Vector) => isObject(response) && isObject(response.error);
const isWhole = (vector: Vector) => vector.response_form === "json" && !isError(vector);
/** Rules of replies that fail: no usage is read then. */
const FAILED = ["error-shape", "failed-no-usage"];
/**
 * Rules about tools that a provider runs and about compactions: a request for these is only passed
 * through, so that no package reads the reply. No package expects a start that comes twice.
 */
const PASSED_ONLY = ["compaction", "duplicate-start", "gemini-grounding", "xai-search-calls"];
/** No request asks for audio, or for images by a tool of the provider. */
const UNASKED = ["audio-out-inside", "image-tool-by-tool-usage", "image-tool-not-in-usage"];

function isServed({ rules }: Vector, { own }: WireWay): boolean {
  const others = own === undefined ? [...UNASKED, ...PASSED_ONLY] : UNASKED;
  return ![...FAILED, ...others].some((rule) => rules.includes(rule));
}

describe.each(Object.entries(WAYS))("%s", (shape, ways) => {
  const whole = own.filter((vector) => vector.shape === shape && isWhole(vector));
  const replies = [...whole, ...recorded.filter((vector) => vector.shape === shape)];
  const cases = ways.flatMap((way) =>
    replies
      .filter((vector) => isServed(vector, way))
      .map((vector) => {
        const name = way.own === undefined ? vector.id : `${vector.id}, passed through`;
        return [name, vector, way] as const;
      }),
  );

  test("each way has a reply to read", () => {
    expect(ways.length).toBeGreaterThan(0);
    for (const way of ways) expect(cases.map(([, , one]) => one)).toContain(way);
  });

  async function expectUsage(vector: Vector, way: WireWay, reply: Served) {
    const { usage, ...delivered } = await answered(way, reply);
    const read = expected(vector, { way, events: reply.events, delivered });
    expect(facts(usage, way)).toEqual(facts(read, way));
    return facts(usage, way);
  }

  test.each(cases)("%s", async (_, vector, way) => {
    await expectUsage(vector, way, served(vector, way));
  });

  test.each(cases.filter(([, vector]) => whole.includes(vector)))(
    "%s, as a stream with the same usage",
    async (_, vector, way) => {
      const asStream = await expectUsage(vector, way, servedAsStream(vector, way));
      expect(asStream).toEqual(await expectUsage(vector, way, served(vector, way)));
    },
  );
});
