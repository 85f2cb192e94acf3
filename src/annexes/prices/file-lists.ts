// Reads price lists from files: LiteLLM's map of models, and the snapshot of PyPI's model-prices.

import { JsonSyntaxError, parseLocatedJson } from "../../core/configuration/located-json.ts";
import type { PicoUsd } from "../../core/money/money.ts";
import type { RowConditions } from "../../core/money/price-rows.ts";
import type { Part, Tier } from "../../core/money/usage.ts";
import { ForeignFileError, refuseAt } from "../../core/text/foreign-file.ts";
import type { PresetName } from "../../services/chat/models/provider-presets.ts";
import {
  billingKinds,
  feePrice,
  fieldsOf,
  type ListedModel,
  ListedPriceError,
  type ListedRow,
  type PriceList,
  plainWrite,
  readModels,
  tokenPrice,
  tokensIn,
} from "./listed-prices.ts";
import { plainParts } from "./package-lists.ts";

/** Reads a list; its form follows from its content. @throws ForeignFileError */
export function readFileList(text: string, file: string, nowMs: number): PriceList {
  const fields = fieldsOf(jsonIn(text, file));
  if (fields === null) refuseAt({ file, line: 1, field: "" }, "must be an object");
  const prices = fieldsOf(fields.prices);
  const list =
    fields.schema === 1 && prices !== null ? modelPrices(fields, prices, nowMs) : liteLlm(fields);
  if (list.models.length > 0 || list.faults.length > 0) return list;
  throw new ForeignFileError(
    `${file}: has no price of a known provider; known are LiteLLM's map of models and the ` +
      "snapshot of model-prices",
  );
}

function jsonIn(text: string, file: string): unknown {
  try {
    return parseLocatedJson(text.replace(/^\ufeff/, "")).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return refuseAt({ file, line: error.line, field: "" }, `it is not JSON: ${error.message}`);
  }
}

/** Presets by `litellm_provider`, and the beginning that LiteLLM gives the names of its models. */
const LITELLM_PROVIDERS: Readonly<Record<string, readonly PresetName[]>> = {
  openai: ["openai", "openai-responses"],
  anthropic: ["anthropic"],
  gemini: ["google"],
  "vertex_ai-language-models": ["google-vertex"],
  "vertex_ai-anthropic_models": ["google-vertex"],
  bedrock: ["amazon-bedrock"],
  bedrock_converse: ["amazon-bedrock"],
  cohere: ["cohere"],
  cohere_chat: ["cohere"],
  deepseek: ["deepseek"],
  groq: ["groq"],
  mistral: ["mistral"],
  openrouter: ["openrouter"],
  xai: ["xai"],
};
const LITELLM_PREFIX =
  /^(?:openai|anthropic|gemini|vertex_ai|bedrock|cohere|deepseek|groq|mistral|openrouter|xai)\//;

/** The parts of LiteLLM; each field can have an end for a length of the prompt, and a tier. */
const LITELLM_PARTS: Readonly<Record<string, Part | "plainWrite">> = {
  input_cost_per_token: "uncached",
  output_cost_per_token: "text",
  cache_read_input_token_cost: "cacheRead",
  cache_creation_input_token_cost: "plainWrite",
  cache_creation_input_token_cost_above_1hr: "cacheWrite1h",
  input_cost_per_audio_token: "audioIn",
  cache_read_input_audio_token_cost: "cacheReadAudio",
  output_cost_per_audio_token: "audioOut",
  input_cost_per_image_token: "imageIn",
  output_cost_per_image_token: "imageOut",
};
const LITELLM_FIELD = new RegExp(
  `^(${Object.keys(LITELLM_PARTS).join("|")})(?:_above_(\\d+)k_tokens)?(?:_(flex|priority))?$`,
);
/** Prices in units that Farebox does not bill by. */
const LITELLM_OTHER = /_cost_per_(?:second|image|pixel|page|character|video_per_second)$/;

function liteLlm(fields: Readonly<Record<string, unknown>>): PriceList {
  const raw = Object.entries(fields).flatMap(([key, value]) => {
    const model = fieldsOf(value);
    const presets = LITELLM_PROVIDERS[String(model?.litellm_provider)] ?? [];
    return model === null ? [] : presets.map((preset) => ({ key, preset, model }));
  });
  const list = readModels(
    raw,
    ({ key, preset }) => ({
      provider: preset,
      names: [key.toLowerCase().replace(LITELLM_PREFIX, "")],
    }),
    ({ preset, model }) => {
      const rows = liteLlmRows(model, preset);
      const kinds = billingKinds(rows);
      const isOther = Object.keys(model).some((field) => LITELLM_OTHER.test(field));
      if (isOther && kinds.size === 0) kinds.add("other");
      return { rows, kinds, contextTokens: tokensIn(model.max_input_tokens) };
    },
  );
  return { name: "litellm", ...list };
}

