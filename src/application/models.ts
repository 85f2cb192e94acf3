import { withoutCost } from "../calls/account.ts";
import { type ModelPatterns, mayCallModel } from "../core/access/key-limits.ts";
import { firstRow } from "../core/money/call-cost.ts";
import { pricePerUnit } from "../core/money/money.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import { named, Type, text, whole } from "../http/schema.ts";
import type { ChatDeps } from "../services/chat/doors/completions/answer-chat.ts";
import { isPaused } from "../services/chat/doors/completions/chat-request.ts";
import { modelHeadJson, modelSvcJson, noModel } from "../services/chat/doors/models/model-json.ts";
import {
  listOf,
  ModelDetails,
  modelHead,
  modelIdParameter,
} from "../services/chat/doors/models/model-reply.ts";
import {
  AUTO_MODEL,
  type ChatCatalogue,
  type ModelEntry,
  servesChat,
} from "../services/chat/models/catalogue.ts";

const perToken = (what: string) => text({ description: `USD per token ${what}, as decimal text` });

const ApplicationModel = named("ApplicationModel", {
  ...modelHead,
  name: text({ description: "Display name" }),
  context_length: whole(0, Number.MAX_SAFE_INTEGER, {
    description: "Tokens of prompt and reply together",
  }),
  pricing: Type.Object({
    prompt: perToken("of the prompt; `-1` for `auto`: the price is the chosen model's"),
    completion: perToken("of the reply"),
    input_cache_read: Type.Optional(perToken("that comes from the model's cache")),
  }),
  svc: Type.Union([
    ModelDetails,
    Type.Object({ label: text(), policy: text({ description: "How `auto` chooses" }) }),
  ]),
});

const AUTO_ENTRY = {
  id: "auto",
  object: "model",
  created: 0,
  owned_by: "farebox",
  name: "Chosen for each request",
  context_length: 128_000,
  pricing: { prompt: "-1", completion: "-1" },
  svc: { label: "Chosen for each request", policy: "balanced" },
};

const ENTRY = {
  id: "swift-1",
  object: "model",
  created: 1_777_593_600,
  owned_by: "example",
  name: "Swift 1",
  context_length: 128_000,
  pricing: { prompt: "0.00000015", completion: "0.0000006" },
  svc: {
    label: "Swift 1",
    family: "swift",
    pricing: { input_usd_per_m: 0.15, output_usd_per_m: 0.6, cached_input_usd_per_m: null },
    free_credit_eligible: true,
  },
};

/** SPEC 4.10: any application key. The models that can be called now, with their prices. */
export const applicationModels = endpoint({
  id: "listModels",
  surface: "application",
  method: "GET",
  path: "/api/v1/models",
  service: "chat",
  access: "key",
  isBilled: false,
  summary: "List the models that can be called now, and their prices",
  description: "Costs nothing and counts as a request. `auto` is the first entry.",
  reply: listOf("ApplicationModelList", ApplicationModel),
  errors: [],
  examples: [{ summary: "All models", reply: { object: "list", data: [AUTO_ENTRY, ENTRY] } }],
  prepare: () => null,
  run: ({ deps, call }: EndpointContext<ChatDeps>) =>
    withoutCost(deps.calls, call, {
      service: "models",
      answer: async () => listJson(deps, call.models),
    }),
  answer: (_context, _, json) => ({ json }),
});

/** One entry of the list; a paused model is not in it. */
export const applicationModel = endpoint({
  id: "getModel",
  surface: "application",
  method: "GET",
  path: "/api/v1/models/{id}",
  hasOpenEnd: true,
  service: "chat",
  access: "key",
  isBilled: false,
  summary: "Show a model that can be called now, and its price",
  description: "Costs nothing and counts as a request.",
  parameters: [modelIdParameter],
  reply: ApplicationModel,
  errors: ["model_not_found"],
  examples: [{ summary: "What auto is", params: { id: AUTO_MODEL }, reply: AUTO_ENTRY }],
  prepare(_, { deps, params: { id = "" } }: EndpointContext<ChatDeps>) {
    oneJson(deps, id, null);
    return id;
  },
  run: ({ deps, call }, id) =>
    withoutCost(deps.calls, call, {
      service: "models",
      answer: async () => oneJson(deps, id, call.models),
    }),
  answer: (_context, _, json) => ({ json }),
});

function listJson({ catalogue, pauses }: ChatDeps, patterns: ModelPatterns): string {
  const offered = catalogue();
  const allowed = chatModels(offered, patterns);
  const callable = allowed.filter(({ id }) => !isPaused(pauses, id));
  const auto = allowed.length === 0 ? [] : [autoJson(offered, allowed)];
  const data = [...auto, ...callable.map(entryJson)];
  return JSON.stringify({ object: "list", data });
}

/** @throws ApiError for a model that is not in the list of a key with these patterns */
function oneJson({ catalogue, pauses }: ChatDeps, id: string, patterns: ModelPatterns): string {
  const offered = catalogue();
  const allowed = chatModels(offered, patterns);
  if (id === AUTO_MODEL && allowed.length > 0) return JSON.stringify(autoJson(offered, allowed));
  const model = allowed.find((one) => one.id === id);
  if (model === undefined || isPaused(pauses, id)) throw noModel("/api/v1/models");
  return JSON.stringify(entryJson(model));
}

function chatModels({ models }: ChatCatalogue, patterns: ModelPatterns): readonly ModelEntry[] {
  return [...models.values()].filter(
    (model) => servesChat(model) && mayCallModel(patterns, model.id),
  );
}

/** The fields that clients of OpenRouter read are next to those of SPEC 2.2. */
function entryJson(model: ModelEntry): object {
  const { input, output, cachedInput } = firstRow(model.prices);
  return {
    ...modelHeadJson(model),
    name: model.label,
    context_length: model.contextTokens,
    pricing: {
      prompt: pricePerUnit(input),
      completion: pricePerUnit(output),
      ...(cachedInput !== null && { input_cache_read: pricePerUnit(cachedInput) }),
    },
    svc: modelSvcJson(model),
  };
}

/**
 * OpenRouter lists its own automatic model like this: a price of -1 means that of the chosen model.
 */
function autoJson(catalogue: ChatCatalogue, models: readonly ModelEntry[]): object {
  const lengths = models.map(({ contextTokens }) => contextTokens);
  return {
    id: AUTO_MODEL,
    object: "model",
    created: 0,
    owned_by: "farebox",
    name: "Chosen for each request",
    context_length: Math.max(...lengths),
    pricing: { prompt: "-1", completion: "-1" },
    svc: { label: "Chosen for each request", policy: catalogue.auto.policy },
  };
}
