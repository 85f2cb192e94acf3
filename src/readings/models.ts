// Lists every model of the configuration with its prices, and tells if it is paused.

import { decimalPerMillion } from "../core/money/money.ts";
import {
  CONDITION_NAMES,
  conditionsOf,
  conditionWords,
  furtherPrices,
  furtherWords,
  OTHER_PART_NAMES,
} from "../core/money/price-fields.ts";
import { FEE_UNITS, type PriceRow } from "../core/money/price-rows.ts";
import {
  flag,
  jsonFrom,
  listOf,
  nested,
  nullable,
  number,
  text,
  usdField,
  type WireOf,
  word,
} from "../core/records.ts";
import { type ChatCatalogue, MODEL_USE_NAMES } from "../services/chat/models/catalogue.ts";
import type { Pauses } from "../store/operators/pauses.ts";

/** One condition of a row, for pages that say it in another language. */
const Condition = {
  name: word(CONDITION_NAMES, { sample: "above_prompt_tokens" }),
  value: text({ sample: "200000" }),
};

/** A price of a part of a million tokens, or a fee. */
const Further = {
  part: nullable(word(OTHER_PART_NAMES, { about: "Null for a fee", sample: "cacheWrite30m" })),
  fee: nullable(text({ about: "Null for a part of the tokens", sample: "web_search" }), {
    sample: null,
  }),
  per: nullable(word(FEE_UNITS, { about: "What the fee is for", sample: "call" }), {
    sample: null,
  }),
  usd: usdField({ about: "For a million tokens of the part, or of the fee", sample: "0.1875" }),
};

const Row = {
  when: listOf(nested(Condition), { sample: [] }),
  conditions: text({ about: "When the row applies; empty in the first row", sample: "" }),
  input_usd_per_m: usdField({ about: "For a million input tokens", sample: "0.15" }),
  output_usd_per_m: usdField({ about: "For a million output tokens", sample: "0.6" }),
  cached_input_usd_per_m: nullable(
    usdField({ about: "For a million cached input tokens", sample: "0.0375" }),
  ),
  further: listOf(
    text({ about: "A further price, in words", sample: "$0.1875 cache writes for 30 minutes" }),
  ),
  further_prices: listOf(nested(Further)),
};

const Model = {
  id: text({ sample: "fast" }),
  label: text({ sample: "Fast" }),
  serves: word(MODEL_USE_NAMES, { sample: "chat" }),
  family: text({ sample: "demo" }),
  owned_by: text({ sample: "farebox" }),
  context_tokens: number({ sample: 128_000 }),
  prices: listOf(nested(Row)),
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
      prices: model.prices.rows.map(rowJson),
      isPaused: isPaused || pauses.isPaused(`model:${model.id}`),
    }),
  );
  return { models };
}

function rowJson(row: PriceRow): WireOf<typeof Row> {
  const { when, input, output, cachedInput } = row;
  return {
    when: conditionsOf(when),
    conditions: conditionWords(when),
    input_usd_per_m: decimalPerMillion(input),
    output_usd_per_m: decimalPerMillion(output),
    cached_input_usd_per_m: cachedInput === null ? null : decimalPerMillion(cachedInput),
    further: furtherWords(row),
    further_prices: furtherPrices(row),
  };
}
