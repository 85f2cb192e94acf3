import { Elysia } from "elysia";
import type { Call } from "../calls/call.ts";
import { answerChat, type ChatRules } from "../http/chat/answer-chat.ts";
import { toChatCall } from "../http/chat/chat-request.ts";
import { type Arrival, authenticated } from "../http/endpoint.ts";
import type { GatewayDeps } from "./deps.ts";

const PATH = "/v1/chat/completions";

/** POST /v1/chat/completions (SPEC 4.2). */
export function chat(deps: GatewayDeps) {
  const rules: ChatRules = {
    defaultModel: null,
    wanted: (input, catalogue) => ({
      chat: toChatCall(input, catalogue, deps.switches),
      svcMembers: () => "",
    }),
  };
  const answer = (call: Call, arrival: Arrival) => answerChat(deps, call, arrival, rules);
  return new Elysia({ name: "gateway/chat" }).post(
    PATH,
    ({ request, server }) => authenticated(deps, { request, server }, PATH, answer),
    { parse: "none" },
  );
}
