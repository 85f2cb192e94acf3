import { withoutCost } from "../calls/account.ts";
import { type ModelPatterns, mayCallModel } from "../core/access/key-limits.ts";
import { firstRow } from "../core/money/call-cost.ts";
import { pricePerUnit } from "../core/money/money.ts";
import { endpoint } from "../http/endpoint.ts";
import { named, Type, text, wholeCount } from "../http/schema.ts";
import type { ChatContext, ChatDeps } from "../services/chat/doors/completions/answer-chat.ts";
import { isPaused } from "../services/chat/doors/completions/chat-request.ts";
import {
  anthropicEntry,
  anthropicList,
  anthropicListOf,
  anthropicListParameters,
  anthropicModel,
  anthropicParameters,
  isAnthropics,
  modelErrorForm,
  namedModel,
  namedModels,
} from "../services/chat/doors/models/anthropic-models.ts";
import { modelHeadJson, modelSvcJson, noModel } from "../services/chat/doors/models/model-json.ts";
import {
  ModelDetails,
  modelHead,
  modelIdParameter,
  modelListOf,
} from "../services/chat/doors/models/model-reply.ts";
import {
  AUTO_MODEL,
  type ChatCatalogue,
  type ModelEntry,
  modelNamed,
  servesChat,
} from "../services/chat/models/catalogue.ts";

const perToken = (what: string) => text({ description: `USD per token ${what}, as decimal text` });

const svc = Type.Union([
  ModelDetails,
  Type.Object({ label: text(), policy: text({ description: "How `auto` chooses" }) }),
]);
const ApplicationModel = named("ApplicationModel", {
  ...modelHead,
  name: text({ description: "Display name" }),
  context_length: wholeCount("Tokens of prompt and reply together"),
  pricing: Type.Object({
    prompt: perToken("of the prompt; `-1` for `auto`: the price is the chosen model's"),
    completion: perToken("of the reply"),
    input_cache_read: Type.Optional(perToken("that comes from the model's cache")),
  }),
  svc,
});
const AnthropicApplicationModel = anthropicModel("AnthropicApplicationModel", svc);
const AnthropicApplicationList = anthropicListOf(
  "AnthropicApplicationModelList",
  AnthropicApplicationModel,
);

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
  description:
    "Costs nothing and counts as a request. `auto` is the first entry. With the header " +
    "`anthropic-version` the list has Anthropic's form, with the aliases of models, too.",
  parameters: anthropicListParameters,
  reply: Type.Union([
    modelListOf("ApplicationModelList", ApplicationModel),
    AnthropicApplicationList,
  ]),
  errors: ["invalid_parameter"],
  errorFormFor: modelErrorForm,
  examples: [{ summary: "All models", reply: { object: "list", data: [AUTO_ENTRY, ENTRY] } }],
  prepare(_, { deps, request }: ChatContext) {
    // Only Anthropic's form has parameters that can be wrong.
    if (isAnthropics(request)) listJson(deps, request, null);
  },
  run: ({ deps, call, request }) =>
    withoutCost(deps.calls, call, {
      service: "models",
      answer: async () => listJson(deps, request, call.models),
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
  description:
    "Costs nothing and counts as a request. With the header `anthropic-version` the model has " +
    "Anthropic's form.",
  parameters: [modelIdParameter, ...anthropicParameters],
  reply: Type.Union([ApplicationModel, AnthropicApplicationModel]),
  errors: ["model_not_found"],
  errorFormFor: modelErrorForm,
  examples: [{ summary: "What auto is", params: { id: AUTO_MODEL }, reply: AUTO_ENTRY }],
  prepare(_, { deps, request, params: { id = "" } }: ChatContext) {
    const asked = { id, isAnthropics: isAnthropics(request) };
    oneJson(deps, asked, null);
    return asked;
  },
  run: ({ deps, call }, asked) =>
    withoutCost(deps.calls, call, {
      service: "models",
      answer: async () => oneJson(deps, asked, call.models),
    }),
  answer: (_context, _, json) => ({ json }),
});

/** @throws ApiError for a part of the list that cannot be had */
function listJson(
  { catalogue, pauses }: ChatDeps,
  request: Request,
  patterns: ModelPatterns,
): string {
  const offered = catalogue();
  const allowed = chatModels(offered, patterns);
  const callable = allowed.filter(({ id }) => !isPaused(pauses, id));
  const hasAuto = allowed.length > 0;
  if (isAnthropics(request)) {
    const auto = hasAuto ? [{ ...AUTO, svc: autoSvc(offered) }] : [];
    return JSON.stringify(anthropicList([...auto, ...callable.flatMap(namedModels)], request));
  }
  const auto = hasAuto ? [autoJson(offered, allowed)] : [];
  return JSON.stringify({ object: "list", data: [...auto, ...callable.map(entryJson)] });
}

/** @throws ApiError for a model that is not in the list of a key with these patterns */
function oneJson(
  { catalogue, pauses }: ChatDeps,
  { id, isAnthropics: isOther }: AskedModel,
  patterns: ModelPatterns,
): string {
  const offered = catalogue();
  const allowed = chatModels(offered, patterns);
  if (id === AUTO_MODEL && allowed.length > 0) {
    const auto = () => anthropicEntry({ ...AUTO, svc: autoSvc(offered) });
    return JSON.stringify(isOther ? auto() : autoJson(offered, allowed));
  }
  const named = isOther ? modelNamed(offered, id) : offered.models.get(id);
  const model = allowed.find((one) => one === named);
  if (model === undefined || isPaused(pauses, model.id)) throw noModel("/api/v1/models");
  return JSON.stringify(isOther ? anthropicEntry(namedModel(model, id)) : entryJson(model));
}

interface AskedModel {
  readonly id: string;
  /** True if the client reads Anthropic's form. */
  readonly isAnthropics: boolean;
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
    id: AUTO.id,
    object: "model",
    created: AUTO.created,
    owned_by: "farebox",
    name: AUTO.label,
    context_length: Math.max(...lengths),
    pricing: { prompt: "-1", completion: "-1" },
    svc: autoSvc(catalogue),
  };
}

const AUTO = { id: AUTO_MODEL, label: "Chosen for each request", created: 0 };

function autoSvc({ auto: { policy } }: ChatCatalogue): object {
  return { label: AUTO.label, policy };
}
