// A model as the lists of both surfaces show it (SPEC 2.2).

import {
  named,
  nullable,
  type TProperties,
  Type,
  text,
  usdAmount,
  whole,
} from "../../http/schema.ts";

const prices = {
  input_usd_per_m: usdAmount("USD per million prompt tokens"),
  output_usd_per_m: usdAmount("USD per million output tokens"),
  cached_input_usd_per_m: nullable(
    usdAmount("USD per million prompt tokens from the model's cache; null: not applicable"),
  ),
};

const Band = named("PriceBand", {
  prompt_tokens_max: nullable(
    whole(1, Number.MAX_SAFE_INTEGER, {
      description: "The longest prompt that has these prices; null in the last band",
    }),
  ),
  ...prices,
});

export const ModelDetails = named("ModelDetails", {
  label: text({ description: "Display name" }),
  family: text(),
  pricing: Type.Object({
    ...prices,
    bands: Type.Optional(
      Type.Array(Band, {
        description: "Where longer prompts have other prices: all of them, shortest prompts first",
      }),
    ),
  }),
  free_credit_eligible: Type.Boolean({ description: "Whether free credit can pay for it" }),
});

export const modelHead = {
  id: text({ description: "What a request sends as `model`" }),
  object: Type.Literal("model"),
  owned_by: text(),
};

export function listOf<P extends TProperties>(name: string, entry: P) {
  return named(`${name}List`, {
    object: Type.Literal("list"),
    data: Type.Array(named(name, entry)),
  });
}

/** The reply of the Gateway's list. */
export const ModelList = listOf("Model", { ...modelHead, svc: ModelDetails });
