// POST /v1/responses/compact: shortens a conversation, where the provider of the model can (D-691).

import type { Settled } from "../../../../calls/settling.ts";
import { CHAT, RESPONSES } from "../../../../core/access/limits.ts";
import { ApiError } from "../../../../core/errors.ts";
import { sameId } from "../../../../core/ids.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import { type EndpointContext, endpoint } from "../../../../http/endpoint.ts";
import { openAiError } from "../../../../http/respond.ts";
import { anyObject, named, Type, text, whole } from "../../../../http/schema.ts";
import { completeChat } from "../../chat.ts";
import { modelsTaking } from "../../media/model-media.ts";
import { type ChatCatalogue, type ModelEntry, modelNamed } from "../../models/catalogue.ts";
import type { ChatDeps } from "../completions/answer-chat.ts";
import { unixSeconds } from "../completions/chat-json.ts";
import { ChatCost } from "../completions/chat-reply.ts";
import { namedModel } from "../completions/chat-request.ts";
import { type DoorCall, metaOf, svcIn } from "../door-meta.ts";
import { openerFor } from "./referred-items.ts";
import { usageJson } from "./response-json.ts";
import { CompactBody, type CompactFields } from "./responses-body.ts";
import { compactExample } from "./responses-examples.ts";
import { Usage } from "./responses-reply.ts";
import { toCompactRequest } from "./responses-request.ts";

type Context = EndpointContext<ChatDeps>;

const Compaction = named("Compaction", {
  id: text(),
  object: Type.Literal("response.compaction"),
  created_at: whole(0, Number.MAX_SAFE_INTEGER, { description: "Unix time in seconds" }),
  model: text({ description: "The model that answered" }),
  output: Type.Array(anyObject(), { description: "The items to send in place of the input" }),
  usage: Usage,
  svc: ChatCost,
});

interface CompactCall extends DoorCall {
  readonly created: number;
}

const unknownFields = unknownFieldsOf(CompactBody);

/** The call of a body. Throws `not_found` if no provider of the model can shorten. */
function prepareCompact(context: Context, fields: CompactFields): CompactCall {
  const { deps, call } = context;
  const catalogue = deps.catalogue();
  context.model = modelNamed(catalogue, fields.model)?.id ?? null;
  const [named] = namedModel(fields.model, catalogue, deps.pauses);
  const model = withCompaction(named, catalogue);
  const request = toCompactRequest(fields, openerFor(deps.itemSeals, call.identity.accountId));
  return {
    models: modelsTaking([model], request.media),
    // No field of the request bounds the output of the server, so nothing may lower this limit.
    request: { ...request, maxTokens: longestOutput(model) },
    stream: false,
    offered: catalogue.models,
    svcMembers: null,
    ignored: unknownFields(fields),
    created: unixSeconds(deps.calls.clock),
  };
}

function longestOutput({ contextTokens, maxOutputTokens }: ModelEntry): number {
  return Math.min(contextTokens, maxOutputTokens ?? CHAT.maxTokensMax);
}

/** The model with those of its routes that can shorten a conversation. */
function withCompaction(model: ModelEntry, { providers }: ChatCatalogue): ModelEntry {
  const routes = model.routes.filter(
    ({ provider }) => providers.get(provider)?.kind === "openai-responses",
  );
  if (routes.length > 0) return { ...model, routes };
  const message =
    `No provider of '${model.id}' shortens conversations: shorten the input of ` +
    "POST /v1/responses yourself. The documentation is at /docs";
  throw new ApiError("not_found", message, { param: "model" });
}

/** Runs a call. */
function runCompact(context: Context, compact: CompactCall): Promise<Settled<string>> {
  const { deps, call } = context;
  return completeChat(deps.calls, call, {
    chat: compact,
    saysWhatIsLeft: false,
    write: ({ model, tried, reply: route, usage }, settlement) => {
      const { output, usage: own } = route.body ?? {};
      return JSON.stringify({
        id: sameId(call.requestId, "response"),
        object: "response.compaction",
        created_at: compact.created,
        model: model.id,
        output: Array.isArray(output) ? output : [],
        usage: own ?? usageJson(usage),
        svc: svcIn(metaOf(context, compact, { model, tried, route }), settlement),
      });
    },
  });
}

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
  description: `Compatible with OpenAI's compaction, and passed through to it: the items of the
reply take the place of those that were sent. Only models of a provider that speaks Responses have
it; for others the answer is 404. Charged like a response. The hold covers the longest reply of the
model, since the request has no limit.`,
  body: jsonBody(CompactBody, RESPONSES.body),
  reply: Compaction,
  errors: [
    "not_found",
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
  ],
  errorForm: openAiError,
  examples: [compactExample()],
  prepare: (fields, context: Context) => prepareCompact(context, fields),
  run: runCompact,
  answer: (_: Context, __: CompactCall, { reply, charged }: Settled<string>): Answer => ({
    json: reply,
    costUsd: toDecimal(charged),
  }),
});
