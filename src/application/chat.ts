import { Elysia } from "elysia";
import type { Call } from "../calls/call.ts";
import { toDecimal } from "../core/money.ts";
import { authenticated, type RequestContext } from "../http/endpoint.ts";
import type { ChatDeps } from "../services/chat/answer-chat.ts";
import { answerChat, type ChatRules, type WantedChat } from "../services/chat/answer-chat.ts";
import { chooseModels, explainChoice } from "../services/chat/auto-router.ts";
import { AUTO_MODEL, type ChatCatalogue } from "../services/chat/catalogue.ts";
import { type ChatInput, isPaused, toChatCall } from "../services/chat/chat-request.ts";
import { promptTokensMax } from "../services/chat/tokens.ts";

const PATH = "/api/v1/chat/completions";

/** POST /api/v1/chat/completions (SPEC 4.9). */
export function applicationChat(deps: ChatDeps) {
  const rules: ChatRules = {
    defaultModel: AUTO_MODEL,
    wanted: (input, catalogue) =>
      input.model === AUTO_MODEL
        ? autoChat(deps, input, catalogue)
        : { chat: toChatCall(input, catalogue, deps.pauses), svcMembers: leftMember },
  };
  const answer = (call: Call, arrival: RequestContext) => answerChat(deps, call, arrival, rules);
  return new Elysia({ name: "application/chat" }).post(
    PATH,
    ({ request, server }) => authenticated(deps, { request, server }, PATH, answer),
    { parse: "none" },
  );
}

function autoChat(
  { calls, pauses }: ChatDeps,
  { request, stream }: ChatInput,
  catalogue: ChatCatalogue,
): WantedChat {
  const { tools } = request.parameters;
  const choice = chooseModels(catalogue, {
    promptBytes: promptTokensMax(request),
    maxTokens: request.maxTokens,
    needsTools: Array.isArray(tools) && tools.length > 0,
    isPaused: ({ id }) => isPaused(pauses, id),
    isHealthy: (model) => calls.chat.isHealthy(model),
  });
  return {
    chat: { models: choice.models, request, stream },
    svcMembers: (served, settlement) => {
      const why = JSON.stringify(explainChoice(choice, served.tried));
      return `${leftMember(served, settlement)},"auto":${why}`;
    },
  };
}

/** What the account can still spend; null where the settlement has not been heard of yet. */
const leftMember: WantedChat["svcMembers"] = (_, { left }) =>
  `,"credits_left_usd":${left === null ? "null" : toDecimal(left)}`;
