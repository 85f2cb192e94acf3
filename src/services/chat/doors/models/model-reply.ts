// The schemas of the model lists of both surfaces (SPEC 2.2).

import { OTHER_PARTS } from "../../../../core/money/price-fields.ts";
import { FEE_UNITS } from "../../../../core/money/price-rows.ts";
import type { ParameterInfo } from "../../../../http/endpoint-info.ts";
import {
  anyObject,
  named,
  nullable,
  oneOf,
  type TSchema,
  Type,
  text,
  usdAmount,
  whole,
  wholeCount,
} from "../../../../http/schema.ts";
import { MEDIA_KIND_NAMES } from "../../media/media-part.ts";
import { GIVEN_KINDS } from "../../media/model-images.ts";
import { anthropicListOf, anthropicModel } from "./anthropic-models.ts";

const prices = {
  input_usd_per_m: usdAmount("USD per million prompt tokens"),
  output_usd_per_m: usdAmount("USD per million output tokens"),
  cached_input_usd_per_m: nullable(
    usdAmount("USD per million prompt tokens from the model's cache; null: not applicable"),
  ),
};

const otherPrices = Object.fromEntries(
  Object.values(OTHER_PARTS).map(({ field, words }) => [
    field,
    Type.Optional(usdAmount(`USD per million tokens of ${words}`)),
  ]),
);

const Band = named("PriceBand", {
  prompt_tokens_max: nullable(
    whole(1, Number.MAX_SAFE_INTEGER, {
      description: "The longest prompt that has these prices; null in the last band",
    }),
  ),
  ...prices,
});

const Row = named("PriceRow", {
  when: Type.Optional(
    anyObject({ description: "What must be so; the first row has none and prices every call" }),
  ),
  ...prices,
  ...otherPrices,
  fees: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        usd_per_k: usdAmount("USD for a thousand"),
        per: oneOf(FEE_UNITS, { description: "Of each call, each query, or a request with any" }),
      }),
      { description: "What is billed besides tokens" },
    ),
  ),
});

export const ModelDetails = named("ModelDetails", {
  label: text({ description: "Display name" }),
  family: text(),
  serves: Type.Optional(
    text({
      description: "What the model serves, where that is not chat",
      examples: ["embedding", "rerank", "moderation"],
    }),
  ),
  takes: Type.Optional(
    Type.Array(oneOf(MEDIA_KIND_NAMES), {
      description: "What the model takes besides text, where it takes more",
    }),
  ),
  gives: Type.Optional(
    Type.Array(oneOf(GIVEN_KINDS), {
      description: "What replies can have besides text, where a request asks for it",
    }),
  ),
  pricing: Type.Object({
    ...prices,
    bands: Type.Optional(
      Type.Array(Band, {
        description: "Where longer prompts have other prices: all of them, shortest prompts first",
      }),
    ),
    prices: Type.Optional(
      Type.Array(Row, {
        description:
          "Where more than the length of the prompt decides, or more is priced: all rows. That " +
          "with the most conditions applies, and of several the last one",
      }),
    ),
  }),
  free_credit_eligible: Type.Boolean({ description: "Whether free credit can pay for it" }),
});

export const modelHead = {
  id: text({ description: "What a request sends as `model`" }),
  object: Type.Literal("model"),
  created: wholeCount(
    "When the model came out, in Unix seconds; 0 where the operator does not say it",
  ),
  owned_by: text(),
};

/** The reply of a list. */
export function modelListOf<S extends TSchema>(name: string, entry: S) {
  return named(name, { object: Type.Literal("list"), data: Type.Array(entry) });
}

/** The `id` in the path of a model. */
export const modelIdParameter: ParameterInfo = {
  name: "id",
  in: "path",
  required: true,
  description: "The `id` of the model; its slashes can be sent as they are",
  schema: text({ examples: ["swift-1"] }),
};

/** An entry of the Gateway's list. */
export const Model = named("Model", {
  ...modelHead,
  name: text({ description: "Display name, where many clients look for it" }),
  svc: ModelDetails,
});

/** The reply of the Gateway's list. */
export const ModelList = modelListOf("ModelList", Model);

export const AnthropicModel = anthropicModel("AnthropicModel", ModelDetails);
export const AnthropicModelList = anthropicListOf("AnthropicModelList", AnthropicModel);
