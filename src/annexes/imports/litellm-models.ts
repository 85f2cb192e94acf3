// Plans the models of LiteLLM's database: each deployment is a route, with the prices that are
// stored with it. The prices built into LiteLLM are not in the database.

import { type Json, objectOrEmpty } from "../../core/text/json.ts";
import type { ForeignRow } from "../../store/imports/foreign-database.ts";
import { isSealed, type Unseal } from "./litellm-secrets.ts";
import {
  CONTEXT_LENGTHS,
  foreignText,
  isSet,
  type PlannedCatalogue,
  type PlannedModel,
  type PlanTerms,
  pricePerMillion,
  serverAddress,
  wholeOf,
} from "./plan.ts";
import { type ForeignServer, PlannedRoutes } from "./planned-routes.ts";

/** Providers that speak OpenAI's protocol, with their usual address if they have one. */
const OPENAI_PROVIDERS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  text_completion_openai: "https://api.openai.com/v1",
  custom_openai: "",
  openai_like: "",
  hosted_vllm: "",
  lm_studio: "",
  llamafile: "",
  litellm_proxy: "",
  deepseek: "https://api.deepseek.com/v1",
  fireworks_ai: "https://api.fireworks.ai/inference/v1",
  groq: "https://api.groq.com/openai/v1",
  mistral: "https://api.mistral.ai/v1",
  moonshot: "https://api.moonshot.ai/v1",
  openrouter: "https://openrouter.ai/api/v1",
  perplexity: "https://api.perplexity.ai",
  together_ai: "https://api.together.xyz/v1",
  xai: "https://api.x.ai/v1",
};
const ENVIRONMENT = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]{0,127})$/;

/**
 * Returns the catalogue of their models, and notes on models that are left out. `unseal` is null
 * without a salt key.
 */
export function liteLlmCatalogue(
  models: readonly ForeignRow[],
  terms: PlanTerms,
  unseal: Unseal | null,
): { readonly catalogue: PlannedCatalogue; readonly notes: readonly string[] } {
  const routes = new PlannedRoutes();
  const notes: string[] = [];
  for (const row of models) {
    const id = foreignText(row.model_name) ?? "";
    const problem = addModel(routes, { id, row, terms, unseal, note: (line) => notes.push(line) });
    if (problem !== null) notes.push(`model '${id}': ${problem}; left out`);
  }
  return { catalogue: routes.catalogue(), notes: [...notes, ...routes.notes] };
}

interface Added {
  readonly id: string;
  readonly row: ForeignRow;
  readonly terms: PlanTerms;
  readonly unseal: Unseal | null;
  readonly note: (line: string) => void;
}

/** Adds a route for a deployment; otherwise returns the reason against it. */
function addModel(routes: PlannedRoutes, { id, row, terms, unseal, note }: Added): string | null {
  if (isSet(row.blocked)) return "blocked there";
  const params = unsealed(objectOrEmpty(row.litellm_params), unseal);
  if (typeof params === "string") return params;
  const info = objectOrEmpty(row.model_info);
  const target = targetOf(params);
  if (typeof target === "string") return target;
  const prices = pricesOf(params, info);
  if (prices === null) return "its price is not in the database";
  const lost = otherPricesOf({ ...info, ...params });
  if (lost.length > 0) note(`model '${id}': not carried over: ${lost.join(", ")}`);
  const known = Number(wholeOf(info.max_input_tokens ?? info.max_tokens));
  const isKnown = known >= CONTEXT_LENGTHS.from && known <= CONTEXT_LENGTHS.to;
  const contextLength = isKnown ? known : terms.contextLength;
  if (!isKnown) {
    note(`model '${id}': its context length is not known; ${contextLength} is assumed`);
  }
  routes.add({ id, upstreamName: target.model, server: target.server, contextLength, prices });
  return null;
}

/** Returns the parameters with their texts opened, or why they cannot be opened. */
function unsealed(params: Json, unseal: Unseal | null): Json | string {
  const opened: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    const text = typeof value === "string" ? (unseal?.(value) ?? null) : null;
    opened[name] = text ?? value;
    const isNeeded = ["model", "api_base", "base_url", "custom_llm_provider"].includes(name);
    if (text !== null || !isNeeded || typeof value !== "string" || !isSealed(value)) continue;
    return unseal === null
      ? "it is sealed: give the salt key with --salt-key-file"
      : "the salt key does not open it";
  }
  return opened;
}

function targetOf(
  params: Json,
): { readonly model: string; readonly server: ForeignServer } | string {
  const full = foreignText(params.model) ?? "";
  const custom = foreignText(params.custom_llm_provider);
  const slash = full.indexOf("/");
  const provider = custom ?? (slash > 0 ? full.slice(0, slash) : "openai");
  const model = slash > 0 && full.slice(0, slash) === provider ? full.slice(slash + 1) : full;
  const usual = OPENAI_PROVIDERS[provider];
  if (usual === undefined) return `its provider '${provider}' does not speak OpenAI's protocol`;
  if (model === "" || model.includes("*")) return `'${full}' is no name of one model`;
  const named = foreignText(params.api_base) ?? foreignText(params.base_url);
  const address = serverAddress(named ?? usual);
  if (typeof address === "string") return address;
  const key = foreignText(params.api_key);
  const credential = foreignText(params.litellm_credential_name);
  const identity = JSON.stringify([address.url, key, credential]);
  // A server of the operator's own needs no key; for any other server LiteLLM takes a key from its
  // environment.
  const hasKey = key !== null || credential !== null || usual !== "";
  const keyVariable = ENVIRONMENT.exec(key ?? "")?.[1] ?? null;
  const server = { identity, name: credential ?? provider, keyVariable, hasKey };
  return { model, server: { ...server, baseUrl: address.url } };
}

const PRICES = {
  input: "input_cost_per_token",
  output: "output_cost_per_token",
  cached: "cache_read_input_token_cost",
} as const;

/**
 * The names of prices for long prompts, requests and the like, which a note mentions: no route has
 * them.
 */
function otherPricesOf(fields: Json): string[] {
  const read: readonly string[] = Object.values(PRICES);
  return Object.keys(fields)
    .filter((name) => /_cost(_|$)/.test(name) && !read.includes(name))
    .filter((name) => Number(fields[name] ?? 0) !== 0);
}

function pricesOf(params: Json, info: Json): PlannedModel["pricing"][0] | null {
  const price = (name: string) => pricePerMillion(params[name] ?? info[name]);
  const [input, output] = [price(PRICES.input), price(PRICES.output)];
  if (input === null || output === null) return null;
  const cached = price(PRICES.cached);
  return {
    input_usd_per_m: input,
    output_usd_per_m: output,
    ...(cached !== null && { cached_input_usd_per_m: cached }),
  };
}
