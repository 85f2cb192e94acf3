// Replies of the stub upstream in the form of OpenAI's Responses.

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

/** Whole responses, head and body. */
export const RESPONSE_REPLIES: Some<Buffer> = manyOf(REPLIES, () => {
  const tokens = 30 + Math.floor(next() * 40);
  const output = [messageOf(idOf("msg_", 48), fillerText(tokens))];
  return reply(endOf(head(), output, tokens));
});

/** Streams of responses. */
export const RESPONSE_SCRIPTS: Some<StreamScript> = manyOf(STREAMS, () => {
  const response = head();
  const id = idOf("msg_", 48);
  const place = { item_id: id, output_index: 0, content_index: 0 };
  const item = { ...messageOf(id, ""), status: "in_progress", content: [] };
  const begun =
    event("response.created", { response, sequence_number: 0 }) +
    event("response.in_progress", { response, sequence_number: 1 }) +
    event("response.output_item.added", { output_index: 0, item, sequence_number: 2 });
  const oneWord = () => {
    const delta = { ...place, delta: ` ${fillerText(1)}`, logprobs: [], sequence_number: 3 };
    return event("response.output_text.delta", { ...delta, obfuscation: idOf("", 12) });
  };
  return {
    beginning: Buffer.from(eventsHead() + chunked(begun + oneWord())),
    chunks: Array.from({ length: CHUNKS }, () => Buffer.from(chunked(oneWord()))),
    end(chunks) {
      const whole = messageOf(id, fillerText(chunks));
      const done = { output_index: 0, item: whole, sequence_number: 4 };
      const last = endOf(response, [whole], chunks);
      const events =
        event("response.output_item.done", done) +
        event("response.completed", { response: last, sequence_number: 5 });
      return Buffer.from(`${chunked(events)}0\r\n\r\n`);
    },
  };
});

function head() {
  return {
    id: idOf("resp_", 48),
    object: "response",
    created_at: 1_700_000_000,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model: "gpt-5-mini-2025-08-07",
    output: [] as readonly object[],
    service_tier: "default",
    store: false,
    usage: null as object | null,
  };
}

function messageOf(id: string, text: string): object {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id, type: "message", status: "completed", role: "assistant", content };
}

function endOf(response: ReturnType<typeof head>, output: readonly object[], tokens: number) {
  const input = 40 + Math.floor(next() * 400);
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + tokens,
  };
  return { ...response, status: "completed", output, usage };
}
