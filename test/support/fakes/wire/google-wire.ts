// Answers as Gemini's generateContent.

import { eventsUpTo, SSE, sse, type WireAnswer, type WireForm } from "./wire-answer.ts";

const FINISH = { stop: "STOP", length: "MAX_TOKENS", filter: "SAFETY" };

function partsOf({ thought, text, calls = [] }: WireAnswer) {
  const thinking = thought && { text: thought.text, thought: true, thoughtSignature: thought.seal };
  return [
    ...(thinking ? [thinking] : []),
    ...(text ?? []).map((piece) => ({ text: piece })),
    ...calls.map(({ id, name, input }, at) => ({
      functionCall: { id, name, args: input },
      ...(at === 0 && thought && { thoughtSignature: thought.seal }),
    })),
  ];
}

function usageOf({ usage, tier = "standard" }: WireAnswer) {
  const { uncached, cacheRead, output, reasoning } = usage;
  return {
    promptTokenCount: uncached + cacheRead,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: uncached + cacheRead + output,
    serviceTier: tier,
  };
}

function chunk(parts: readonly object[], answer: WireAnswer, isLast = true) {
  const candidate = { content: { role: "model", parts }, index: 0 };
  const { model: modelVersion = "gemini-x" } = answer;
  if (!isLast) return { candidates: [candidate], modelVersion };
  const finished = { ...candidate, finishReason: FINISH[answer.end] };
  return {
    candidates: [finished],
    usageMetadata: usageOf(answer),
    modelVersion,
  };
}

export const googleWire: WireForm = {
  unnamed: ["cacheWrite"],
  whole: (answer) => ({ body: [JSON.stringify(chunk(partsOf(answer), answer))] }),
  stream(answer) {
    const parts = partsOf(answer);
    const events = parts.map((part, at) => sse(chunk([part], answer, at === parts.length - 1)));
    return { headers: SSE, body: events };
  },
  textEvents: (body) => eventsUpTo(body, '"text"'),
  endEvent: (body) => eventsUpTo(body, "finishReason"),
  failure: () =>
    sse({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }),
  refusal(status, message) {
    const error = { code: status, message, status: status === 401 ? "UNAUTHENTICATED" : "FAILED" };
    return { status, body: [JSON.stringify({ error })] };
  },
};
