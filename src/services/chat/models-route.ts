import { Elysia } from "elysia";
import { anonymous } from "../../http/endpoint.ts";
import { jsonResponse } from "../../http/respond.ts";
import type { ChatDeps } from "./answer-chat.ts";
import type { ChatCatalogue, ModelEntry } from "./catalogue.ts";
import { modelSvcJson } from "./model-json.ts";

/** GET /v1/models (SPEC 2.2, 4.1): no key, live prices. */
export function models(deps: ChatDeps) {
  const list = cachedList();
  return new Elysia({ name: "gateway/models" }).get("/v1/models", ({ request, server }) =>
    anonymous(deps, { request, server }, (facts) => jsonResponse(list(deps.catalogue()), facts)),
  );
}

/** The list as JSON, made again only when the catalogue is another one. */
function cachedList(): (catalogue: ChatCatalogue) => string {
  let made: { readonly from: ChatCatalogue; readonly json: string } | null = null;
  return (catalogue) => {
    if (made?.from !== catalogue) made = { from: catalogue, json: listJson(catalogue) };
    return made.json;
  };
}

function listJson(catalogue: ChatCatalogue): string {
  const data = [...catalogue.models.values()].map(entryJson);
  return JSON.stringify({ object: "list", data });
}

function entryJson(model: ModelEntry): object {
  return { id: model.id, object: "model", owned_by: model.ownedBy, svc: modelSvcJson(model) };
}
