import { Elysia } from "elysia";
import { withoutCost } from "../calls/account.ts";
import type { Call } from "../calls/call.ts";
import { pricePerUnit } from "../core/money.ts";
import { authenticated, responseMeta } from "../http/endpoint.ts";
import { jsonResponse } from "../http/respond.ts";
import type { ChatDeps } from "../services/chat/answer-chat.ts";
import {
  AUTO_MODEL,
  type ChatCatalogue,
  firstBand,
  type ModelEntry,
} from "../services/chat/catalogue.ts";
import { isPaused } from "../services/chat/chat-request.ts";
import { modelSvcJson } from "../services/chat/model-json.ts";

const PATH = "/api/v1/models";

/** GET /api/v1/models (SPEC 4.10): any application key; what can be called now, and its price. */
export function applicationModels(deps: ChatDeps) {
  const list = async () => {
    const catalogue = deps.catalogue();
    const callable = [...catalogue.models.values()].filter(({ id }) => !isPaused(deps.pauses, id));
    const data = [autoJson(catalogue), ...callable.map(entryJson)];
    return JSON.stringify({ object: "list", data });
  };
  const answer = async (call: Call) => {
    const body = await withoutCost(deps.calls, call, "models", list);
    return jsonResponse(body, responseMeta(call));
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
function autoJson({ models, auto }: ChatCatalogue): object {
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
