// Replies of the stub upstream in the form of Anthropic's Messages.

import {
  CHUNKS,
  chunked,
  event,
  eventsHead,
  fillerText,
  idOf,
  manyOf,
  next,
  REPLIES,
  reply,
  type Some,
  STREAMS,
  type StreamScript,
} from "./stub-replies.ts";

/** Whole messages, head and body. */
export const MESSAGE_REPLIES: Some<Buffer> = manyOf(REPLIES, () => {
  const tokens = 30 + Math.floor(next() * 40);
  const content = [{ type: "text", text: fillerText(tokens) }];
  const end = { stop_reason: "end_turn", stop_sequence: null };
  return reply({ ...head(), content, ...end, usage: usage(tokens) });
});

/** Streams of messages. */
export const MESSAGE_SCRIPTS: Some<StreamScript> = manyOf(STREAMS, () => {
  const open = { ...head(), content: [], stop_reason: null, stop_sequence: null, usage: usage(1) };
  const block = { type: "text", text: "" };
  const begun =
    event("message_start", { message: open }) +
    event("content_block_start", { index: 0, content_block: block });
  const oneWord = () => {
    const delta = { type: "text_delta", text: ` ${fillerText(1)}` };
    return event("content_block_delta", { index: 0, delta });
  };
  const stop = { stop_reason: "end_turn", stop_sequence: null };
  return {
    beginning: Buffer.from(eventsHead() + chunked(begun + oneWord())),
    chunks: Array.from({ length: CHUNKS }, () => Buffer.from(chunked(oneWord()))),
    end(chunks) {
      const counted = event("message_delta", { delta: stop, usage: usage(chunks) });
      const last = event("content_block_stop", { index: 0 }) + counted + event("message_stop", {});
      return Buffer.from(`${chunked(last)}0\r\n\r\n`);
    },
  };
});

function head() {
  const id = idOf("msg_", 24);
  return { id, type: "message", role: "assistant", model: "claude-sonnet-4-5-20250929" };
}

function usage(outputTokens: number): object {
  return {
    input_tokens: 40 + Math.floor(next() * 400),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: outputTokens,
    service_tier: "standard",
  };
}
