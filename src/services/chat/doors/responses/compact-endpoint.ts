// POST /v1/responses/compact: shortens a conversation, where the provider of the model can (D-689).

import type { Settled } from "../../../../calls/settling.ts";
import { CHAT, RESPONSES } from "../../../../core/access/limits.ts";
import { ApiError } from "../../../../core/errors.ts";
import { sameId } from "../../../../core/ids.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { endUserOf } from "../../../../http/body/end-user.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import { openAiError } from "../../../../http/respond.ts";
import { anyObject, named, type TSchema, Type, text, wholeCount } from "../../../../http/schema.ts";
import { completeChat } from "../../chat.ts";
import { modelsTaking } from "../../media/model-media.ts";
import { AUTO_MODEL, type ChatCatalogue, type ModelEntry } from "../../models/catalogue.ts";
import { noteModel } from "../../models/noted-model.ts";
import type { ChatContext, ChooseModels } from "../completions/answer-chat.ts";
import { chooseNamed } from "../completions/chat-endpoint.ts";
import { unixSeconds } from "../completions/chat-json.ts";
import { ApplicationCost, ChatCost } from "../completions/chat-reply.ts";
import { type DoorCall, metaOf, svcIn } from "../door-meta.ts";
import { openerFor } from "./referred-items.ts";
import { passedUsage } from "./response-json.ts";
import { CompactBody, type CompactFields } from "./responses-body.ts";
import { compactExample } from "./responses-examples.ts";
import { Usage } from "./responses-reply.ts";
import { toCompactRequest } from "./responses-request.ts";

function compactionOf<Svc extends TSchema>(svc: Svc) {
  return named("Compaction", {
    id: text(),
    object: Type.Literal("response.compaction"),
    created_at: wholeCount("Unix time in seconds"),
    model: text({ description: "The model that answered" }),
    output: Type.Array(anyObject(), { description: "The items to send in place of the input" }),
    usage: Usage,
    svc,
  });
}

/** The replies of both surfaces. */
export const gatewayCompaction = compactionOf(ChatCost);
export const applicationCompaction = compactionOf(ApplicationCost);

export interface CompactCall extends DoorCall {
  readonly created: number;
}

const unknownFields = unknownFieldsOf(CompactBody);

/** The call of a body. Throws `not_found` if no provider of the model can shorten. */
export function prepareCompact(
  context: ChatContext,
  fields: CompactFields,
  choose: ChooseModels,
): CompactCall {
  const { deps, call } = context;
  const catalogue = deps.catalogue();
  const { accountId: account } = call.identity;
  const { model } = fields;
  noteModel(context, catalogue, model);
  const request = toCompactRequest(fields, openerFor(deps.itemSeals, account));
  // The service chooses among the models that can shorten; a named one is refused by its name.
  const able = model === AUTO_MODEL ? shortening(catalogue) : catalogue;
  const chosen = choose(context, request, { model, catalogue: able });
  // The server that shortened a conversation is the only one that can read it.
  const [first] = modelsTaking(chosen.models, request.media);
  const shortener = withCompaction(first, catalogue);
  return {
    models: [shortener],
    // No field of the request bounds the output of the server, so nothing may lower this limit.
    request: { ...request, maxTokens: longestOutput(shortener) },
    stream: false,
    offered: catalogue.models,
    svcMembers: chosen.svcMembers,
    ignored: unknownFields(fields),
    created: unixSeconds(deps.calls.clock),
  };
}

function longestOutput({ contextTokens, maxOutputTokens }: ModelEntry): number {
  return Math.min(contextTokens, maxOutputTokens ?? CHAT.maxTokensMax);
}

/** The catalogue with only the models that can shorten a conversation. */
function shortening(catalogue: ChatCatalogue): ChatCatalogue {
  const able = [...catalogue.models].filter(([, model]) => shorteningRoutes(model, catalogue)[0]);
  if (able.length > 0) return { ...catalogue, models: new Map(able) };
  const message = "No provider here shortens conversations. The documentation is at /docs";
  throw new ApiError("not_found", message, { param: "model" });
}

function shorteningRoutes({ routes }: ModelEntry, { providers }: ChatCatalogue) {
  return routes.filter(({ provider }) => providers.get(provider)?.kind === "openai-responses");
}

/** The model with those of its routes that can shorten a conversation. */
function withCompaction(model: ModelEntry, catalogue: ChatCatalogue): ModelEntry {
  const routes = shorteningRoutes(model, catalogue);
  if (routes.length > 0) return { ...model, routes };
  const message =
    `No provider of '${model.id}' shortens conversations: shorten the input of ` +
    "POST /v1/responses yourself. The documentation is at /docs";
  throw new ApiError("not_found", message, { param: "model" });
}

/** Runs a call. */
export function runCompact(context: ChatContext, compact: CompactCall): Promise<Settled<string>> {
  const { deps, call } = context;
  return completeChat(deps.calls, call, {
    chat: compact,
    write: ({ model, tried, reply: route, usage }, settlement) => {
      const { output, usage: own } = route.body ?? {};
      return JSON.stringify({
        id: sameId(call.requestId, "response"),
        object: "response.compaction",
        created_at: compact.created,
        model: model.id,
        output: Array.isArray(output) ? output : [],
        usage: passedUsage(own, usage),
        svc: svcIn(metaOf(context, compact, { model, tried, route }), settlement),
      });
    },
  });
}

/** The answer to the caller. */
export function answerCompact(
  _: ChatContext,
  __: CompactCall,
  { reply, charged }: Settled<string>,
): Answer {
  return { json: reply, costUsd: toDecimal(charged) };
}

export const COMPACT_DESCRIPTION = `Compatible with OpenAI's compaction, and passed through to it:
the items of the reply take the place of those that were sent. Only models of a provider that speaks
Responses have it; for others the answer is 404. Charged like a response. The hold covers the
longest reply of the model, since the request has no limit.`;

/** Compactions in the Gateway. */
export const compact = endpoint({
  id: "compactResponse",
  surface: "gateway",
  method: "POST",
  path: "/v1/responses/compact",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Shorten a conversation",
  description: COMPACT_DESCRIPTION,
  body: jsonBody(CompactBody, RESPONSES.body),
  endUser: endUserOf,
  reply: gatewayCompaction,
  errors: [
    "not_found",
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
  ],
  errorForm: openAiError,
  examples: [compactExample({})],
  prepare: (fields, context: ChatContext) => prepareCompact(context, fields, chooseNamed),
  run: runCompact,
  answer: answerCompact,
});