function liteLlmRows(model: Readonly<Record<string, unknown>>, preset: PresetName): ListedRow[] {
  const byConditions = new Map<string, { when: RowConditions; parts: ListedRow["parts"] }>();
  const base: Partial<Record<Part, PicoUsd>> = {};
  byConditions.set("", { when: {}, parts: base });
  for (const [name, value] of Object.entries(model)) {
    const [, field = "", thousands, tier] = LITELLM_FIELD.exec(name) ?? [];
    const found = LITELLM_PARTS[field];
    if (found === undefined || typeof value === "object") continue;
    const part = found === "plainWrite" ? plainWrite(preset) : found;
    const when: RowConditions = {
      ...(thousands !== undefined && { abovePromptTokens: Number(thousands) * 1_000 }),
      ...(tier !== undefined && { tier: tier as Tier }),
    };
    const key = `${thousands ?? ""}${tier ?? ""}`;
    const { parts } = byConditions.get(key) ?? { parts: {} };
    byConditions.set(key, { when, parts: { ...parts, [part]: tokenPrice(value, name, 1) } });
  }
  const searches = [...new Set(Object.values(fieldsOf(model.search_context_cost_per_query) ?? {}))];
  // One fee for all sizes of a search; LiteLLM's sizes are no condition of a row.
  const [search] = searches.length === 1 ? searches : [];
  const fees = {
    ...(search !== undefined && {
      web_search: {
        price: feePrice(search, "search_context_cost_per_query", 1),
        per: "call" as const,
      },
    }),
    ...(model.input_cost_per_request !== undefined && {
      request: {
        price: feePrice(model.input_cost_per_request, "input_cost_per_request", 1),
        per: "call" as const,
      },
    }),
  };
  const { parts = {} } = byConditions.get("") ?? {};
  return [...byConditions.values()].map(({ when, parts: own }) => {
    if (Object.keys(when).length === 0) return { parts: own, fees };
    return { when, parts: { ...parts, ...own } };
  });
}

/** Presets by the providers of model-prices. */
const MODEL_PRICES_PROVIDERS: Readonly<Record<string, readonly PresetName[]>> = {
  openai: ["openai", "openai-responses"],
  anthropic: ["anthropic"],
  google: ["google", "google-vertex"],
  "amazon-bedrock": ["amazon-bedrock"],
  cohere: ["cohere"],
  deepseek: ["deepseek"],
  mistral: ["mistral"],
  xai: ["xai"],
};

function modelPrices(
  { schedules }: Readonly<Record<string, unknown>>,
  prices: Readonly<Record<string, unknown>>,
  nowMs: number,
): PriceList {
  const timed = timedModels(schedules);
  const raw = Object.entries(prices).flatMap(([provider, models]) =>
    Object.entries(fieldsOf(models) ?? {}).flatMap(([model, modes]) =>
      (MODEL_PRICES_PROVIDERS[provider] ?? []).map((preset) => ({
        provider,
        preset,
        model,
        modes: fieldsOf(modes) ?? {},
      })),
    ),
  );
  const list = readModels(
    raw,
    ({ preset, model }) => ({ provider: preset, names: [model.toLowerCase()] }),
    ({ provider, preset, model, modes }): Omit<ListedModel, "provider" | "names"> | null => {
      if (timed.has(provider) || timed.has(`${provider}/${model}`)) {
        throw new ListedPriceError("it is priced by hours in factors, which are not read");
      }
      const rates = ratesAt(modes.standard, nowMs);
      if (rates === null) return null;
      const rows = [
        ...ratesRows(rates, {}, preset),
        ...(["flex", "batch"] as const).flatMap((tier) => {
          const own = ratesAt(modes[tier], nowMs);
          return own === null ? [] : ratesRows(own, { tier }, preset);
        }),
      ];
      return { rows, kinds: billingKinds(rows), contextTokens: null };
    },
  );
  return { name: "model-prices", ...list };
}

/** Models priced by the hours of a day: `provider/model`, or a provider with all its models. */
function timedModels(schedules: unknown): Set<string> {
  const entries = [fieldsOf(schedules)?.schedule ?? []].flat();
  return new Set(
    entries.flatMap((entry) => {
      const { provider, off_peak_multiplier: factors, valid_until: until } = fieldsOf(entry) ?? {};
      if (until !== undefined && until !== null) return [];
      const models = Object.keys(fieldsOf(factors) ?? {});
      return models.length === 0 ? String(provider) : models.map((one) => `${provider}/${one}`);
    }),
  );
}

/** The rates in force: those that began last; null before them, or if they ended. */
function ratesAt(entries: unknown, nowMs: number) {
  if (!Array.isArray(entries)) return null;
  const begun = entries.filter((entry) => {
    const start = fieldsOf(entry)?.start ?? null;
    return start === null || Date.parse(String(start)) <= nowMs;
  });
  return fieldsOf(fieldsOf(begun.at(-1))?.rates);
}

function ratesRows(
  rates: Readonly<Record<string, unknown>>,
  when: RowConditions,
  preset: PresetName,
): ListedRow[] {
  const partsOf = (fields: Readonly<Record<string, unknown>>): ListedRow["parts"] => ({
    ...plainParts(fields),
    ...(fields.cache_write !== undefined && {
      [plainWrite(preset)]: tokenPrice(fields.cache_write, "cache_write", 1_000_000),
    }),
  });
  const base = partsOf(rates);
  const tiers = Array.isArray(rates.tiers) ? rates.tiers : [];
  return [
    { ...(Object.keys(when).length > 0 && { when }), parts: base },
    ...tiers.map((tier) => {
      const fields = fieldsOf(tier) ?? {};
      const above = tokensIn(fields.above);
      if (above === null) throw new ListedPriceError("tiers has one without a length");
      const parts = { ...base, ...partsOf(fields) };
      return { when: { ...when, abovePromptTokens: above }, parts };
    }),
  ];
}
