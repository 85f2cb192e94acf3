// Lists known providers of models: the form that each speaks, its address, and the habits in which
// it differs from others of the same form.

import type { IdentifierField, ProviderEntry, ProviderKind, Quirks } from "./catalogue.ts";

export interface ProviderPreset {
  readonly kind: Exclude<ProviderKind, "guide">;
  /** The base URL; null if every operator has another one. */
  readonly baseUrl: string | null;
  readonly maxTokensField: ProviderEntry["maxTokensField"];
  /**
   * The habits of the server; null if none are known: the server then gets the fields that every
   * server gets.
   */
  readonly quirks: Quirks | null;
  /**
   * `key`: the server answers no request without a key; `cloud`: it has credentials of its own
   * kind.
   */
  readonly credentials: "none" | "key" | "cloud";
  /** The identifiers of callers that it knows. Servers refuse fields that they do not know. */
  readonly identifiers: readonly IdentifierField[];
  /** The time for which its cache keeps a prompt after the last use; left out: the usual time. */
  readonly cacheMinutes?: number;
}

const PLAIN: Quirks = {
  refuses: [],
  renames: {},
  sets: {},
  tiers: ["flex", "priority"],
  takesStreamOptions: true,
};

const openai = (
  baseUrl: string | null,
  maxTokensField: ProviderPreset["maxTokensField"],
  { identifiers = ["user"], ...quirks }: Partial<Quirks & ProviderPreset> = {},
) =>
  ({
    kind: "openai",
    baseUrl,
    maxTokensField,
    quirks: { ...PLAIN, ...quirks },
    credentials: "key",
    identifiers,
  }) as const;

const packaged = <Kind extends ProviderPreset["kind"]>(
  kind: Kind,
  baseUrl: string,
  identifiers: ProviderPreset["identifiers"] = [],
) =>
  ({
    kind,
    baseUrl,
    maxTokensField: "max_tokens",
    quirks: null,
    credentials: "key",
    identifiers,
  }) as const;

/** `baseUrl` has places for the region and the project. */
const cloud = <Kind extends ProviderPreset["kind"]>(kind: Kind, baseUrl: string) =>
  ({ ...packaged(kind, baseUrl), credentials: "cloud" }) as const;

/** OpenAI replaces `user` by both of them. */
const OF_OPENAI = ["safety_identifier", "prompt_cache_key"] as const;

/** By the name in `provider` of the configuration (D-674). Most requests name the tier (D-657). */
export const PROVIDER_PRESETS = {
  "openai-compatible": {
    kind: "openai",
    baseUrl: null,
    maxTokensField: "max_tokens",
    quirks: null,
    credentials: "none",
    identifiers: [],
  },
  "amazon-bedrock": {
    ...cloud("amazon-bedrock", "https://bedrock-runtime.{region}.amazonaws.com"),
    cacheMinutes: 5,
  },
  anthropic: {
    ...packaged("anthropic", "https://api.anthropic.com/v1", ["metadata.user_id"]),
    cacheMinutes: 5,
  },
  // A deployment has a tier, which a request without one gets. Servers of other makers there may
  // refuse the field.
  azure: openai(null, "max_completion_tokens", { tiers: ["priority"], standardTier: "default" }),
  cohere: packaged("cohere", "https://api.cohere.com/v2"),
  deepseek: openai("https://api.deepseek.com/v1", "max_tokens", { tiers: [], identifiers: [] }),
  google: packaged("google", "https://generativelanguage.googleapis.com/v1beta"),
  "google-vertex": cloud(
    "google-vertex",
    "https://{host}/v1/projects/{project}/locations/{region}",
  ),
  // Groq answers 400 to these.
  groq: openai("https://api.groq.com/openai/v1", "max_completion_tokens", {
    refuses: ["logprobs", "top_logprobs", "logit_bias", "messages[].name"],
    sets: { service_tier: "on_demand" },
    tiers: ["flex"],
  }),
  // Mistral answers 422 to every field that it does not know.
  mistral: openai("https://api.mistral.ai/v1", "max_tokens", {
    refuses: [
      "logprobs",
      "top_logprobs",
      "logit_bias",
      "verbosity",
      "messages[].name",
      "messages[].reasoning_content",
    ],
    renames: { seed: "random_seed" },
    tiers: [],
    takesStreamOptions: false,
    identifiers: [],
  }),
  openai: openai("https://api.openai.com/v1", "max_completion_tokens", {
    // Without the tier, a setting of OpenAI's project decides the cost of the call; without
    // `store`, another one decides whether OpenAI keeps the conversation.
    sets: { service_tier: "default", store: false },
    identifiers: OF_OPENAI,
  }),
  "openai-responses": packaged("openai-responses", "https://api.openai.com/v1", OF_OPENAI),
  openrouter: openai("https://openrouter.ai/api/v1", "max_tokens", {
    sets: { service_tier: "default", usage: { include: true } },
  }),
  xai: openai("https://api.x.ai/v1", "max_completion_tokens", {
    refuses: ["logit_bias"],
    sets: { service_tier: "default" },
    tiers: ["priority"],
  }),
} as const satisfies Readonly<Record<string, ProviderPreset>>;

export type PresetName = keyof typeof PROVIDER_PRESETS;
export const PRESET_NAMES = Object.keys(PROVIDER_PRESETS) as PresetName[];
export const DEFAULT_PRESET: PresetName = "openai-compatible";
