// Answers as Cohere's chat.

import { eventsUpTo, SSE, typedEvent, type WireAnswer, type WireForm } from "./wire-answer.ts";

const FINISH = { stop: "COMPLETE", length: "MAX_TOKENS", filter: "ERROR" };
/** The tokens of a template, which Cohere counts and does not bill. */
const HIDDEN = 495;

function usageOf({ usage }: WireAnswer) {
  const { uncached, output } = usage;
  return {
    billed_units: { input_tokens: uncached, output_tokens: output },
    tokens: { input_tokens: uncached + HIDDEN, output_tokens: output + 3 },
    cached_tokens: 448,
  };
}

function finishOf({ calls = [], end }: WireAnswer): string {
  return calls.length > 0 ? "TOOL_CALL" : FINISH[end];
}

function toolCall({ id, name, input }: NonNullable<WireAnswer["calls"]>[number]) {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function* contentEvents({ thought, text, calls = [] }: WireAnswer): Generator<string> {
  const message = (content: object) => ({ delta: { message: { content } } });
  if (thought) {
    const { text: thinking } = thought;
    yield typedEvent("content-start", { index: 0, ...message({ type: "thinking", thinking: "" }) });
    yield typedEvent("content-delta", { index: 0, ...message({ thinking }) });
    yield typedEvent("content-end", { index: 0 });
  }
  if (text) {
    yield typedEvent("content-start", { index: 1, ...message({ type: "text", text: "" }) });
    for (const piece of text) {
      yield typedEvent("content-delta", { index: 1, ...message({ text: piece }) });
    }
    yield typedEvent("content-end", { index: 1 });
  }
  for (const call of calls) {
    const whole = toolCall(call);
    const start = { ...whole, function: { ...whole.function, arguments: "" } };
    const rest = { function: { arguments: whole.function.arguments } };
    yield typedEvent("tool-call-start", { delta: { message: { tool_calls: start } } });
    yield typedEvent("tool-call-delta", { delta: { message: { tool_calls: rest } } });
    yield typedEvent("tool-call-end");
  }
}

export const cohereWire: WireForm = {
  unnamed: ["cacheRead", "cacheWrite", "reasoning"],
  hasFilter: false,
  whole(answer) {
    const { thought, text, calls } = answer;
    const content = [
      ...(thought ? [{ type: "thinking", thinking: thought.text }] : []),
      ...(text ? [{ type: "text", text: text.join("") }] : []),
    ];
    const message = {
      role: "assistant",
      content,
      ...(calls && { tool_calls: calls.map(toolCall) }),
    };
    const reply = { message, finish_reason: finishOf(answer), usage: usageOf(answer) };
    return { body: [JSON.stringify({ id: "c-1", ...reply })] };
  },
  stream(answer) {
    const delta = { finish_reason: finishOf(answer), usage: usageOf(answer) };
    return {
      headers: SSE,
      body: [
        typedEvent("message-start", { id: "c-1" }),
        ...contentEvents(answer),
        typedEvent("message-end", { delta }),
      ],
    };
  },
  textEvents: (body) => eventsUpTo(body, "Fares"),
  endEvent: (body) => eventsUpTo(body, "message-end"),
  failure: () => typedEvent("message-end", { delta: { finish_reason: "ERROR", usage: null } }),
  refusal: (status, message) => ({ status, body: [JSON.stringify({ message })] }),
};
