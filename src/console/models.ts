// GET /console/api/models

import { decimalPerMillion } from "../core/money/money.ts";
import type { PriceBand } from "../core/money/pricing.ts";
import { type ConsoleFrameDeps, personEndpoint } from "../http/console/console-endpoint.ts";
import type { ChatDeps } from "../services/chat/doors/completions/answer-chat.ts";
import type { ModelEntry } from "../services/chat/models/catalogue.ts";
import { MODELS_EXAMPLE, ModelList, type ModelsReply } from "./models-schema.ts";

export type ModelsDeps = ConsoleFrameDeps & Pick<ChatDeps, "catalogue" | "pauses">;

export const consoleModels = personEndpoint({
  id: "listConsoleModels",
  method: "GET",
  path: "/console/api/models",
  summary: "List models with all their prices",
  reply: ModelList,
  examples: [{ summary: "A model", reply: MODELS_EXAMPLE }],
  run: async ({ deps }: { readonly deps: ModelsDeps }) => modelsReply(deps),
});

/** All models of the configuration with their prices, and whether each is paused. */
export function modelsReply({
  catalogue,
  pauses,
}: Pick<ModelsDeps, "catalogue"> & { readonly pauses: IsPaused }): ModelsReply {
  return { models: [...catalogue().models.values()].map((model) => modelJson(model, pauses)) };
}

type IsPaused = Pick<ModelsDeps["pauses"], "isPaused">;

function modelJson(model: ModelEntry, pauses: IsPaused): ModelsReply["models"][number] {
  return {
    id: model.id,
    label: model.label,
    family: model.family,
    owned_by: model.ownedBy,
    context_tokens: model.contextTokens,
    bands: model.bands.map(bandJson),
    free_credit_eligible: model.freeCreditEligible,
    is_paused: pauses.isPaused("chat") || pauses.isPaused(`model:${model.id}`),
  };
}

function bandJson(band: PriceBand): ModelsReply["models"][number]["bands"][number] {
  return {
    prompt_tokens_max: band.promptTokensMax,
    input_usd_per_m: decimalPerMillion(band.input),
    output_usd_per_m: decimalPerMillion(band.output),
    cached_input_usd_per_m: band.cachedInput === null ? null : decimalPerMillion(band.cachedInput),
  };
}
