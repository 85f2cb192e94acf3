// Answers as Bedrock's Converse, whose streams are binary frames.

import { EventStreamCodec } from "@smithy/eventstream-codec";
import { eventsUpTo, type WireAnswer, type WireForm } from "./wire-answer.ts";

const STOP = { stop: "end_turn", length: "max_tokens", filter: "guardrail_intervened" };

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
);

function frame(type: string, data: object, kind: "event" | "exception" = "event"): Uint8Array {
  const text = (value: string) => ({ type: "string", value }) as const;
  return codec.encode({
    headers: {
      [`:${kind}-type`]: text(type),
      ":content-type": text("application/json"),
      ":message-type": text(kind),
    },
    body: Buffer.from(JSON.stringify(data)),
  });
}

/** An event of a stream, by its name. */
export function bedrockEvent(name: string, data: object): Uint8Array {
  return frame(name, data);
}

/** An exception in the middle of a stream, by its name. */
export function bedrockException(name: string, data: object): Uint8Array {
  return frame(name, data, "exception");
}

function usageOf({ usage }: WireAnswer) {
  const { uncached, cacheRead, cacheWrite, output } = usage;
  return {
    inputTokens: uncached,
    outputTokens: output,
    totalTokens: uncached + cacheRead + cacheWrite + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  };
}

function metadataOf(answer: WireAnswer) {
  const { tier } = answer;
  return {
    usage: usageOf(answer),
    metrics: { latencyMs: 5 },
    ...(tier !== undefined && { serviceTier: { type: tier } }),
  };
}

function stopOf({ calls = [], end }: WireAnswer): string {
  return calls.length > 0 ? "tool_use" : STOP[end];
}

function blocksOf({ thought, text, calls = [] }: WireAnswer) {
  const reasoningText = thought && { text: thought.text, signature: thought.seal };
  return [
    ...(reasoningText ? [{ reasoningContent: { reasoningText } }] : []),
    ...(text ? [{ text: text.join("") }] : []),
    ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
  ];
}

function* blockFrames({ thought, text, calls = [] }: WireAnswer): Generator<Uint8Array> {
  let contentBlockIndex = 0;
  const block = function* (start: object | null, deltas: readonly object[]) {
    if (start !== null) yield frame("contentBlockStart", { contentBlockIndex, start });
    for (const delta of deltas) yield frame("contentBlockDelta", { contentBlockIndex, delta });
    yield frame("contentBlockStop", { contentBlockIndex });
    contentBlockIndex += 1;
  };
  if (thought) {
    const said = { reasoningContent: { text: thought.text } };
    yield* block(null, [said, { reasoningContent: { signature: thought.seal } }]);
  }
  if (text) {
    yield* block(
      null,
      text.map((piece) => ({ text: piece })),
    );
  }
  for (const { id, name, input } of calls) {
    const json = JSON.stringify(input);
    const pieces = [json.slice(0, 3), json.slice(3)];
    const deltas = pieces.map((piece) => ({ toolUse: { input: piece } }));
    yield* block({ toolUse: { toolUseId: id, name } }, deltas);
  }
}

export const bedrockWire: WireForm = {
  unnamed: [],
  whole(answer) {
    const message = { role: "assistant", content: blocksOf(answer) };
    const reply = {
      output: { message },
      stopReason: stopOf(answer),
      ...metadataOf(answer),
    };
    return { body: [JSON.stringify(reply)] };
  },
  stream(answer) {
    return {
      headers: { "content-type": "application/vnd.amazon.eventstream" },
      body: [
        frame("messageStart", { role: "assistant" }),
        ...blockFrames(answer),
        frame("messageStop", { stopReason: stopOf(answer) }),
        frame("metadata", metadataOf(answer)),
      ],
    };
  },
  textEvents: (body) => eventsUpTo(body, '"text"'),
  endEvent: (body) => eventsUpTo(body, "messageStop"),
  failure: () => bedrockException("throttlingException", { message: "Too many tokens" }),
  refusal: (status, message) => ({
    status,
    headers: { "x-amzn-errortype": "ValidationException" },
    body: [JSON.stringify({ message })],
  }),
};
