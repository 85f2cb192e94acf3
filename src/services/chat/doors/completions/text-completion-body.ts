// The body of a text completion, OpenAI's older form: a prompt in place of messages. A text
// completion is served as a chat with one message of the user.

import { CHAT } from "../../../../core/access/limits.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { type Checked, named, notOffered, optional, Type, text } from "../../../../http/schema.ts";
import { ChatBody, type ChatFields } from "./chat-body.ts";

const NOT_ONE = "must be 1: send one request for each reply";
const PROMPT_RULE = "must be a text, or an array of one text";
const prompt = text({ minLength: 1, must: "must not be an empty text" });

const {
  model,
  stream,
  stream_options,
  max_tokens,
  temperature,
  top_p,
  presence_penalty,
  frequency_penalty,
  seed,
  stop,
  logit_bias,
  user,
  n,
} = ChatBody.properties;

const TextCompletionBody = named("TextCompletionRequest", {
  model,
  prompt: Type.Union(
    [prompt, Type.Array(prompt, { minItems: 1, maxItems: 1, must: PROMPT_RULE })],
    {
      must: PROMPT_RULE,
      description: "The message of the user",
    },
  ),
  stream,
  stream_options,
  max_tokens,
  temperature,
  top_p,
  presence_penalty,
  frequency_penalty,
  seed,
  stop,
  logit_bias,
  user,
  n,
  best_of: optional(Type.Literal(1, { must: NOT_ONE })),
  echo: optional(Type.Literal(false, { must: "must be false: the reply has no prompt" })),
  logprobs: notOffered({ must: "is not supported: use POST /v1/chat/completions" }),
  suffix: notOffered({ must: "is not supported: a chat model continues no text" }),
});
/** Fields that a chat does not have; their only value changes nothing. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["best_of", "echo", "logprobs", "suffix"]);

export type TextCompletionFields = Checked<typeof TextCompletionBody>;

export const textCompletionBody = jsonBody(TextCompletionBody, { bytesMax: CHAT.bodyBytesMax });

/** The chat of a text completion. Unknown fields stay, as those of a chat do. */
export function toChatFields({ prompt, ...fields }: TextCompletionFields): ChatFields {
  const content = typeof prompt === "string" ? prompt : (prompt[0] ?? "");
  const others = Object.entries(fields).filter(([name]) => !OWN_FIELDS.has(name));
  return { ...Object.fromEntries(others), messages: [{ role: "user", content }] };
}
