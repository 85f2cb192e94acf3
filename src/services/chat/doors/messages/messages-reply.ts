// The schemas of replies of the door for Messages: whole, as events of a stream, and a count.

import {
  anyObject,
  named,
  nullable,
  optional,
  type TSchema,
  Type,
  text,
  wholeCount,
} from "../../../../http/schema.ts";
import { ApplicationCost, ChatCost } from "../completions/chat-reply.ts";

const STOP_REASONS = ["end_turn", "max_tokens", "tool_use", "stop_sequence", "refusal"];

/** The schemas of a whole reply and of an event; `svc` differs between the surfaces. */
function messagesReplies<S extends TSchema>(svc: S) {
  const message = named("Message", {
    id: text(),
    type: Type.Literal("message"),
    role: Type.Literal("assistant"),
    model: text({ description: "The model that answered" }),
    content: Type.Array(anyObject(), { description: "Blocks of text, thoughts and tool calls" }),
    stop_reason: nullable(text({ examples: STOP_REASONS })),
    stop_sequence: nullable(text()),
    stop_details: optional(anyObject({ description: "Why the model refused" })),
    container: optional(anyObject()),
    context_management: optional(anyObject({ description: "The edits that were applied" })),
    usage: anyObject({
      description:
        "`input_tokens` without what the cache read or wrote, `cache_read_input_tokens`, " +
        "`cache_creation_input_tokens` and `output_tokens`",
    }),
    svc,
  });
  const part = (description: string) => Type.Optional(anyObject({ description }));
  const event = named("MessageEvent", {
    type: text({ description: "Also the name of the event; `ping` and unknown ones mean nothing" }),
    index: Type.Optional(wholeCount("Of the block")),
    message: part("The message without its content, with the tokens of the prompt"),
    content_block: part("The block that begins"),
    delta: part("What came since the event before, or why the message ended"),
    usage: part("That of the whole message"),
    context_management: part("The edits that were applied"),
    svc: Type.Optional(svc),
  });
  return { message, event };
}

export const gatewayMessages = messagesReplies(ChatCost);
export const applicationMessages = messagesReplies(ApplicationCost);

/** The reply of a count. */
export const TokenCount = named("TokenCount", {
  input_tokens: wholeCount("Counted by our tokenizer; a model's own may differ"),
});
