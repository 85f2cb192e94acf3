// Every model of the configuration with its prices, and whether it can be called now.

import { decimalPerMillion } from "../core/money/money.ts";
import type { PriceBand } from "../core/money/pricing.ts";
import {
  flag,
  jsonFrom,
  listOf,
  nested,
  nullable,
  number,
  text,
  usd,
  type WireOf,
  word,
} from "../core/records.ts";
import { type ChatCatalogue, MODEL_USE_NAMES } from "../services/chat/models/catalogue.ts";
import type { Pauses } from "../store/operators/pauses.ts";

const Band = {
  prompt_tokens_max: nullable(
    number({ about: "Up to this prompt; null in the last band", sample: 200_000 }),
    { sample: null },
  ),
  input_usd_per_m: usd({ about: "For a million input tokens", sample: "0.15" }),
  output_usd_per_m: usd({ about: "For a million output tokens", sample: "0.6" }),
  cached_input_usd_per_m: nullable(
    usd({ about: "For a million cached input tokens", sample: "0.0375" }),
  ),
};

const Model = {
  id: text({ sample: "fast" }),
  label: text({ sample: "Fast" }),
  serves: word(MODEL_USE_NAMES, { sample: "chat" }),
  family: text({ sample: "demo" }),
  owned_by: text({ sample: "farebox" }),
  context_tokens: number({ sample: 128_000 }),
  bands: listOf(nested(Band)),
  free_credit_eligible: flag({ sample: true }),
  is_paused: flag({ sample: false }),
};

export const Models = { models: listOf(nested(Model)) };
export type ModelsReply = WireOf<typeof Models>;

const toJson = jsonFrom(Model);

export interface ModelSource {
  readonly catalogue: () => Pick<ChatCatalogue, "models">;
  readonly pauses: Pick<Pauses, "isPaused">;
}

export function modelsReply({ catalogue, pauses }: ModelSource): ModelsReply {
  const isPaused = pauses.isPaused("chat");
  const models = [...catalogue().models.values()].map((model) =>
    toJson({
      ...model,
      serves: model.serves ?? "chat",
      bands: model.bands.map(bandJson),
      isPaused: isPaused || pauses.isPaused(`model:${model.id}`),
    }),
  );
  return { models };
}

function bandJson(band: PriceBand): WireOf<typeof Band> {
  return {
    prompt_tokens_max: band.promptTokensMax,
    input_usd_per_m: decimalPerMillion(band.input),
    output_usd_per_m: decimalPerMillion(band.output),
    cached_input_usd_per_m: band.cachedInput === null ? null : decimalPerMillion(band.cachedInput),
  };
}
