// Messages of both surfaces: builds the call of a checked body, runs it, and makes its answer.

import type { Settled } from "../../../../calls/settling.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { completeChat, openChatStream } from "../../chat.ts";
import { ChatStream } from "../../chat-stream.ts";
import { modelsOfText } from "../../media/model-images.ts";
import { mediaTokens, modelsTaking } from "../../media/model-media.ts";
import { noteModel } from "../../models/noted-model.ts";
import type { ChatContext, ChooseModels } from "../completions/answer-chat.ts";
import { promptTokens } from "../count-tokens.ts";
import { type DoorCall, metaOf } from "../door-meta.ts";
import { withSession } from "../session-header.ts";
import type { MessagesFields } from "./messages-body.ts";
import { betasIn } from "./messages-fields.ts";
import { MessagesFrames, messageJson } from "./messages-json.ts";
import { ignoredFields, toMessagesRequest, withThinking } from "./messages-request.ts";
import { leftOutTools } from "./messages-tools.ts";

/** Builds the call of a body. */
export function prepareMessages(
  context: ChatContext,
  fields: MessagesFields,
  choose: ChooseModels,
): DoorCall {
  const betas = betasIn(context.request.headers.get("anthropic-beta"));
  const { model } = fields;
  const catalogue = context.deps.catalogue();
  const { headers } = context.request;
  const request = withSession(toMessagesRequest(fields, betas.forwarded), headers, catalogue);
  noteModel(context, catalogue, model);
  const { svcMembers, ...chosen } = choose(context, request, { model, catalogue });
  const models = modelsTaking(modelsOfText(chosen.models), request.media);
  return {
    models,
    request: withThinking(request, fields, models),
    stream: fields.stream ?? false,
    offered: catalogue.models,
    svcMembers,
    ignored: [...ignoredFields(fields), ...leftOutTools(fields), ...betas.ignored],
  };
}

/** Runs a call, whole or streamed. */
export function runMessages(
  context: ChatContext,
  message: DoorCall,
): Promise<Settled<string> | ChatStream> {
  const { deps, call } = context;
  if (message.stream) return openChatStream(deps.calls, call, message);
  return completeChat(deps.calls, call, {
    chat: message,
    write: (counted, settlement) => {
      const { model, tried, ofKey, reply: route } = counted;
      return messageJson(
        metaOf(context, message, { model, tried, ofKey, route }),
        counted,
        settlement,
      );
    },
  });
}

/** The answer to the caller: a whole reply, or a stream that has begun. */
export function answerMessages(
  context: ChatContext,
  message: DoorCall,
  result: Settled<string> | ChatStream,
): Answer {
  if (result instanceof ChatStream) {
    const meta = metaOf(context, message, result.served);
    const { request } = message;
    const media = mediaTokens(result.served.model, request.media);
    const countPrompt = async () => (await promptTokens(context, request)) + media;
    return { events: new MessagesFrames(result, { ...meta, countPrompt }) };
  }
  return { json: result.reply, costUsd: toDecimal(result.charged) };
}
