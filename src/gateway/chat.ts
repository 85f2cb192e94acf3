import { Elysia } from "elysia";
import { type Call, refuse } from "../calls/call.ts";
import { completeChat, openChatStream } from "../calls/chat.ts";
import type { ChatCall } from "../calls/chat-admission.ts";
import { ApiError } from "../core/errors.ts";
import { CHAT } from "../core/limits.ts";
import { toDecimal } from "../core/money.ts";
import { readJsonObject } from "../http/read-body.ts";
import { jsonResponse } from "../http/respond.ts";
import { allowQuiet, endQuiet } from "../http/server.ts";
import { eventStream } from "../http/sse.ts";
import { ChatFrames, completionJson } from "./chat-json.ts";
import { readChatInput, toChatCall } from "./chat-request.ts";
import type { GatewayDeps } from "./deps.ts";
import { type Arrival, answerFacts, authenticated } from "./endpoint.ts";

const PATH = "/v1/chat/completions";

/** POST /v1/chat/completions (SPEC 4.2). */
export function chat(deps: GatewayDeps) {
  const answer = (call: Call, arrival: Arrival) => answerChat(deps, call, arrival);
  return new Elysia({ name: "gateway/chat" }).post(
    PATH,
    ({ request, server }) => authenticated(deps, { request, server }, PATH, answer),
    { parse: "none" },
  );
}

async function answerChat(deps: GatewayDeps, call: Call, arrival: Arrival): Promise<Response> {
  const { request, server } = arrival;
  const wanted = await readCall(deps, call, arrival);
  const facts = {
    call,
    model: wanted.model.id,
    created: Math.floor(deps.calls.clock.now() / 1000),
  };
  let streams = false;
  allowQuiet(server, request);
  try {
    if (!wanted.stream) {
      const completion = await completeChat(deps.calls, call, wanted);
      const costUsd = toDecimal(completion.settlement.charged);
      const body = completionJson(facts, completion, costUsd);
      return jsonResponse(body, { ...answerFacts(call), costUsd });
    }
    const stream = await openChatStream(deps.calls, call, wanted);
    streams = true;
    // Nothing is charged yet, and the header says so; the last frame has what was.
    return eventStream(new ChatFrames(stream, facts), answerFacts(call), () =>
      endQuiet(server, request),
    );
  } finally {
    if (!streams) endQuiet(server, request);
  }
}

/** The checked call; one that must be refused is counted and logged by its account first. */
async function readCall(deps: GatewayDeps, call: Call, arrival: Arrival): Promise<ChatCall> {
  const demand = { scope: "models", service: "models", model: null } as const;
  let model: string | null = null;
  try {
    arrival.isReadingBody = true;
    const rules = { bytesMax: CHAT.bodyBytesMax, clock: deps.calls.clock };
    const body = await readJsonObject(arrival.request, rules);
    arrival.isReadingBody = false;
    const input = readChatInput(body);
    const catalogue = deps.catalogue();
    // The log names models that exist, never what a caller made up.
    if (catalogue.models.has(input.model)) model = input.model;
    return toChatCall(input, catalogue, deps.switches);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return await refuse(deps.calls, call, { ...demand, model }, error);
  }
}
