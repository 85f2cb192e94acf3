// Answers a chat completion of either surface: reads the call, runs it, and frames what comes.

import type { Settlement } from "../../../actors/account.ts";
import { type Call, refuse } from "../../calls/call.ts";
import { ApiError } from "../../core/errors.ts";
import { CHAT } from "../../core/limits.ts";
import { toDecimal } from "../../core/money.ts";
import { type EndpointDeps, type RequestContext, responseMeta } from "../../http/endpoint.ts";
import { readJsonObject } from "../../http/read-body.ts";
import { jsonResponse } from "../../http/respond.ts";
import { allowQuiet, endQuiet } from "../../http/server.ts";
import { eventStream } from "../../http/sse.ts";
import type { ChatCatalogue, ModelEntry } from "./catalogue.ts";
import { completeChat, openChatStream } from "./chat.ts";
import type { ChatCall, ChatCallDeps } from "./chat-admission.ts";
import { ChatFrames, type CompletionMeta, completionJson } from "./chat-json.ts";
import { type ChatInput, readChatInput } from "./chat-request.ts";

export interface ChatDeps extends EndpointDeps {
  readonly calls: ChatCallDeps;
  readonly catalogue: () => ChatCatalogue;
}

/** A model that answered, and those that were asked before it. */
interface Served {
  readonly model: ModelEntry;
  readonly tried: readonly ModelEntry[];
}

/** A call, and what its answer says of it. */
export interface WantedChat {
  readonly chat: ChatCall;
  /** What `svc` says besides id and costs: JSON members, each behind a comma. */
  readonly svcMembers: (served: Served, settlement: Settlement) => string;
}

/** What differs between the surfaces. */
export interface ChatRules {
  /** What a request without a model asks for; null where it must name one. */
  readonly defaultModel: string | null;
  /** The call that a checked request asks for. Throws the refusal where there is none. */
  readonly wanted: (input: ChatInput, catalogue: ChatCatalogue) => WantedChat;
}

export async function answerChat(
  deps: ChatDeps,
  call: Call,
  arrival: RequestContext,
  rules: ChatRules,
): Promise<Response> {
  const { request, server } = arrival;
  const { chat, svcMembers } = await readCall(deps, call, arrival, rules);
  const factsOf = (served: Served): CompletionMeta => ({
    call,
    model: served.model.id,
    created: Math.floor(deps.calls.clock.now() / 1000),
    surface: deps.surface,
    svcMembers: (settlement) => svcMembers(served, settlement),
  });
  let streams = false;
  allowQuiet(server, request);
  try {
    if (!chat.stream) {
      const completion = await completeChat(deps.calls, call, chat);
      const costUsd = toDecimal(completion.settlement.charged);
      const body = completionJson(factsOf(completion), completion, costUsd);
      return jsonResponse(body, { ...responseMeta(call), costUsd });
    }
    const stream = await openChatStream(deps.calls, call, chat);
    streams = true;
    // Nothing is charged yet, and the header says so; the last frame has what was.
    return eventStream(new ChatFrames(stream, factsOf(stream.served)), responseMeta(call), () =>
      endQuiet(server, request),
    );
  } finally {
    if (!streams) endQuiet(server, request);
  }
}

/** The checked call; one that must be refused is counted and logged by its account first. */
async function readCall(
  deps: ChatDeps,
  call: Call,
  arrival: RequestContext,
  rules: ChatRules,
): Promise<WantedChat> {
  const demand = { scope: "models", service: "models", model: null } as const;
  let model: string | null = null;
  try {
    arrival.isReadingBody = true;
    const limits = { bytesMax: CHAT.bodyBytesMax, clock: deps.calls.clock };
    const body = await readJsonObject(arrival.request, limits);
    arrival.isReadingBody = false;
    const input = readChatInput(body, rules.defaultModel);
    const catalogue = deps.catalogue();
    // The log names models that exist, never what a caller made up.
    if (catalogue.models.has(input.model)) model = input.model;
    return rules.wanted(input, catalogue);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return await refuse(deps.calls, call, { ...demand, model }, error);
  }
}
