// Messages of both surfaces: builds the call of a checked body, runs it, and makes its answer.

import type { Settled } from "../../../../calls/settling.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer, EndpointContext } from "../../../../http/endpoint.ts";
import { completeChat, openChatStream } from "../../chat.ts";
import type { ChatCall } from "../../chat-admission.ts";
import { ChatStream } from "../../chat-stream.ts";
import { modelNamed } from "../../models/catalogue.ts";
import type { ChatRequest } from "../../protocols/provider.ts";
import type { ServedBy } from "../../served-model.ts";
import { promptTokensMax } from "../../tokens/tokens.ts";
import type { ChatDeps, ChooseModels } from "../completions/answer-chat.ts";
import type { ChosenModels } from "../completions/chat-request.ts";
import { withSession } from "../session-header.ts";
import type { MessagesFields } from "./messages-body.ts";
import { betasIn } from "./messages-fields.ts";
import { type MessageMeta, MessagesFrames, messageJson } from "./messages-json.ts";
import { ignoredFields, toMessagesRequest, withThinking } from "./messages-request.ts";

type Context = EndpointContext<ChatDeps>;

/** A call of this door, with the fields of the request that its answer depends on. */
export interface MessagesCall extends ChatCall, Pick<ChosenModels, "svcMembers"> {
  /** Names of fields and betas that have no effect. */
  readonly ignored: readonly string[];
}

/** Builds the call of a body. */
export function prepareMessages(
  context: Context,
  fields: MessagesFields,
  choose: ChooseModels,
): MessagesCall {
  const { deps, call } = context;
  const betas = betasIn(context.request.headers.get("anthropic-beta"));
  const { model } = fields;
  const catalogue = deps.catalogue();
  const { headers } = context.request;
  const request = withSession(toMessagesRequest(fields, betas.forwarded), headers, catalogue);
  context.model = modelNamed(catalogue, model)?.id ?? null;
  const { accountId: account } = call.identity;
  const { models, svcMembers } = choose(deps, { model, request, catalogue, account });
  return {
    models,
    request: withThinking(request, fields, models),
    stream: fields.stream ?? false,
    offered: catalogue.models,
    svcMembers,
    ignored: [...ignoredFields(fields), ...betas.ignored],
  };
}

/** Runs a call, whole or streamed. */
export function runMessages(
  context: Context,
  message: MessagesCall,
): Promise<Settled<string> | ChatStream> {
  const { deps, call } = context;
  if (message.stream) return openChatStream(deps.calls, call, message);
  return completeChat(deps.calls, call, {
    chat: message,
    saysWhatIsLeft: message.svcMembers !== null,
    write: (counted, settlement) => {
      const { model, tried, reply: route } = counted;
      return messageJson(metaOf(context, message, { model, tried, route }), counted, settlement);
    },
  });
}

/** The answer to the caller: a whole reply, or a stream that has begun. */
export function answerMessages(
  context: Context,
  message: MessagesCall,
  result: Settled<string> | ChatStream,
): Answer {
  if (result instanceof ChatStream) {
    const meta = metaOf(context, message, result.served);
    const countPrompt = () => promptTokens(context, message.request);
    return { events: new MessagesFrames(result, { ...meta, countPrompt }) };
  }
  return { json: result.reply, costUsd: toDecimal(result.charged) };
}

/** Bytes of usual text for a token, where a prompt cannot be counted now. */
const BYTES_A_TOKEN = 4;

/** The tokens of a prompt by our own tokenizer, or about as many. */
export async function promptTokens(
  { deps, call }: Context,
  request: Omit<ChatRequest, "own">,
): Promise<number> {
  const { accountId } = call.identity;
  const { tokens } = deps.calls;
  const counted = await tokens.estimatePrompt(accountId, request, Number.POSITIVE_INFINITY);
  return counted ?? Math.ceil(promptTokensMax(request) / BYTES_A_TOKEN);
}

function metaOf(
  { call }: Context,
  { ignored, svcMembers }: MessagesCall,
  served: ServedBy,
): MessageMeta {
  const { ignored: lost = [] } = served.route;
  return { call, served, ignored: [...new Set([...ignored, ...lost])], svcMembers };
}
