import { openEndpoint } from "../../http/endpoint.ts";
import type { ChatDeps } from "./answer-chat.ts";
import type { ChatCatalogue, ModelEntry } from "./catalogue.ts";
import { modelSvcJson } from "./model-json.ts";
import { ModelList } from "./model-reply.ts";

const EXAMPLE = {
  object: "list",
  data: [
    {
      id: "swift-1",
      object: "model",
      owned_by: "example",
      svc: {
        label: "Swift 1",
        family: "swift",
        pricing: { input_usd_per_m: 0.15, output_usd_per_m: 0.6, cached_input_usd_per_m: 0.075 },
        free_credit_eligible: true,
      },
    },
  ],
};

/** SPEC 2.2, 4.1: no key, live prices. */
export const models = openEndpoint({
  id: "listModels",
  surface: "gateway",
  method: "GET",
  path: "/v1/models",
  service: "chat",
  summary: "List models and their prices",
  reply: ModelList,
  errors: [],
  examples: [{ summary: "All models", reply: EXAMPLE }],
  run: (deps: ChatDeps) => listJson(deps.catalogue()),
});

/** The list of each catalogue, written once. */
const lists = new WeakMap<ChatCatalogue, string>();

function listJson(catalogue: ChatCatalogue): string {
  const known = lists.get(catalogue);
  if (known !== undefined) return known;
  const data = [...catalogue.models.values()].map(entryJson);
  const json = JSON.stringify({ object: "list", data });
  lists.set(catalogue, json);
  return json;
}

function entryJson(model: ModelEntry): object {
  return { id: model.id, object: "model", owned_by: model.ownedBy, svc: modelSvcJson(model) };
}
