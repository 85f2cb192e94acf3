import { type ModelPatterns, mayCallModel } from "../../../../core/access/key-limits.ts";
import { openEndpoint } from "../../../../http/endpoint.ts";
import { Type } from "../../../../http/schema.ts";
import {
  type ChatCatalogue,
  guideModel,
  type ModelEntry,
  modelNamed,
  servesChat,
} from "../../models/catalogue.ts";
import type { ChatDeps } from "../completions/answer-chat.ts";
import {
  anthropicEntry,
  anthropicList,
  anthropicListParameters,
  anthropicParameters,
  isAnthropics,
  modelErrorForm,
  namedModel,
  namedModels,
} from "./anthropic-models.ts";
import { modelHeadJson, modelSvcJson, noModel } from "./model-json.ts";
import {
  AnthropicModel,
  AnthropicModelList,
  Model,
  ModelList,
  modelIdParameter,
} from "./model-reply.ts";

const ENTRY = {
  id: "swift-1",
  object: "model",
  created: 1_777_593_600,
  owned_by: "example",
  name: "Swift 1",
  svc: {
    label: "Swift 1",
    family: "swift",
    pricing: { input_usd_per_m: 0.15, output_usd_per_m: 0.6, cached_input_usd_per_m: 0.075 },
    free_credit_eligible: true,
  },
};

const ANTHROPIC_LIST = {
  data: [
    {
      type: "model",
      id: ENTRY.id,
      display_name: ENTRY.name,
      created_at: "2026-05-01T00:00:00.000Z",
      svc: ENTRY.svc,
    },
  ],
  has_more: false,
  first_id: ENTRY.id,
  last_id: ENTRY.id,
};

/** SPEC 2.2, 4.1: no key, live prices. */
export const models = openEndpoint({
  id: "listModels",
  surface: "gateway",
  method: "GET",
  path: "/v1/models",
  service: "chat",
  summary: "List models and their prices",
  description:
    "With a key that may call some models only, it lists those. With the header " +
    "`anthropic-version` the list has Anthropic's form: the models that chat, under their ids " +
    "and under their aliases.",
  parameters: anthropicListParameters,
  reply: Type.Union([ModelList, AnthropicModelList]),
  errors: ["invalid_parameter"],
  errorFormFor: modelErrorForm,
  examples: [
    { summary: "All models", reply: { object: "list", data: [ENTRY] } },
    {
      summary: "In Anthropic's form",
      query: "limit=1000",
      headers: { "anthropic-version": "2023-06-01" },
      reply: ANTHROPIC_LIST,
    },
  ],
  run(deps: ChatDeps, { request }, patterns) {
    const catalogue = deps.catalogue();
    if (!isAnthropics(request)) return listJson(catalogue, patterns);
    const offered = allowed(catalogue, patterns).filter(servesChat);
    return JSON.stringify(anthropicList(offered.flatMap(namedModels), request));
  },
});

/** One entry of the list, which OpenAI's clients request by this path. */
export const model = openEndpoint({
  id: "getModel",
  surface: "gateway",
  method: "GET",
  path: "/v1/models/{id}",
  hasOpenEnd: true,
  service: "chat",
  summary: "Show a model and its prices",
  description: "With the header `anthropic-version` the model has Anthropic's form.",
  parameters: [modelIdParameter, ...anthropicParameters],
  reply: Type.Union([Model, AnthropicModel]),
  errors: ["model_not_found"],
  errorFormFor: modelErrorForm,
  examples: [
    // The reply as it goes out: a price is an object that writes itself as a number.
    {
      summary: "A model",
      params: { id: guideModel.id },
      reply: JSON.parse(JSON.stringify(entryJson(guideModel))),
    },
  ],
  run(deps: ChatDeps, { request, params: { id = "" } }, patterns) {
    const catalogue = deps.catalogue();
    const isAlso = isAnthropics(request);
    const found = isAlso ? modelNamed(catalogue, id) : catalogue.models.get(id);
    if (found === undefined || !mayCallModel(patterns, found.id)) throw noModel("/v1/models");
    return JSON.stringify(isAlso ? anthropicEntry(namedModel(found, id)) : entryJson(found));
  },
});

/** The JSON of the list, built once for each catalogue. */
const lists = new WeakMap<ChatCatalogue, string>();

function listJson(catalogue: ChatCatalogue, patterns: ModelPatterns): string {
  if (patterns !== null) return jsonOfList(allowed(catalogue, patterns));
  const known = lists.get(catalogue);
  if (known !== undefined) return known;
  const json = jsonOfList([...catalogue.models.values()]);
  lists.set(catalogue, json);
  return json;
}

/** The models that a key with these patterns may call. */
function allowed({ models }: ChatCatalogue, patterns: ModelPatterns): readonly ModelEntry[] {
  return [...models.values()].filter(({ id }) => mayCallModel(patterns, id));
}

function jsonOfList(models: readonly ModelEntry[]): string {
  return JSON.stringify({ object: "list", data: models.map(entryJson) });
}

function entryJson(model: ModelEntry): object {
  return { ...modelHeadJson(model), name: model.label, svc: modelSvcJson(model) };
}
