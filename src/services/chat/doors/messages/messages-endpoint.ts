import { MESSAGES } from "../../../../core/access/limits.ts";
import type { Answer } from "../../../../http/answer.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import { GUIDE_MODEL } from "../../models/catalogue.ts";
import type { ChatContext } from "../completions/answer-chat.ts";
import { chooseNamed } from "../completions/chat-endpoint.ts";
import { type Count, prepareCount, runCount } from "../count-tokens.ts";
import { answerMessages, prepareMessages, runMessages } from "./answer-messages.ts";
import { CountBody, type CountFields, MessagesBody } from "./messages-body.ts";
import { messagesError } from "./messages-error.ts";
import { countExample, messagesExamples } from "./messages-examples.ts";
import { gatewayMessages, TokenCount } from "./messages-reply.ts";
import { toCountedRequest } from "./messages-request.ts";

export const MESSAGES_DESCRIPTION = `Compatible with Anthropic's Messages. A model whose server
speaks this form gets the request as it was sent: blocks, their order, cache marks and known names
in \`anthropic-beta\`. For other models it is converted, and \`svc.ignored\` names what has no
effect there. The query is not read. With \`stream\` each event has its name in an \`event:\` line,
the first one has the tokens of the prompt, and the last one, \`message_stop\`, has \`svc\`. Images
and PDFs go to models that take them. Tools that the provider would run are left out, and
\`svc.ignored\` names them; a choice that forces one is refused. Charges, limits and what happens
to a call whose caller leaves are those of chat completions.`;

export const COUNT_DESCRIPTION = `Costs nothing, and counts as one request. The count is that of
our tokenizer, and images and PDFs count by the rules of the model. A prompt of more than 256 KB is
estimated.`;

/** Messages in the Gateway. */
export const messages = endpoint({
  id: "createMessage",
  surface: "gateway",
  method: "POST",
  path: "/v1/messages",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Create a message",
  description: MESSAGES_DESCRIPTION,
  body: jsonBody(MessagesBody, MESSAGES.body),
  endUser: ({ metadata }) => metadata?.user_id,
  reply: gatewayMessages.message,
  chunk: gatewayMessages.event,
  errors: [
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
    "too_many_streams",
  ],
  errorForm: messagesError,
  examples: messagesExamples(GUIDE_MODEL, GUIDE_MODEL, {}),
  mistakenFor: ["/messages", "/v1/complete"],
  prepare: (fields, context: ChatContext) => prepareMessages(context, fields, chooseNamed),
  run: runMessages,
  answer: answerMessages,
});

/** A count in the Gateway. */
export const countTokens = endpoint({
  id: "countTokens",
  surface: "gateway",
  method: "POST",
  path: "/v1/messages/count_tokens",
  service: "chat",
  access: "scope",
  isBilled: false,
  summary: "Count the tokens of a message",
  description: COUNT_DESCRIPTION,
  body: jsonBody(CountBody, MESSAGES.body),
  reply: TokenCount,
  errors: ["messages_required", "model_not_found", "model_unavailable"],
  errorForm: messagesError,
  examples: [countExample(GUIDE_MODEL)],
  prepare: (fields, context: ChatContext) =>
    prepareCount(context, conversationOf(fields), chooseNamed),
  run: runCount,
  answer: answerCount,
});

/** The parts of a body that are counted. */
export function conversationOf(fields: CountFields) {
  return { model: fields.model, request: toCountedRequest(fields) };
}

/** The reply of a count. */
export function answerCount(_: object, __: Count, input_tokens: number): Answer {
  return { json: JSON.stringify({ input_tokens }) };
}
