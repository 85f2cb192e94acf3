import { RESPONSES } from "../../../../core/access/limits.ts";
import type { Answer } from "../../../../http/answer.ts";
import { endUserOf } from "../../../../http/body/end-user.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import { openAiError } from "../../../../http/respond.ts";
import { GUIDE_MODEL } from "../../models/catalogue.ts";
import type { ChatContext } from "../completions/answer-chat.ts";
import { chooseNamed } from "../completions/chat-endpoint.ts";
import { type Count, prepareCount, runCount } from "../count-tokens.ts";
import { answerResponses, prepareResponses, runResponses } from "./answer-responses.ts";
import { openerFor } from "./referred-items.ts";
import { type InputFields, InputTokensBody, ResponsesBody } from "./responses-body.ts";
import { inputTokensExample, responsesExamples } from "./responses-examples.ts";
import { gatewayResponses, InputTokens } from "./responses-reply.ts";
import { toCountedInput } from "./responses-request.ts";

export const RESPONSES_DESCRIPTION = `Compatible with OpenAI's Responses, without anything that is
kept: \`store\` is answered with false, and references to earlier responses, files and other things
that only a provider keeps are refused by name. But \`item_reference\` works: unless \`store\` is
false, the ids of output items carry their content, up to 64 KB when packed. A model whose server
speaks this form gets the items as they were sent; for other models they are converted. Custom
tools, namespaces and tools of the caller's machine (a local shell, patches) work with every model;
calls that another provider ran are shown as calls of functions. Where the operator has switched it
on, \`web_search\` is served by our own search: each round with the model and all searches together
are calls of their own, which \`svc.calls\` lists. Other tools that a provider would run are left
out, and \`svc.ignored\` names them. With \`stream\` each event has its name in an \`event:\` line,
and the last one has \`svc\` in its response. Charges, limits and the fate of a call whose caller
leaves are those of chat completions.`;

export const INPUT_TOKENS_DESCRIPTION = `Costs nothing, and counts as one request. The count is that
of our tokenizer, and images and PDFs count by the rules of the model. A prompt of more than 256 KB
is estimated.`;

/** Responses in the Gateway. */
export const responses = endpoint({
  id: "createResponse",
  surface: "gateway",
  method: "POST",
  path: "/v1/responses",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Create a response",
  description: RESPONSES_DESCRIPTION,
  body: jsonBody(ResponsesBody, RESPONSES.body),
  endUser: endUserOf,
  reply: gatewayResponses.response,
  chunk: gatewayResponses.event,
  errors: [
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
    "search_unavailable",
    "too_many_streams",
  ],
  errorForm: openAiError,
  examples: responsesExamples(GUIDE_MODEL, GUIDE_MODEL, {}),
  mistakenFor: ["/responses", "/v1/response"],
  prepare: (fields, context: ChatContext) => prepareResponses(context, fields, chooseNamed),
  run: runResponses,
  answer: answerResponses,
});

/** A count in the Gateway. */
export const inputTokens = endpoint({
  id: "countInputTokens",
  surface: "gateway",
  method: "POST",
  path: "/v1/responses/input_tokens",
  service: "chat",
  access: "scope",
  isBilled: false,
  summary: "Count the tokens of an input",
  description: INPUT_TOKENS_DESCRIPTION,
  body: jsonBody(InputTokensBody, RESPONSES.body),
  reply: InputTokens,
  errors: ["messages_required", "model_not_found", "model_unavailable"],
  errorForm: openAiError,
  examples: [inputTokensExample(GUIDE_MODEL)],
  prepare: (fields, context: ChatContext) =>
    prepareCount(context, inputOf(fields, context), chooseNamed),
  run: runCount,
  answer: answerInputTokens,
});

/** The conversation of a body. */
export function inputOf(fields: InputFields, { deps, call }: ChatContext) {
  const open = openerFor(deps.itemSeals, call.identity.accountId);
  return { model: fields.model, request: toCountedInput(fields, open).request };
}

/** The reply of a count. */
export function answerInputTokens(_: object, __: Count, input_tokens: number): Answer {
  return { json: JSON.stringify({ object: "response.input_tokens", input_tokens }) };
}
