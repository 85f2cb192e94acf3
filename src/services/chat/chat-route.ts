import { Elysia } from "elysia";
import type { Call } from "../../calls/call.ts";
import { authenticated, type RequestContext } from "../../http/endpoint.ts";
import type { ChatDeps } from "./answer-chat.ts";
import { answerChat, type ChatRules } from "./answer-chat.ts";
import { toChatCall } from "./chat-request.ts";

const PATH = "/v1/chat/completions";

/** POST /v1/chat/completions (SPEC 4.2). */
export function chat(deps: ChatDeps) {
  const rules: ChatRules = {
    defaultModel: null,
    wanted: (input, catalogue) => ({
      chat: toChatCall(input, catalogue, deps.pauses),
      svcMembers: () => "",
    }),
  };
  const answer = (call: Call, arrival: RequestContext) => answerChat(deps, call, arrival, rules);
  return new Elysia({ name: "gateway/chat" }).post(
    PATH,
    ({ request, server }) => authenticated(deps, { request, server }, PATH, answer),
    { parse: "none" },
  );
}
