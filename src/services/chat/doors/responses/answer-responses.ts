// Responses of both surfaces: builds the call of a checked body, runs it, and makes its answer.

import type { Settled } from "../../../../calls/settling.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer, EndpointContext } from "../../../../http/endpoint.ts";
import { completeChat, openChatStream } from "../../chat.ts";
import { ChatStream } from "../../chat-stream.ts";
import { modelsTaking } from "../../media/model-media.ts";
import { modelNamed } from "../../models/catalogue.ts";
import { modelsOfTier } from "../../request-tier.ts";
import type { ServedBy } from "../../served-model.ts";
import type { ChatDeps, ChooseModels } from "../completions/answer-chat.ts";
import { unixSeconds } from "../completions/chat-json.ts";
import { type DoorCall, metaOf } from "../door-meta.ts";
import { openerFor } from "./referred-items.ts";
import { type ResponseMeta, responseJson } from "./response-json.ts";
import type { ResponsesFields } from "./responses-body.ts";
import { ResponsesFrames } from "./responses-frames.ts";
import { ignoredFields, toResponsesRequest, withReasoning } from "./responses-request.ts";
import { SealReply } from "./sealed-reply.ts";

type Context = EndpointContext<ChatDeps>;

/** A call of this door, with the parts of the request that its answer repeats. */
export interface ResponsesCall
  extends DoorCall,
    Pick<ResponseMeta, "created" | "fields" | "tools"> {}

/** Builds the call of a body. */
export function prepareResponses(
  context: Context,
  fields: ResponsesFields,
  choose: ChooseModels,
): ResponsesCall {
  const { deps, call } = context;
  const { accountId: account } = call.identity;
  const { request, tools } = toResponsesRequest(fields, openerFor(deps.itemSeals, account));
  const { model } = fields;
  const catalogue = deps.catalogue();
  context.model = modelNamed(catalogue, model)?.id ?? null;
  const chosen = choose(deps, { model, request, catalogue, account });
  const models = modelsOfTier(modelsTaking(chosen.models, request.media), request);
  return {
    models,
    request: withReasoning(request, fields, models),
    stream: fields.stream ?? false,
    offered: catalogue.models,
    svcMembers: chosen.svcMembers,
    ignored: ignoredFields(fields, tools),
    created: unixSeconds(deps.calls.clock),
    fields,
    tools,
  };
}

/** Runs a call, whole or streamed. */
export function runResponses(
  context: Context,
  response: ResponsesCall,
): Promise<Settled<string> | ChatStream> {
  const { deps, call } = context;
  if (response.stream) return openChatStream(deps.calls, call, response);
  return completeChat(deps.calls, call, {
    chat: response,
    saysWhatIsLeft: response.svcMembers !== null,
    write: (counted, settlement) => {
      const { model, tried, reply: route } = counted;
      const meta = responseMeta(context, response, { model, tried, route });
      return responseJson(meta, counted, settlement);
    },
  });
}

/** The answer to the caller: a whole reply, or a stream that has begun. */
export function answerResponses(
  context: Context,
  response: ResponsesCall,
  result: Settled<string> | ChatStream,
): Answer {
  if (result instanceof ChatStream) {
    const meta = responseMeta(context, response, result.served);
    return { events: new ResponsesFrames(result, meta) };
  }
  return { json: result.reply, costUsd: toDecimal(result.charged) };
}

function responseMeta(context: Context, response: ResponsesCall, served: ServedBy): ResponseMeta {
  const { deps, call } = context;
  const { created, fields, tools } = response;
  const { accountId } = call.identity;
  return {
    ...metaOf(context, response, served),
    created,
    now: () => unixSeconds(deps.calls.clock),
    fields,
    tools,
    // A caller who says that nothing is stored sends whole items.
    seal: fields.store === false ? null : new SealReply(deps.itemSeals, accountId),
  };
}
