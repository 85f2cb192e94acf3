// Writes a whole reply as the events of a stream, with the usage where the form has it there.

import { isObject } from "../../../../../src/core/text/json.ts";
import type { WireAnswer, WireForm } from "../../../../support/fakes/wire/wire-answer.ts";
import { awsEvents, sseEvents } from "./vector-events.ts";
import type { Json } from "./vector-form.ts";

type Writer = (reply: Json, events: readonly Json[]) => readonly Json[];

const without = (reply: Json, ...names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(reply).filter(([name]) => !names.includes(name)));

/** By the shape of the replies: `events` are those of the wire for the same text. */
const WRITERS: Readonly<Record<string, Writer>> = {
  "openai-chat": (reply, events) => {
    const head = without(reply, "choices", "object");
    const chunks = events.slice(0, -1).map((event) => ({ ...without(head, "usage"), ...event }));
    const model = reply.model === undefined ? {} : { model: reply.model };
    return [...chunks.map((chunk) => ({ ...chunk, ...model })), { ...head, choices: [] }];
  },
  "openai-responses": (response, events) => {
    const end = response.status === "incomplete" ? "incomplete" : "completed";
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    return [
      { type: "response.created", response: begun },
      ...events.slice(1, -1),
      { type: `response.${end}`, response },
    ];
  },
  "anthropic-messages": (reply, events) => {
    const usage = isObject(reply.usage) ? reply.usage : {};
    const begun = {
      ...reply,
      content: [],
      stop_reason: null,
      usage: { ...usage, output_tokens: 1 },
    };
    const delta = { stop_reason: reply.stop_reason ?? "end_turn", stop_sequence: null };
    return events.map((event) => {
      if (event.type === "message_start") return { type: event.type, message: begun };
      return event.type === "message_delta" ? { type: event.type, delta, usage } : event;
    });
  },
  "gemini-generate": (reply, events) => {
    const last = events.at(-1);
    return [...events.slice(0, -1), { ...reply, candidates: last?.candidates }];
  },
  "bedrock-converse": (reply, events) => {
    const metadata = without(reply, "output", "stopReason");
    return [...events.slice(0, -1), { metadata }];
  },
  "cohere-chat": (reply, events) => {
    const delta = { finish_reason: reply.finish_reason ?? "COMPLETE", usage: reply.usage };
    return [...events.slice(0, -1), { type: "message-end", delta }];
  },
};

/** The events of a stream with the counts of this reply, and with the text of the answer. */
export function streamOf(
  shape: string,
  reply: Json,
  { form, answer }: { readonly form: WireForm; readonly answer: WireAnswer },
): readonly Json[] {
  const write = WRITERS[shape];
  if (write === undefined) throw new Error(`No writer makes streams of ${shape}`);
  const events = form
    .stream(answer)
    .body.flatMap((event) =>
      typeof event === "string" ? sseEvents(event) : awsEvents(Buffer.from(event)),
    );
  return write(reply, events);
}
