// Responses of both surfaces: builds the call of a checked body, runs it, and makes its answer.

import { refuse } from "../../../../calls/admission.ts";
import { ApiError } from "../../../../core/errors.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { isAbsent } from "../../../../http/body/checks.ts";
import { completeChat, openChatStream } from "../../chat.ts";
import type { ChatStream } from "../../chat-stream.ts";
import { defaultLimit, type OutputLimit } from "../../default-limit.ts";
import type { ChatContext, ChooseModels } from "../completions/answer-chat.ts";
import type { EventSource } from "../stream-frames.ts";
import { responseJson } from "./response-json.ts";
import type { ResponsesFields } from "./responses-body.ts";
import {
  type AnsweredBy,
  type ResponsesCall,
  responseMeta,
  servedBy,
  toResponsesCall,
} from "./responses-call.ts";
import { ResponsesFrames } from "./responses-frames.ts";
import { completeSearching, openSearching, type SettledResponse } from "./search/run-searching.ts";
import { type SearchPlan, searchPlan, withReason } from "./search/search-plan.ts";
import { searchRefusal } from "./search/search-refusal.ts";
import { SearchRounds } from "./search/search-rounds.ts";
import type { SearchStreamEvent } from "./search/search-stream.ts";

/** The call that a body becomes. */
export type PreparedResponse = PlainResponse | SearchingResponse;

interface PlainResponse {
  readonly kind: "plain";
  readonly response: ResponsesCall;
}

/** A response whose model can search. */
interface SearchingResponse {
  readonly kind: "searching";
  /** The call with a function in place of the tool for search. */
  readonly response: ResponsesCall;
  readonly plan: SearchPlan;
  /** Makes the call without search; null if the request forces a search. */
  readonly withoutSearch: () => ResponsesCall | null;
}

/** Builds the call of a body. */
export function prepareResponses(
  context: ChatContext,
  fields: ResponsesFields,
  choose: ChooseModels,
): PreparedResponse {
  const plan = searchPlan(context, fields);
  if (plan === null) {
    return { kind: "plain", response: toResponsesCall(context, fields, choose) };
  }
  const withoutSearch = () => plainCall(context, fields, choose);
  if (plan instanceof ApiError) {
    const response = withoutSearch();
    if (response === null) throw plan;
    return { kind: "plain", response: without(response, plan) };
  }
  const asked = toResponsesCall(context, plan.fields, choose);
  const response = { ...asked, fields, ignored: [...asked.ignored, ...plan.ignored] };
  return { kind: "searching", response, plan, withoutSearch };
}

/**
 * The call without search; null if the request forces a search. The body was checked before, so no
 * other refusal is possible.
 */
function plainCall(
  context: ChatContext,
  fields: ResponsesFields,
  choose: ChooseModels,
): ResponsesCall | null {
  try {
    return toResponsesCall(context, fields, choose);
  } catch (error) {
    if (error instanceof ApiError && error.param?.startsWith("tool_choice") === true) return null;
    throw error;
  }
}

function without(response: ResponsesCall, reason: ApiError): ResponsesCall {
  return { ...response, ignored: withReason(response.ignored, reason) };
}

/** A stream that has begun. */
interface BegunStream extends AnsweredBy {
  readonly response: ResponsesCall;
  readonly stream: EventSource<SearchStreamEvent>;
}

type Result = SettledResponse | BegunStream;

/** Runs a call, whole or streamed. */
export async function runResponses(
  context: ChatContext,
  prepared: PreparedResponse,
): Promise<Result> {
  const { response } = prepared;
  if (prepared.kind === "plain") return await runPlain(context, response);
  const { plan, withoutSearch } = prepared;
  const { deps, call, model } = context;
  const refusal = await searchRefusal(context, plan);
  if (refusal === null) return await runSearching(context, response, plan);
  const plain = withoutSearch();
  if (plain !== null) return await runPlain(context, without(plain, refusal));
  return await refuse(deps.calls, call, { scope: "models", service: "models", model, refusal });
}

async function runPlain(context: ChatContext, response: ResponsesCall): Promise<Result> {
  const { deps, call } = context;
  const isLimited = !isAbsent(response.fields.max_output_tokens);
  const limit = isLimited ? null : await defaultLimit(deps.calls, call, response);
  const chat = limit === null ? response : withLimit(response, limit);
  if (chat.stream) {
    const stream: ChatStream = await openChatStream(deps.calls, call, chat);
    return { stream, served: stream.served, limit, search: null, response };
  }
  return await completeChat(deps.calls, call, {
    chat,
    write: (counted, settlement) => {
      const served = servedBy(counted);
      const meta = responseMeta(context, response, { served, limit, search: null });
      return responseJson(meta, counted, settlement);
    },
  });
}

async function runSearching(
  context: ChatContext,
  response: ResponsesCall,
  plan: SearchPlan,
): Promise<Result> {
  const { most, bound } = plan.searches;
  context.deps.calls.quote?.heldBesides({ searches: most, bound });
  const rounds = new SearchRounds(context, plan, response);
  if (!response.stream) return await completeSearching(context, response, rounds);
  const { stream, limit } = await openSearching(context, response, rounds);
  return { stream, served: stream.served, limit, search: rounds, response };
}

function withLimit(response: ResponsesCall, { tokens: maxTokens }: OutputLimit): ResponsesCall {
  return { ...response, request: { ...response.request, maxTokens } };
}

/** The answer to the caller: a whole reply, or a stream that has begun. */
export function answerResponses(context: ChatContext, _: PreparedResponse, result: Result): Answer {
  if ("stream" in result) {
    const { stream, response } = result;
    return { events: new ResponsesFrames(stream, responseMeta(context, response, result)) };
  }
  const { reply: json, charged, isFailure = false } = result;
  return { json, costUsd: toDecimal(charged), isFailure };
}
