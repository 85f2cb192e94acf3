import { Elysia } from "elysia";
import type { Call } from "../calls/call.ts";
import { chooseModels, explainChoice } from "../core/auto-router.ts";
import { AUTO_MODEL, type Catalogue } from "../core/catalogue.ts";
import { toDecimal } from "../core/money.ts";
import { answerChat, type ChatRules, type WantedChat } from "../http/chat/answer-chat.ts";
import { type ChatInput, isPaused, toChatCall } from "../http/chat/chat-request.ts";
import { type Arrival, authenticated } from "../http/endpoint.ts";
import { promptTokensMax } from "../providers/tokens.ts";
import type { ApplicationDeps } from "./deps.ts";

const PATH = "/api/v1/chat/completions";

/** POST /api/v1/chat/completions (SPEC 4.9). */
export function applicationChat(deps: ApplicationDeps) {
  const rules: ChatRules = {
    defaultModel: AUTO_MODEL,
    wanted: (input, catalogue) =>
      input.model === AUTO_MODEL
        ? autoChat(deps, input, catalogue)
        : { chat: toChatCall(input, catalogue, deps.switches), svcMembers: leftMember },
  };
  const answer = (call: Call, arrival: Arrival) => answerChat(deps, call, arrival, rules);
  return new Elysia({ name: "application/chat" }).post(
    PATH,
    ({ request, server }) => authenticated(deps, { request, server }, PATH, answer),
    { parse: "none" },
  );
}

function autoChat(
  { calls, switches }: ApplicationDeps,
  { request, stream }: ChatInput,
  catalogue: Catalogue,
): WantedChat {
  const { tools } = request.parameters;
  const choice = chooseModels(catalogue, {
    promptBytes: promptTokensMax(request),
    maxTokens: request.maxTokens,
    needsTools: Array.isArray(tools) && tools.length > 0,
    isPaused: ({ id }) => isPaused(switches, id),
    isWell: (model) => calls.chat.isWell(model),
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
