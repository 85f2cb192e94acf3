import { CHAT, MESSAGES } from "../../../../core/access/limits.ts";
import { endUserOf } from "../../../../http/body/end-user.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import { GUIDE_MODEL } from "../../models/catalogue.ts";
import {
  answerChat,
  type ChatContext,
  type ChooseModels,
  chatBytesMax,
  prepareChat,
  runChat,
} from "./answer-chat.ts";
import { ChatBody } from "./chat-body.ts";
import { chatExamples, toolExample } from "./chat-examples.ts";
import { gatewayReplies } from "./chat-reply.ts";
import { namedModel } from "./chat-request.ts";

export const CHAT_DESCRIPTION = `Compatible with OpenAI's chat completions. Messages of the user may
have images and PDFs for a model that takes them; a body may then have 32 MB, of which 4 MB may be
text. With \`stream\` the
answer is a stream of server-sent events: each has a chunk as its \`data\`, and the last is
\`[DONE]\`. The frame before it carries \`usage\` and \`svc\`: it is the one with the
\`finish_reason\`, or with \`stream_options.include_usage\` one more, whose \`choices\` are empty.
While a model thinks, and hides what it thinks, its stream has a comment about every 15 seconds. A
stream that breaks off ends with an event that carries an \`error\`, and without \`[DONE]\`; what
was streamed is charged. A stream whose text costs all that was held for it ends with the
\`finish_reason\` \`length\`. A caller who leaves a stream before its first token pays nothing, but
a key that does so more than 20 times a minute (with many requests a minute, for more than a tenth
of them) gets its streams one at a time. A reply that is not streamed is charged also if its caller
has left: as the model reports it, or by its prompt.`;

/** SPEC 4.2. */
export const chat = endpoint({
  id: "createChatCompletion",
  surface: "gateway",
  method: "POST",
  path: "/v1/chat/completions",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Complete a chat",
  description: CHAT_DESCRIPTION,
  body: jsonBody(ChatBody, { ...MESSAGES.body, bytesMax: CHAT.mediaBodyBytesMax }),
  endUser: endUserOf,
  bytesMax: chatBytesMax,
  reply: gatewayReplies.completion,
  chunk: gatewayReplies.chunk,
  errors: [
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
    "too_many_streams",
  ],
  examples: [...chatExamples(GUIDE_MODEL, GUIDE_MODEL, {}), toolExample(GUIDE_MODEL)],
  mistakenFor: ["/chat/completions", "/v1/chat"],
  prepare: (fields, context: ChatContext) => prepareChat(context, fields, chooseNamed),
  run: runChat,
  answer: answerChat,
});

/** Chooses the model that a request names. */
export const chooseNamed: ChooseModels = ({ deps }, _, { model, catalogue }) => ({
  models: namedModel(model, catalogue, deps.pauses),
  svcMembers: null,
});
