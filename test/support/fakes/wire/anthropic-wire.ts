// Answers as Anthropic's Messages.

import { eventsUpTo, SSE, typedEvent, type WireAnswer, type WireForm } from "./wire-answer.ts";

const STOP = { stop: "end_turn", length: "max_tokens", filter: "refusal" };

function blocksOf({ thought, text, calls = [] }: WireAnswer) {
  return [
    ...(thought ? [{ type: "thinking", thinking: thought.text, signature: thought.seal }] : []),
    ...(text ? [{ type: "text", text: text.join("") }] : []),
    ...calls.map((call) => ({ type: "tool_use", ...call })),
  ];
}

function stopOf({ calls = [], end }: WireAnswer): string {
  return calls.length > 0 ? "tool_use" : STOP[end];
}

function usageOf({ usage }: WireAnswer) {
  return {
    input_tokens: usage.uncached,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    service_tier: "standard",
  };
}

function messageOf({ model = "claude-x" }: WireAnswer, more: object) {
  const head = { id: "msg_1", type: "message", role: "assistant", model };
  return { ...head, content: [], stop_reason: null, stop_sequence: null, ...more };
}

function* blockEvents(answer: WireAnswer): Generator<string> {
  const { thought, text, calls = [] } = answer;
  let index = 0;
  const block = function* (start: object, deltas: readonly object[]) {
    yield typedEvent("content_block_start", { index, content_block: start });
    for (const delta of deltas) yield typedEvent("content_block_delta", { index, delta });
    yield typedEvent("content_block_stop", { index });
    index += 1;
  };
  if (thought) {
    const thinking = { type: "thinking_delta", thinking: thought.text };
    const seal = { type: "signature_delta", signature: thought.seal };
    yield* block({ type: "thinking", thinking: "", signature: "" }, [thinking, seal]);
  }
  if (text) {
    const pieces = text.map((piece) => ({ type: "text_delta", text: piece }));
    yield* block({ type: "text", text: "" }, pieces);
  }
  for (const { id, name, input } of calls) {
    const json = JSON.stringify(input);
    const pieces = [json.slice(0, 3), json.slice(3)].map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    yield* block({ type: "tool_use", id, name, input: {} }, pieces);
  }
}

export const anthropicWire: WireForm = {
  unnamed: [],
  whole(answer) {
    const message = messageOf(answer, {
      content: blocksOf(answer),
      stop_reason: stopOf(answer),
      usage: usageOf(answer),
    });
    return { body: [JSON.stringify(message)] };
  },
  stream(answer) {
    const { output_tokens, ...first } = usageOf(answer);
    const message = messageOf(answer, { usage: { ...first, output_tokens: 1 } });
    return {
      headers: SSE,
      body: [
        typedEvent("message_start", { message }),
        typedEvent("ping"),
        ...blockEvents(answer),
        typedEvent("message_delta", {
          delta: { stop_reason: stopOf(answer), stop_sequence: null },
          usage: { output_tokens, output_tokens_details: first.output_tokens_details },
        }),
        typedEvent("message_stop"),
      ],
    };
  },
  textEvents: (body) => eventsUpTo(body, "text_delta"),
  endEvent: (body) => eventsUpTo(body, "message_stop"),
  failure: () =>
    typedEvent("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
  refusal(status, message) {
    const type = status === 401 ? "authentication_error" : "invalid_request_error";
    return { status, body: [JSON.stringify({ type: "error", error: { type, message } })] };
  },
};
