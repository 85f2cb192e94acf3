// POST /v1/completions: an alias of chat completions for clients that know no messages.

import type { Settled } from "../../../../calls/settling.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { endUserOf } from "../../../../http/body/end-user.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import type { Example } from "../../../../http/endpoint-info.ts";
import {
  named,
  nullable,
  optional,
  type TSchema,
  Type,
  text,
  wholeCount,
} from "../../../../http/schema.ts";
import { openChatStream } from "../../chat.ts";
import { ChatStream } from "../../chat-stream.ts";
import { modelsOfText } from "../../media/model-images.ts";
import { GUIDE_MODEL } from "../../models/catalogue.ts";
import type { RefusedFields } from "../../refused-fields.ts";
import { type ChatContext, completeAs, metaOf, prepareChat } from "./answer-chat.ts";
import { chooseNamed } from "./chat-endpoint.ts";
import { ChatCost, Usage } from "./chat-reply.ts";
import type { CompletionCall } from "./chat-request.ts";
import { textCompletionBody, toChatFields } from "./text-completion-body.ts";
import { TextCompletionFrames, textCompletionJson } from "./text-completion-json.ts";

const HEAD = {
  id: text({ pattern: "^cmpl-[0-9A-Za-z]{22}$" }),
  object: Type.Literal("text_completion"),
  created: wholeCount("Unix time in seconds"),
  model: text({ description: "The model that answered" }),
};

const choices = (finish: TSchema) =>
  Type.Array(
    Type.Object({
      text: text(),
      index: Type.Literal(0),
      logprobs: Type.Null(),
      finish_reason: finish,
    }),
  );

const finish = text({ examples: ["stop", "length"] });
const TextCompletion = named("TextCompletion", {
  ...HEAD,
  choices: choices(finish),
  usage: Usage,
  svc: ChatCost,
});
const TextCompletionChunk = named("TextCompletionChunk", {
  ...HEAD,
  choices: choices(nullable(finish)),
  usage: optional(Usage),
  svc: Type.Optional(ChatCost),
});

const ID = "0351Ki6Po6Ze8c7RSniYDy";
const USAGE = { prompt_tokens: 12, completion_tokens: 9, total_tokens: 21 };
const SVC = { request_id: `req_${ID}`, cost_usd: 0.0000021, free_credit_usd: 0.0000021 };
const body = { model: GUIDE_MODEL, prompt: "What is a hold?", max_tokens: 200 };
const head = {
  id: `cmpl-${ID}`,
  object: "text_completion",
  created: 1_795_276_800,
  model: GUIDE_MODEL,
};
const choice = { index: 0, logprobs: null };
const answer = "A hold reserves the most that a call can cost.";
const end = { ...choice, text: "", finish_reason: "stop" };

const EXAMPLES: readonly Example[] = [
  {
    summary: "A prompt",
    body,
    reply: {
      ...head,
      choices: [{ ...choice, text: answer, finish_reason: "stop" }],
      usage: USAGE,
      svc: SVC,
    },
  },
  {
    summary: "A stream of a text completion",
    body: { ...body, stream: true },
    reply: [
      { ...head, choices: [{ ...choice, text: answer, finish_reason: null }] },
      { ...head, choices: [end], usage: USAGE, svc: SVC },
    ],
  },
];

/** Text completions in the Gateway. */
export const textCompletion = endpoint({
  id: "createCompletion",
  surface: "gateway",
  method: "POST",
  path: "/v1/completions",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Complete a prompt, as a chat with one message",
  description: `OpenAI's older form, for clients that have no other. The prompt is the one message
of a chat, with the same models, prices and limits. New programs use
\`POST /v1/chat/completions\`.`,
  body: textCompletionBody,
  endUser: endUserOf,
  reply: TextCompletion,
  chunk: TextCompletionChunk,
  errors: [
    "context_length_exceeded",
    "model_not_found",
    "upstream_unreachable",
    "too_many_streams",
  ],
  examples: EXAMPLES,
  mistakenFor: ["/completions", "/v1/engines/davinci/completions"],
  prepare: (fields, context: ChatContext) => prepareText(context, fields),
  run: (context: ChatContext, chat): Promise<Settled<string> | ChatStream> =>
    chat.stream
      ? openChatStream(context.deps.calls, context.call, chat)
      : completeAs(context, chat, textCompletionJson),
  answer: answerText,
});

const TEXT_FIELDS: RefusedFields = { prompt: "prompt", outputLimit: "max_tokens" };

/** A chat whose models give text only: a text has no place for images. */
function prepareText(
  context: ChatContext,
  fields: Parameters<typeof toChatFields>[0],
): CompletionCall {
  const chat = prepareChat(context, toChatFields(fields), chooseNamed);
  const request = { ...chat.request, fields: TEXT_FIELDS };
  return { ...chat, request, models: modelsOfText(chat.models) };
}

function answerText(
  context: ChatContext,
  chat: CompletionCall,
  result: Settled<string> | ChatStream,
): Answer {
  if (result instanceof ChatStream) {
    return { events: new TextCompletionFrames(result, metaOf(context, chat, result.served)) };
  }
  return { json: result.reply, costUsd: toDecimal(result.charged) };
}
