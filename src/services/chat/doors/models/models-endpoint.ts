import { type ModelPatterns, mayCallModel } from "../../../../core/access/key-limits.ts";
import { openEndpoint } from "../../../../http/endpoint.ts";
import { type ChatCatalogue, guideModel, type ModelEntry } from "../../models/catalogue.ts";
import type { ChatDeps } from "../completions/answer-chat.ts";
import { modelHeadJson, modelSvcJson, noModel } from "./model-json.ts";
import { Model, ModelList, modelIdParameter } from "./model-reply.ts";

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

/** SPEC 2.2, 4.1: no key, live prices. */
export const models = openEndpoint({
  id: "listModels",
  surface: "gateway",
  method: "GET",
  path: "/v1/models",
  service: "chat",
  summary: "List models and their prices",
  description: "With a key that may call some models only, it lists those.",
  reply: ModelList,
  errors: [],
  examples: [{ summary: "All models", reply: { object: "list", data: [ENTRY] } }],
  run: (deps: ChatDeps, _, patterns) => listJson(deps.catalogue(), patterns),
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
  parameters: [modelIdParameter],
  reply: Model,
  errors: ["model_not_found"],
  examples: [
    // As it goes out: a price is an object that writes itself as a number.
    {
      summary: "A model",
      params: { id: guideModel.id },
      reply: JSON.parse(JSON.stringify(entryJson(guideModel))),
    },
  ],
  run(deps: ChatDeps, { id = "" }, patterns) {
    const found = deps.catalogue().models.get(id);
    if (found === undefined || !mayCallModel(patterns, id)) throw noModel("/v1/models");
    return JSON.stringify(entryJson(found));
  },
});

/** The JSON of the list, built once for each catalogue. */
const lists = new WeakMap<ChatCatalogue, string>();

function listJson(catalogue: ChatCatalogue, patterns: ModelPatterns): string {
  if (patterns !== null) {
    return jsonOfList(
      [...catalogue.models.values()].filter(({ id }) => mayCallModel(patterns, id)),
    );
  }
  const known = lists.get(catalogue);
  if (known !== undefined) return known;
  const json = jsonOfList([...catalogue.models.values()]);
  lists.set(catalogue, json);
  return json;
}

function jsonOfList(models: readonly ModelEntry[]): string {
  return JSON.stringify({ object: "list", data: models.map(entryJson) });
}

function entryJson(model: ModelEntry): object {
  return { ...modelHeadJson(model), name: model.label, svc: modelSvcJson(model) };
}
