// GET /console/api/models: every model with its price, and whether it can be called now.

import { list, reply, usd } from "../http/console/fields.ts";
import { type Checked, nullable, Type, text } from "../http/schema.ts";

export const ModelList = reply({
  models: list(
    Type.Object({
      id: text(),
      label: text(),
      family: text(),
      owned_by: text(),
      context_tokens: Type.Number(),
      bands: list(
        Type.Object({
          prompt_tokens_max: nullable(
            Type.Number({ description: "Up to this prompt; null in the last band" }),
          ),
          input_usd_per_m: usd("For a million input tokens"),
          output_usd_per_m: usd("For a million output tokens"),
          cached_input_usd_per_m: nullable(usd("For a million cached input tokens")),
        }),
      ),
      free_credit_eligible: Type.Boolean(),
      is_paused: Type.Boolean(),
    }),
  ),
});
export type ModelsReply = Checked<typeof ModelList>;

export const MODELS_EXAMPLE: ModelsReply = {
  models: [
    {
      id: "fast",
      label: "Fast",
      family: "demo",
      owned_by: "farebox",
      context_tokens: 128_000,
      bands: [
        {
          prompt_tokens_max: null,
          input_usd_per_m: "0.15",
          output_usd_per_m: "0.6",
          cached_input_usd_per_m: "0.0375",
        },
      ],
      free_credit_eligible: true,
      is_paused: false,
    },
  ],
};
