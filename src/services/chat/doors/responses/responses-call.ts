// A call of the door for Responses, and the facts that its answer repeats.

import type { CountedReply } from "../../chat.ts";
import type { SentLimit } from "../../chat-admission.ts";
import { type OutputLimit, sentLimit } from "../../default-limit.ts";
import { asksForImages, modelsGiving } from "../../media/model-images.ts";
import { modelsTaking } from "../../media/model-media.ts";
import { noteModel } from "../../models/noted-model.ts";
import { modelsOfTier } from "../../request-tier.ts";
import type { ServedBy } from "../../served-model.ts";
import type { ChatContext, ChooseModels } from "../completions/answer-chat.ts";
import { unixSeconds } from "../completions/chat-json.ts";
import { type DoorCall, metaOf } from "../door-meta.ts";
import { withSession } from "../session-header.ts";
import { openerFor } from "./referred-items.ts";
import type { ResponseMeta } from "./response-json.ts";
import type { ResponsesFields } from "./responses-body.ts";
import { IMAGE_TOOL, toResponsesRequest, withImages, withReasoning } from "./responses-request.ts";
import { SealReply } from "./sealed-reply.ts";

/** A call of this door, with the parts of the request that its answer repeats. */
export interface ResponsesCall
  extends DoorCall,
    Pick<ResponseMeta, "created" | "fields" | "tools"> {}

/** The call of a body. Throws its refusal. */
export function toResponsesCall(
  context: ChatContext,
  fields: ResponsesFields,
  choose: ChooseModels,
): ResponsesCall {
  const { deps, call } = context;
  const { accountId: account } = call.identity;
  const read = toResponsesRequest(fields, openerFor(deps.itemSeals, account));
  const { tools, ignored } = read;
  const { model } = fields;
  const catalogue = deps.catalogue();
  const request = withSession(read.request, context.request.headers, catalogue);
  noteModel(context, catalogue, model);
  const chosen = choose(context, request, { model, catalogue });
  const taking = modelsTaking(chosen.models, request.media);
  const asked = withImages(request, tools, taking);
  // Without a limit of the caller the model's own is sent.
  const tokens = fields.max_output_tokens ?? Number.POSITIVE_INFINITY;
  const room = { tokens, field: "max_output_tokens" };
  const models = modelsOfTier(modelsGiving(taking, asked, room), request);
  return {
    models,
    request: withReasoning(asked, fields, models),
    stream: fields.stream ?? false,
    offered: catalogue.models,
    svcMembers: chosen.svcMembers,
    ignored: asksForImages(asked) ? ignored.filter((name) => name !== IMAGE_TOOL) : ignored,
    created: unixSeconds(deps.calls.clock),
    fields,
    tools,
  };
}

/** The model, the limit and the searches behind a response. */
export interface AnsweredBy {
  readonly served: ServedBy & SentLimit;
  /** The limit that the caller left to us; null if the caller set one. */
  readonly limit: OutputLimit | null;
  readonly search: ResponseMeta["search"];
}

/** The model, the route and the limit of a reply that is not streamed. */
export function servedBy(counted: CountedReply): AnsweredBy["served"] {
  const { model, tried, ofKey, reply: route, maxTokens, isCostBound } = counted;
  return { model, tried, ofKey, route, maxTokens, isCostBound };
}

export function responseMeta(
  context: ChatContext,
  response: ResponsesCall,
  { served, limit, search }: AnsweredBy,
): ResponseMeta {
  const { deps, call } = context;
  const { created, fields, tools } = response;
  const { accountId } = call.identity;
  return {
    ...metaOf(context, response, served),
    limit: limit === null ? null : sentLimit(limit, served),
    created,
    now: () => unixSeconds(deps.calls.clock),
    fields,
    tools,
    // A caller who says that nothing is stored sends whole items.
    seal: fields.store === false ? null : new SealReply(deps.itemSeals, accountId),
    search,
  };
}
