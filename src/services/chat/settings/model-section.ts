// Defines and reads the entries of `models` in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import { CHAT } from "../../../core/access/limits.ts";
import { closed, line, percent, whole } from "../../../core/configuration/fields.ts";
import { percentAt, type SectionContext } from "../../../core/configuration/section.ts";
import { isFree, type Prices } from "../../../core/money/call-cost.ts";
import { isDay } from "../../../core/money/months.ts";
import { COSTLY_PARAMETERS, OWN_PARAMETERS } from "../doors/completions/chat-body.ts";
import {
  KINDS_OF_USE,
  MODEL_USE_NAMES,
  MODEL_USES,
  type ModelEntry,
  type ProviderEntry,
} from "../models/catalogue.ts";
import type { ChatLimits } from "../models/chat-limits.ts";
import { Limits, toLimits } from "./limits-section.ts";
import { MEDIA_FIELDS, toImageTokens, toMedia } from "./media-section.ts";
import { bands, rows } from "./price-schema.ts";
import { toPrices } from "./price-section.ts";
import { ROUTE_FIELDS, toRoutes } from "./route-section.ts";

/** An entry of `models`. */
export const Model = Type.Object(
  {
    id: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$",
      description: "What callers send as model",
      errorMessage: "must be an id of letters, digits and '._:/@+-'",
    }),
    aliases: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^(?:\\*|[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}\\*?)$",
          errorMessage: "must be a name as of a model, which may end with *",
        }),
        {
          maxItems: 64,
          description:
            "Other names that callers may send; one that ends with * stands for all names with " +
            "that beginning, and * for all that no model has",
          errorMessage: "must be a list of at most 64 names",
        },
      ),
    ),
    serves: Type.Optional(
      Type.Union(
        MODEL_USE_NAMES.map((use) => Type.Literal(use)),
        {
          description: "What callers can ask it for; default chat",
          errorMessage: `must be one of ${MODEL_USE_NAMES.join(", ")}`,
        },
      ),
    ),
    label: line("Display name"),
    family: line("Model family"),
    owned_by: line("Owner"),
    context_length: whole(256, 100_000_000, "Tokens of prompt and reply together"),
    max_output_tokens: Type.Optional(
      whole(
        1,
        100_000_000,
        "Most tokens of a reply, thoughts included; default not known: then a request without " +
          `a limit of its own gets ${CHAT.maxTokensDefault}`,
      ),
    ),
    chat_limits: Type.Optional(Limits),
    created: Type.Optional(
      Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}$",
        description: "The day when the model came out, such as 2026-05-01",
        errorMessage: "must be a date such as 2026-05-01",
      }),
    ),
    free_credit_eligible: Type.Optional(
      Type.Boolean({
        description: "Whether free credit can pay for it; default false",
        errorMessage: "must be true or false",
      }),
    ),
    extra_parameters: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^[A-Za-z][A-Za-z0-9_]{0,63}$",
          errorMessage: "must be the name of a parameter",
        }),
        {
          maxItems: 64,
          description: "Parameters that it takes besides OpenAI's, such as top_k; default none",
          errorMessage: "must be a list of at most 64 names of parameters",
        },
      ),
    ),
    reasoning: Type.Optional(
      Type.Union([Type.Literal("hide"), Type.Literal("show")], {
        description: "Whether callers get the text of its reasoning; default hide",
        errorMessage: 'must be "hide" or "show"',
      }),
    ),
    ...MEDIA_FIELDS,
    pricing: bands("Price bands, shortest prompts first; the last one has no prompt_tokens_max"),
    prices: rows("Price rows, in place of pricing; the first one has no conditions"),
    markup_percent: Type.Optional(
      percent("What farebox prices adds to its buying price; left out: that of the provider"),
    ),
    ...ROUTE_FIELDS,
  },
  { ...closed, description: "A model that callers can ask for" },
);

interface ModelContext extends Pick<SectionContext, "json" | "refuse"> {
  readonly pointer: string;
  /** The providers by name. */
  readonly known: ReadonlyMap<string, ProviderEntry>;
  /** The limits of chat completions of all models. */
  readonly chatLimits: ChatLimits;
}

/** The model of an entry. */
export function toModel(file: Static<typeof Model>, context: ModelContext): ModelEntry {
  const { pointer, refuse } = context;
  const routes = toRoutes(file, context);
  checkKinds(file, context);
  file.extra_parameters?.forEach((name, index) => {
    const at = `${pointer}/extra_parameters/${index}`;
    if (OWN_PARAMETERS.has(name)) refuse(at, `'${name}' is read by Farebox itself`);
    if (COSTLY_PARAMETERS.has(name)) refuse(at, `'${name}' could cost more than is reserved`);
  });
  const prices =
    toPrices(
      {
        bands: file.pricing,
        bandsAt: `${pointer}/pricing`,
        rows: file.prices,
        rowsAt: `${pointer}/prices`,
      },
      context,
    ) ?? refuse(`${pointer}/pricing`, "is missing, and so is prices");
  checkFree(file, prices, context);
  const media = toMedia(file, context);
  const imageTokens = toImageTokens(file, context);
  const markup = percentAt(file.markup_percent, `${pointer}/markup_percent`, context);
  const { created = "1970-01-01" } = file;
  if (!isDay(created)) refuse(`${pointer}/created`, "must be a date such as 2026-05-01");
  return {
    id: file.id,
    ...(file.aliases !== undefined && { aliases: file.aliases }),
    created: Date.parse(created) / 1_000,
    label: file.label,
    family: file.family,
    ownedBy: file.owned_by,
    prices,
    contextTokens: file.context_length,
    ...(file.max_output_tokens !== undefined && { maxOutputTokens: file.max_output_tokens }),
    ...(file.chat_limits !== undefined && {
      chatLimits: toLimits(file.chat_limits, {
        pointer: `${pointer}/chat_limits`,
        others: context.chatLimits,
        refuse,
      }),
    }),
    freeCreditEligible: file.free_credit_eligible ?? false,
    ...routes,
    ...(markup !== undefined && { markupPercent: markup }),
    showsReasoning: file.reasoning === "show",
    ...(file.extra_parameters !== undefined && { extraParameters: file.extra_parameters }),
    ...(file.serves !== undefined && { serves: file.serves }),
    ...(media !== undefined && { media }),
    ...(imageTokens !== undefined && { imageTokens }),
  };
}

/** A call that costs nothing must not have a price that people read. */
function checkFree(
  { serves }: Static<typeof Model>,
  prices: Prices,
  { pointer, refuse }: ModelContext,
): void {
  if (serves !== "moderation" || isFree(prices)) return;
  refuse(`${pointer}/pricing`, "must be 0: moderations cost callers nothing");
}

/** Not all servers can be asked for something else than chat. */
function checkKinds(
  { serves = "chat", routes }: Static<typeof Model>,
  { pointer, known, refuse }: ModelContext,
): void {
  if (serves === "chat") return;
  const kinds = KINDS_OF_USE[serves];
  const needed = `an OpenAI-compatible provider${kinds.includes("cohere") ? " or Cohere" : ""}`;
  routes.forEach(({ provider }, index) => {
    const kind = known.get(provider)?.kind;
    if (kind !== undefined && kinds.includes(kind)) return;
    const problem = `'${provider}' cannot serve ${MODEL_USES[serves]}, which needs ${needed}`;
    refuse(`${pointer}/routes/${index}/provider`, problem);
  });
}
