import { Elysia } from "elysia";
import { withoutCost } from "../calls/account.ts";
import type { Call } from "../calls/call.ts";
import { AUTO_MODEL, type Catalogue, firstBand, type ModelEntry } from "../core/catalogue.ts";
import { pricePerUnit } from "../core/money.ts";
import { isPaused } from "../http/chat/chat-request.ts";
import { answerFacts, authenticated } from "../http/endpoint.ts";
import { modelSvcJson } from "../http/model-json.ts";
import { jsonResponse } from "../http/respond.ts";
import type { ApplicationDeps } from "./deps.ts";

const PATH = "/api/v1/models";

/** GET /api/v1/models (SPEC 4.10): any application key; what can be called now, and its price. */
export function applicationModels(deps: ApplicationDeps) {
  const list = async () => {
    const catalogue = deps.catalogue();
    const callable = [...catalogue.models.values()].filter(
      ({ id }) => !isPaused(deps.switches, id),
    );
    const data = [autoJson(catalogue), ...callable.map(entryJson)];
    return JSON.stringify({ object: "list", data });
  };
  const answer = async (call: Call) => {
    const body = await withoutCost(deps.calls, call, "models", list);
    return jsonResponse(body, answerFacts(call));
  };
  return new Elysia({ name: "application/models" }).get(PATH, ({ request, server }) =>
    authenticated(deps, { request, server }, PATH, answer),
  );
}

/** The fields that clients of OpenRouter read stand beside those of SPEC 2.2. */
function entryJson(model: ModelEntry): object {
  const { input, output, cachedInput } = firstBand(model);
  return {
    id: model.id,
    object: "model",
    owned_by: model.ownedBy,
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

/** As OpenRouter lists its own: a price of -1 is that of the model that will be chosen. */
function autoJson({ models, auto }: Catalogue): object {
  const lengths = [...models.values()].map(({ contextTokens }) => contextTokens);
  return {
    id: AUTO_MODEL,
    object: "model",
    owned_by: "farebox",
    name: "Chosen for each request",
    context_length: Math.max(...lengths),
    pricing: { prompt: "-1", completion: "-1" },
    svc: { label: "Chosen for each request", policy: auto.policy },
  };
}
