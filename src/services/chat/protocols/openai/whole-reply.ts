// Reads a reply that is not streamed, by the same code as the chunks of a stream. Some servers
// answer a request for a whole reply with a stream, or a request for a stream with a whole reply.

import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { parseJson } from "../../../../upstream/upstream-http.ts";
import type { ChatChoice, ChatDelta, ChatReply, ToolCall } from "../provider.ts";
import { BLANK_LINE } from "../upstream-stream.ts";
import { type ReplyParts, ReplyReader } from "./reply-reader.ts";
import { StreamedReply } from "./streamed-reply.ts";
import type { ToolCallPiece } from "./tool-calls.ts";

/**
 * The reply in the text of a body. Throws a RouteFailure if the text is an error, or has neither
 * content nor an end: a reply with a finish_reason may be empty.
 */
export function readWholeReply(text: string, parts: ReplyParts): ChatReply {
  // Almost every reply is an object.
  if (!text.startsWith("{") && EVENTS.test(text)) return readWholeStream(text, parts);
  const reader = new ReplyReader(parts);
  const { delta, fingerprint } = reader.read(parseJson(text));
  if (!reader.hasOutput && !reader.isFinished) throw new RouteFailure("The reply has no message");
  const end = reader.end();
  const choice = choiceOf(delta === null ? [end] : [delta, end]);
  const { usage, hasWrongUsage } = reader;
  return { choices: [choice], usage, hasWrongUsage, fingerprint };
}

/** The stream with a whole reply. Throws a RouteFailure if the reply is not JSON. */
export function streamOf(wholeReply: string): Buffer {
  return Buffer.from(`data: ${JSON.stringify(parseJson(wholeReply))}\n\ndata: [DONE]\n\n`);
}

/** The start of a stream of events. No JSON text begins like this. */
const EVENTS = /^\s*(?:data|event|id|retry)?:/;

function readWholeStream(text: string, parts: ReplyParts): ChatReply {
  const bytes = Buffer.from(text);
  const reply = new StreamedReply({ parts, bytesMax: Number.POSITIVE_INFINITY });
  const batches = [
    reply.read(bytes, 0, bytes.length),
    reply.read(BLANK_LINE, 0, BLANK_LINE.length),
  ];
  if (!reply.isComplete) throw reply.failure ?? new RouteFailure("The reply is not complete");
  batches.push(reply.end());
  const known = batches.filter((batch) => batch !== null);
  return {
    choices: [choiceOf(known.flatMap(({ deltas }) => deltas))],
    usage: known.at(-1)?.usage ?? null,
    hasWrongUsage: known.at(-1)?.hasWrongUsage ?? false,
    fingerprint: known.find(({ fingerprint }) => fingerprint)?.fingerprint ?? null,
  };
}

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

const TEXTS = ["content", "reasoning_content", "refusal"] as const;

/** The choice that these deltas add up to. */
export function choiceOf(deltas: readonly ChatDelta[]): ChatChoice {
  const message: Mutable<ChatChoice["message"]> = { role: "assistant", content: null };
  const calls: ToolCall[] = [];
  let logprobs: ChatDelta["logprobs"];
  for (const { delta, logprobs: ownLogprobs } of deltas) {
    logprobs ??= ownLogprobs;
    for (const name of TEXTS) {
      const text = delta[name];
      if (typeof text === "string") message[name] = (message[name] ?? "") + text;
    }
    const images = delta.images as ChatChoice["message"]["images"];
    if (images !== undefined) message.images = [...(message.images ?? []), ...images];
    const pieces = delta.tool_calls as readonly ToolCallPiece[] | undefined;
    if (pieces !== undefined) for (const piece of pieces) addTo(calls, piece);
  }
  if (calls.length > 0) message.tool_calls = calls;
  const finish_reason = deltas.at(-1)?.finish_reason ?? "stop";
  const choice = { index: 0, message, finish_reason };
  return logprobs === undefined ? choice : { ...choice, logprobs };
}

/** Adds a piece to the calls of a reply; the index of the piece is the index of its call. */
export function addTo(calls: ToolCall[], piece: ToolCallPiece): void {
  const { index, id = "", extra_content } = piece;
  const { name = "", arguments: input } = piece.function;
  const before = calls[index] ?? { id, type: "function", function: { name, arguments: "" } };
  const called = { ...before.function, arguments: before.function.arguments + input };
  calls[index] = {
    ...before,
    function: called,
    ...(extra_content !== undefined && { extra_content }),
  };
}
