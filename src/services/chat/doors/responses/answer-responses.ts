// Responses of both surfaces: builds the call of a checked body, runs it, and makes its answer.

import type { Settled } from "../../../../calls/settling.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { isAbsent } from "../../../../http/body/checks.ts";
import type { EndpointContext } from "../../../../http/endpoint.ts";
import { completeChat, openChatStream } from "../../chat.ts";
import type { ChatStream } from "../../chat-stream.ts";
import { defaultLimit, type OutputLimit, sentLimit } from "../../default-limit.ts";
import { asksForImages, modelsGiving } from "../../media/model-images.ts";
import { modelsTaking } from "../../media/model-media.ts";
import { modelNamed } from "../../models/catalogue.ts";
import { modelsOfTier } from "../../request-tier.ts";
import type { ChatDeps, ChooseModels } from "../completions/answer-chat.ts";
import { unixSeconds } from "../completions/chat-json.ts";
import { type DoorCall, metaOf } from "../door-meta.ts";
import { withSession } from "../session-header.ts";
import { openerFor } from "./referred-items.ts";
import { type ResponseMeta, responseJson } from "./response-json.ts";
import type { ResponsesFields } from "./responses-body.ts";
import { ResponsesFrames } from "./responses-frames.ts";
import { IMAGE_TOOL, toResponsesRequest, withImages, withReasoning } from "./responses-request.ts";
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
  const read = toResponsesRequest(fields, openerFor(deps.itemSeals, account));
  const { tools, ignored } = read;
  const { model } = fields;
  const catalogue = deps.catalogue();
  const request = withSession(read.request, context.request.headers, catalogue);
  context.model = modelNamed(catalogue, model)?.id ?? null;
  const chosen = choose(deps, { model, request, catalogue, account });
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

/** A reply, or a stream that has begun with the limit that its caller left to us. */
type Result = Settled<string> | { readonly stream: ChatStream; readonly limit: OutputLimit | null };

/** Runs a call, whole or streamed. */
export async function runResponses(context: Context, response: ResponsesCall): Promise<Result> {
  const { deps, call } = context;
  const isLimited = !isAbsent(response.fields.max_output_tokens);
  const limit = isLimited ? null : await defaultLimit(deps.calls, call, response);
  const chat = limit === null ? response : withLimit(response, limit);
  if (chat.stream) return { stream: await openChatStream(deps.calls, call, chat), limit };
  return await completeChat(deps.calls, call, {
    chat,
    saysWhatIsLeft: response.svcMembers !== null,
    write: (counted, settlement) => {
      const { model, tried, ofKey, reply: route, maxTokens } = counted;
      const served = { model, tried, ofKey, route, maxTokens };
      return responseJson(responseMeta(context, response, { served, limit }), counted, settlement);
    },
  });
}

function withLimit(response: ResponsesCall, { tokens: maxTokens }: OutputLimit): ResponsesCall {
  return { ...response, request: { ...response.request, maxTokens } };
}

/** The answer to the caller: a whole reply, or a stream that has begun. */
export function answerResponses(context: Context, response: ResponsesCall, result: Result): Answer {
  if ("stream" in result) {
    const { stream, limit } = result;
    const meta = responseMeta(context, response, { served: stream.served, limit });
    return { events: new ResponsesFrames(stream, meta) };
  }
  return { json: result.reply, costUsd: toDecimal(result.charged) };
}

interface LimitedReply {
  readonly served: ChatStream["served"];
  readonly limit: OutputLimit | null;
}

function responseMeta(
  context: Context,
  response: ResponsesCall,
  { served, limit }: LimitedReply,
): ResponseMeta {
  const { deps, call } = context;
  const { created, fields, tools } = response;
  const { accountId } = call.identity;
  return {
    ...metaOf(context, response, served),
    limit: limit === null ? null : sentLimit(limit, served.maxTokens, call),
    created,
    now: () => unixSeconds(deps.calls.clock),
    fields,
    tools,
    // A caller who says that nothing is stored sends whole items.
    seal: fields.store === false ? null : new SealReply(deps.itemSeals, accountId),
  };
}
