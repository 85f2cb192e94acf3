// Defines and reads chat in the configuration file: its servers, its models, and the choice of
// `auto`.

import { type Static, type TObject, Type } from "@sinclair/typebox";
import { closed } from "../../../core/configuration/fields.ts";
import { pointerTo } from "../../../core/configuration/located-json.ts";
import type { SectionContext } from "../../../core/configuration/section.ts";
import {
  type ChatTerms,
  type ModelEntry,
  type ProviderEntry,
  RESERVED_MODELS,
} from "../models/catalogue.ts";
import { type ChatLimits, DEFAULT_LIMITS } from "../models/chat-limits.ts";
import { Auto, toAutoRules } from "./auto-section.ts";
import { Limits, toLimits } from "./limits-section.ts";
import { Model, toModel } from "./model-section.ts";
import { Provider } from "./provider-schema.ts";
import { toProvider } from "./provider-section.ts";

export const CHAT_SECTION = {
  providers: Type.Record(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }), Provider, {
    ...closed,
    description: "Upstream servers by name",
  }),
  models: Type.Array(Model, { maxItems: 2_000, errorMessage: "must be a list of models" }),
  auto: Type.Optional(Auto),
  chat_limits: Type.Optional(Limits),
  session_headers: Type.Optional(
    Type.Array(
      Type.String({
        pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$",
        errorMessage: "must be the name of a header",
      }),
      {
        maxItems: 8,
        description: "Headers in which callers name a conversation, such as x-session-id",
        errorMessage: "must be a list of at most 8 names of headers",
      },
    ),
  ),
};

/** The models, servers and rules of the file, without the built-in guide. */
export interface ConfiguredChat extends ChatTerms {
  readonly providers: readonly ProviderEntry[];
  readonly models: readonly ModelEntry[];
}

/** Reads the section. */
export function readChat(
  file: Static<TObject<typeof CHAT_SECTION>>,
  context: SectionContext,
): ConfiguredChat {
  const { json, refuse } = context;
  const providers = Object.entries(file.providers).map(([name, one]) =>
    toProvider(name, one, context),
  );
  const known = new Map(providers.map((provider) => [provider.name, provider]));
  const chatLimits: ChatLimits = {
    ...DEFAULT_LIMITS,
    ...toLimits(file.chat_limits ?? {}, {
      pointer: "/chat_limits",
      others: DEFAULT_LIMITS,
      refuse,
    }),
  };
  const ids = new Set<string>();
  const names = new Set(RESERVED_MODELS.concat(file.models.map(({ id }) => id)));
  const models = file.models.map((model, index) => {
    const pointer = pointerTo("/models", index);
    if (RESERVED_MODELS.includes(model.id)) {
      return refuse(`${pointer}/id`, `'${model.id}' is reserved for Farebox itself`);
    }
    if (ids.has(model.id)) return refuse(`${pointer}/id`, `'${model.id}' stands twice`);
    ids.add(model.id);
    model.aliases?.forEach((alias, at) => {
      const isTaken = names.has(alias);
      if (isTaken) refuse(`${pointer}/aliases/${at}`, `'${alias}' already names a model`);
      names.add(alias);
    });
    return toModel(model, { pointer, known, chatLimits, json, refuse });
  });
  return {
    providers,
    models,
    auto: toAutoRules(file.auto ?? {}, { models, refuse }),
    sessionHeaders: file.session_headers ?? [],
    chatLimits,
  };
}
