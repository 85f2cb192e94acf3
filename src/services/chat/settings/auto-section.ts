// Defines and reads the section `auto` of the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import { closed, whole } from "../../../core/configuration/fields.ts";
import { pointerTo } from "../../../core/configuration/located-json.ts";
import type { Refuse } from "../../../core/configuration/section.ts";
import {
  AUTO_TERMS,
  type AutoRules,
  type AutoTerms,
  type ModelEntry,
  servesChat,
} from "../models/catalogue.ts";

/** An entry of `auto.models`. */
const AutoModel = Type.Object(
  {
    quality: Type.Optional(whole(0, 100, "How good it is among the others; default 50")),
    tools: Type.Optional(
      Type.Boolean({
        description: "Whether it can call tools; default true",
        errorMessage: "must be true or false",
      }),
    ),
    prompt_tokens_min: Type.Optional(
      whole(0, 100_000_000, "Shortest prompt that it is chosen for; default 0"),
    ),
    prompt_tokens_max: Type.Optional(
      whole(0, 100_000_000, "Longest prompt that it is chosen for; left out: by its context"),
    ),
    excluded: Type.Optional(
      Type.Boolean({
        description: "True: it is never chosen; default false",
        errorMessage: "must be true or false",
      }),
    ),
  },
  { ...closed, description: "What a model is to the choice" },
);

/** The rules by which `auto` chooses a model. */
export const Auto = Type.Object(
  {
    policy: Type.Optional(
      Type.Union([Type.Literal("cheapest"), Type.Literal("balanced"), Type.Literal("quality")], {
        description: "default balanced",
        errorMessage: 'must be "cheapest", "balanced" or "quality"',
      }),
    ),
    models: Type.Optional(
      Type.Record(Type.String(), AutoModel, { description: "By the id of a model of this file" }),
    ),
  },
  { ...closed, description: "How the Application API chooses where model is auto" },
);

/** The rules of `auto` for these models; a field that the section leaves out has its default. */
export function toAutoRules(
  file: Static<typeof Auto>,
  { models, refuse }: { readonly models: readonly ModelEntry[]; readonly refuse: Refuse },
): AutoRules {
  const byId = new Map(models.map((model) => [model.id, model]));
  const rules = Object.entries(file.models ?? {}).map(([id, said]): [string, AutoTerms] => {
    const pointer = pointerTo("/auto/models", id);
    const model = byId.get(id);
    if (model === undefined) return refuse(pointer, "is no model of this file");
    if (!servesChat(model)) refuse(pointer, "does not serve chat");
    const terms = {
      quality: said.quality ?? AUTO_TERMS.quality,
      tools: said.tools ?? AUTO_TERMS.tools,
      promptTokensMin: said.prompt_tokens_min ?? AUTO_TERMS.promptTokensMin,
      promptTokensMax: said.prompt_tokens_max ?? AUTO_TERMS.promptTokensMax,
      excluded: said.excluded ?? AUTO_TERMS.excluded,
    };
    if (terms.promptTokensMin > terms.promptTokensMax) {
      refuse(`${pointer}/prompt_tokens_max`, "must not be less than prompt_tokens_min");
    }
    return [id, terms];
  });
  return { policy: file.policy ?? "balanced", models: new Map(rules) };
}
