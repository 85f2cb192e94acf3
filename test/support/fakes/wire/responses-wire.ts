// Answers as OpenAI's Responses.

import { eventsUpTo, SSE, typedEvent, type WireAnswer, type WireForm } from "./wire-answer.ts";

function usageOf({ usage }: WireAnswer) {
  const { uncached, cacheRead, cacheWrite, output, reasoning } = usage;
  const input = uncached + cacheRead + cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

type Item = Readonly<Record<string, unknown>> & { readonly id: string };

function itemsOf({ thought, text, calls = [] }: WireAnswer): Item[] {
  const summary = thought && [{ type: "summary_text", text: thought.text }];
  const content = text && [{ type: "output_text", text: text.join(""), annotations: [] }];
  return [
    ...(thought && summary
      ? [{ id: "rs_1", type: "reasoning", summary, encrypted_content: thought.seal }]
      : []),
    ...(content
      ? [{ id: "m_1", type: "message", role: "assistant", status: "completed", content }]
      : []),
    ...calls.map(({ id, name, input }, at) => ({
      id: `fc_${at}`,
      type: "function_call",
      status: "completed",
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
  ];
}

const headOf = ({ model = "gpt-x", tier = "default" }: WireAnswer) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model,
  service_tier: tier,
});
const REASONS = { stop: null, length: "max_output_tokens", filter: "content_filter" };

function responseOf(answer: WireAnswer) {
  const reason = REASONS[answer.end];
  return {
    ...headOf(answer),
    status: reason === null ? "completed" : "incomplete",
    incomplete_details: reason === null ? null : { reason },
    error: null,
    output: itemsOf(answer),
    usage: usageOf(answer),
  };
}

function* itemEvents(answer: WireAnswer): Generator<string> {
  const { text = [], thought } = answer;
  for (const [output_index, item] of itemsOf(answer).entries()) {
    const { id: item_id } = item;
    const empty = {
      reasoning: { summary: [] },
      message: { content: [] },
      function_call: { arguments: "" },
    };
    const begun = { ...item, ...empty[item.type as keyof typeof empty] };
    yield typedEvent("response.output_item.added", { output_index, item: begun });
    if (item.type === "reasoning") {
      const at = { item_id, output_index, summary_index: 0 };
      yield typedEvent("response.reasoning_summary_part.added", at);
      yield typedEvent("response.reasoning_summary_text.delta", { ...at, delta: thought?.text });
      yield typedEvent("response.reasoning_summary_part.done", at);
    }
    if (item.type === "message") {
      const at = { item_id, output_index, content_index: 0 };
      for (const delta of text) yield typedEvent("response.output_text.delta", { ...at, delta });
    }
    if (item.type === "function_call") {
      const json = String(item.arguments);
      for (const delta of [json.slice(0, 3), json.slice(3)]) {
        if (delta === "") continue;
        yield typedEvent("response.function_call_arguments.delta", {
          item_id,
          output_index,
          delta,
        });
      }
    }
    yield typedEvent("response.output_item.done", { output_index, item });
  }
}

export const responsesWire: WireForm = {
  unnamed: [],
  whole: (answer) => ({ body: [JSON.stringify(responseOf(answer))] }),
  stream(answer) {
    const response = responseOf(answer);
    const end = response.status === "completed" ? "response.completed" : "response.incomplete";
    return {
      headers: SSE,
      body: [
        typedEvent("response.created", { response: { ...headOf(answer), output: [] } }),
        ...itemEvents(answer),
        typedEvent(end, { response }),
      ],
    };
  },
  textEvents: (body) => eventsUpTo(body, "output_text.delta"),
  endEvent: (body) => eventsUpTo(body, "response.completed"),
  failure: () =>
    typedEvent("error", {
      sequence_number: 9,
      error: { type: "server_error", code: "server_error", message: "Broken" },
    }),
  refusal(status, message) {
    const type = status === 401 ? "authentication_error" : "invalid_request_error";
    return {
      status,
      body: [JSON.stringify({ error: { message, type, param: null, code: null } })],
    };
  },
};
