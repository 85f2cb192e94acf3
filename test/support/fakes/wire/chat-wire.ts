// Answers as OpenAI's chat completions, with the habits of the providers that speak this form.

import { eventsUpTo, SSE, sse, type WireAnswer, type WireForm } from "./wire-answer.ts";

/** The differences of a provider from the others. */
interface ChatHabits {
  readonly unnamed: WireForm["unnamed"];
  readonly usageOf: (usage: WireAnswer["usage"]) => object;
  /** The member of a chunk that has the usage; `usage` by default. */
  readonly usageIn?: (usage: object) => object;
  /** The name of the field with thoughts; `reasoning_content` by default. */
  readonly thoughtField?: "reasoning";
}

const ENDS = { stop: "stop", length: "length", filter: "content_filter" };
const inputOf = ({ uncached, cacheRead, cacheWrite }: WireAnswer["usage"]) =>
  uncached + cacheRead + cacheWrite;

function finishOf({ calls = [], end }: WireAnswer): string {
  return calls.length > 0 ? "tool_calls" : ENDS[end];
}

function callsOf({ calls = [] }: WireAnswer) {
  return calls.map(({ id, name, input }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function chatWire({ unnamed, usageOf: usageBy, usageIn, thoughtField }: ChatHabits): WireForm {
  const zeros = Object.fromEntries(unnamed.map((part) => [part, 0]));
  const usageOf = (usage: WireAnswer["usage"]) => usageBy({ ...usage, ...zeros });
  const headOf = ({ model = "model-x" }: WireAnswer) => ({ id: "chatcmpl_1", created: 1, model });
  const thoughts = ({ thought }: WireAnswer) =>
    thought === undefined ? {} : { [thoughtField ?? "reasoning_content"]: thought.text };
  const place = usageIn ?? ((usage: object) => ({ usage }));
  return {
    unnamed,
    whole(answer) {
      const calls = callsOf(answer);
      const message = {
        role: "assistant",
        content: answer.text?.join("") ?? null,
        ...thoughts(answer),
        ...(calls.length > 0 && { tool_calls: calls }),
      };
      const choice = { index: 0, message, finish_reason: finishOf(answer) };
      const reply = { ...headOf(answer), object: "chat.completion", choices: [choice] };
      return { body: [JSON.stringify({ ...reply, usage: usageOf(answer.usage) })] };
    },
    stream(answer) {
      const head = headOf(answer);
      const chunk = (delta: object, finish_reason: string | null = null) =>
        sse({ ...head, choices: [{ index: 0, delta, finish_reason }] });
      const calls = callsOf(answer);
      const usage = place(usageOf(answer.usage));
      return {
        headers: SSE,
        body: [
          chunk({ role: "assistant", content: "" }),
          ...(answer.thought ? [chunk(thoughts(answer))] : []),
          ...(answer.text ?? []).map((content) => chunk({ content })),
          ...calls.map((call) => chunk({ tool_calls: [call] })),
          chunk({}, finishOf(answer)),
          sse({ ...head, choices: [], ...usage }),
          "data: [DONE]\n\n",
        ],
      };
    },
    textEvents: (body) => eventsUpTo(body, "Fares are "),
    endEvent: (body) => eventsUpTo(body, '"finish_reason":"'),
    failure: () => sse({ error: { type: "server_error", message: "Overloaded" } }),
    refusal: (status, message) => ({ status, body: [JSON.stringify({ error: { message } })] }),
  };
}

const openAiUsage = (usage: WireAnswer["usage"]) => ({
  prompt_tokens: inputOf(usage),
  completion_tokens: usage.output,
  total_tokens: inputOf(usage) + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});
const readsOnly = (usage: WireAnswer["usage"]) => ({
  ...openAiUsage(usage),
  prompt_tokens_details: { cached_tokens: usage.cacheRead },
});

/** By the name in `provider` of the configuration. */
export const CHAT_WIRES = {
  azure: chatWire({ unnamed: [], usageOf: openAiUsage }),
  deepseek: chatWire({
    unnamed: ["cacheWrite"],
    usageOf: (usage) => ({
      prompt_tokens: inputOf(usage),
      completion_tokens: usage.output,
      total_tokens: inputOf(usage) + usage.output,
      prompt_cache_hit_tokens: usage.cacheRead,
      prompt_cache_miss_tokens: usage.uncached + usage.cacheWrite,
    }),
  }),
  groq: chatWire({
    unnamed: ["cacheWrite"],
    usageOf: readsOnly,
    usageIn: (usage) => ({ x_groq: { id: "req_1", usage } }),
    thoughtField: "reasoning",
  }),
  mistral: chatWire({
    unnamed: ["cacheWrite"],
    usageOf: (usage) => ({
      prompt_tokens: inputOf(usage),
      completion_tokens: usage.output,
      total_tokens: inputOf(usage) + usage.output,
      num_cached_tokens: usage.cacheRead,
    }),
  }),
  openai: chatWire({ unnamed: [], usageOf: openAiUsage }),
  openrouter: chatWire({
    unnamed: [],
    usageOf: (usage) => ({ ...openAiUsage(usage), cost: 0.0001 }),
    thoughtField: "reasoning",
  }),
  xai: chatWire({
    unnamed: ["cacheWrite"],
    // Reasoning is beside the reply, and the total has it.
    usageOf: (usage) => ({
      ...readsOnly(usage),
      completion_tokens: usage.output - usage.reasoning,
    }),
  }),
} as const;
