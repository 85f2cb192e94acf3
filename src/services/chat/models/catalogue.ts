// The catalogue of chat: models with prices and routes, and the servers that serve them.

import { type Prices, pricesOf } from "../../../core/money/call-cost.ts";
import { price } from "../../../core/money/money.ts";
import type { RowPrices } from "../../../core/money/price-rows.ts";
import type { Tier } from "../../../core/money/usage.ts";
import type { MediaKind } from "../media/media-part.ts";
import type { ModelMedia } from "../media/model-media.ts";
import { type ChatLimits, DEFAULT_LIMITS } from "./chat-limits.ts";

/** One way to serve a model: an upstream server and the model's name there. */
export interface Route {
  readonly provider: string;
  readonly model: string;
  /** The operator's cost there; omitted if it is not configured. */
  readonly buying?: Prices;
  /**
   * The share of conversations that this route gets beside other routes; 1 by default; 0 if it
   * serves only while no other route answers.
   */
  readonly weight?: number;
}

/**
 * The rules that divide conversations among the routes of a model: by weights alone, to the
 * cheapest, or by weights and speed.
 */
export const SPREADS = ["weight", "price", "latency"] as const;
export type Spread = (typeof SPREADS)[number];

/** The kinds of requests that models answer, each with its name in messages. */
export const MODEL_USES = {
  chat: "chat",
  embedding: "embeddings",
  rerank: "reranking",
  moderation: "moderation",
} as const;

export type ModelUse = keyof typeof MODEL_USES;
export const MODEL_USE_NAMES = Object.keys(MODEL_USES) as readonly ModelUse[];
export type OtherUse = Exclude<ModelUse, "chat">;

export interface ModelEntry {
  readonly id: string;
  /** Chat by default. Other models are listed, but never asked to chat (D-690). */
  readonly serves?: ModelUse;
  /** Other names for it. A name that ends with `*` stands for all with that beginning. */
  readonly aliases?: readonly string[];
  readonly label: string;
  readonly family: string;
  readonly ownedBy: string;
  readonly prices: Prices;
  /** The markup of `farebox prices` on its buying price, as it is written. */
  readonly markupPercent?: string;
  readonly contextTokens: number;
  /** The most tokens of a reply; left out if that is not configured. */
  readonly maxOutputTokens?: number;
  /** The limits of chat completions that are higher for it than for all models. */
  readonly chatLimits?: Partial<ChatLimits>;
  readonly freeCreditEligible: boolean;
  /** The release date in Unix seconds, if it is configured. */
  readonly created?: number;
  /** Tried in this order, unless there is a `spread`. */
  readonly routes: readonly Route[];
  /** Left out for a model whose routes are tried in order. */
  readonly spread?: Spread;
  /** True if callers get the text of its reasoning, as `reasoning_content`; false by default. */
  readonly showsReasoning?: boolean;
  /** Parameters that this model accepts in addition to those that every model gets. */
  readonly extraParameters?: readonly string[];
  /** The media that it takes; left out for a model that takes only text. */
  readonly media?: ModelMedia;
  /** The most output tokens of an image; left out for a model that gives only text. */
  readonly imageTokens?: number;
}

/** The kind of requests that the model answers. */
export function servedUse({
  serves = "chat",
}: {
  readonly serves?: ModelUse | undefined;
}): ModelUse {
  return serves;
}

/** True if the model can be asked to chat. */
export function servesChat(model: Pick<ModelEntry, "serves">): boolean {
  return servedUse(model) === "chat";
}

/** The end of an alias that stands for many names. */
const ANY_END = "*";

/** The aliases of a model that are whole names. */
export function namesOf({ aliases = [] }: Pick<ModelEntry, "aliases">): readonly string[] {
  return aliases.filter((alias) => !alias.endsWith(ANY_END));
}

/**
 * The model of an id or an alias (D-702): an id first, then a whole alias, then the alias with the
 * longest beginning.
 */
export function modelNamed(
  { models }: Pick<ChatCatalogue, "models">,
  name: string,
): ModelEntry | undefined {
  return models.get(name) ?? aliasNamed({ models }, name)?.model;
}

/** The alias that a name is, or begins with; undefined if there is none. */
export function aliasNamed(
  { models }: Pick<ChatCatalogue, "models">,
  name: string,
): Alias | undefined {
  return aliasesOf(models).find(({ fits }) => fits(name));
}

interface Alias {
  readonly model: ModelEntry;
  /** The alias as it is configured. */
  readonly alias: string;
  readonly fits: (name: string) => boolean;
}

const allAliases = new WeakMap<ChatCatalogue["models"], readonly Alias[]>();

/** Whole names first, then the longest beginnings; made once for each catalogue. */
function aliasesOf(models: ChatCatalogue["models"]): readonly Alias[] {
  const known = allAliases.get(models);
  if (known !== undefined) return known;
  const given = [...models.values()].flatMap((model) =>
    (model.aliases ?? []).map((alias) => ({ model, alias })),
  );
  const weight = (alias: string) => (alias.endsWith(ANY_END) ? alias.length : Infinity);
  given.sort((one, other) => weight(other.alias) - weight(one.alias) || 0);
  const made = given.map(({ model, alias }) => {
    const beginning = alias.slice(0, -1);
    const isMany = alias.endsWith(ANY_END);
    return {
      model,
      alias,
      fits: (name: string) => (isMany ? name.startsWith(beginning) : name === alias),
    };
  });
  allAliases.set(models, made);
  return made;
}

/** The forms that upstream servers speak; protocols.ts has the protocol of each. */
export type ProviderKind =
  | "openai"
  | "guide"
  | "anthropic"
  | "google"
  | "google-vertex"
  | "amazon-bedrock"
  | "cohere"
  | "openai-responses";

/** The kinds of servers that can be asked for something else than chat (D-682). */
export const KINDS_OF_USE: Readonly<Record<OtherUse, readonly ProviderKind[]>> = {
  embedding: ["openai"],
  rerank: ["openai", "cohere"],
  moderation: ["openai"],
};

/** The key of a Google service account, as Google writes it into a file. */
export interface ServiceAccount {
  readonly clientEmail: string;
  /** PEM. */
  readonly privateKey: string;
  readonly privateKeyId: string | null;
  /** The address that gives access tokens. */
  readonly tokenUri: string;
}

/** The account at a cloud that serves models of others. */
export interface CloudAccess {
  readonly region: string;
  readonly awsKeys?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string | null;
  };
  readonly serviceAccount?: ServiceAccount;
}

/** The habits in which a server of OpenAI's form differs from others. */
export interface Quirks {
  /** Parameters that it refuses. */
  readonly refuses: readonly string[];
  /** The server's names for parameters. */
  readonly renames: Readonly<Record<string, string>>;
  /** Fields that every request has. */
  readonly sets: Readonly<Record<string, unknown>>;
  /** The tiers, besides the standard one, that it sells by the field `service_tier` (D-657). */
  readonly tiers: readonly Tier[];
  /**
   * The server's name of the standard tier, where only models that are sold in one of `tiers`
   * surely take the field; left out: `sets` has it, or no name is sent (D-657).
   */
  readonly standardTier?: string;
  /** False if the provider sends the usage of streams unasked, and refuses `stream_options`. */
  readonly takesStreamOptions: boolean;
}

/**
 * Fields of requests that identify a caller, or the prompts that share a cache. Names with a dot
 * are fields inside of another field.
 */
export const IDENTIFIER_FIELDS = [
  "safety_identifier",
  "user",
  "metadata.user_id",
  "prompt_cache_key",
] as const;
export type IdentifierField = (typeof IDENTIFIER_FIELDS)[number];

/** The identifiers that a provider gets. */
export interface ProviderIdentifiers {
  /** The name of its preset, which has a key of its own. */
  readonly preset: string;
  readonly fields: readonly IdentifierField[];
}

/** The provider's support of images and PDFs. */
export interface ProviderMedia {
  readonly kinds: readonly MediaKind[];
  /** True if the provider's own cloud fetches images from addresses (D-644). */
  readonly fetchesAddresses: boolean;
  /** True if the name of a model there says by which rule it counts an image. */
  readonly hasKnownRules: boolean;
  /** True if models of the provider can give images. */
  readonly givesImages?: true;
}

export interface ProviderEntry {
  readonly name: string;
  readonly kind: ProviderKind;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The time limit for the first event of a stream. */
  readonly firstByteTimeoutMs: number;
  /** The time limit for a reply that is not streamed. */
  readonly replyTimeoutMs: number;
  /** The time limit between two events of a stream. */
  readonly idleTimeoutMs: number;
  /** The time limit for the usage after a streamed reply, while the caller waits too. */
  readonly usageTimeoutMs: number;
  /** The most simultaneous requests; others go to the next route. */
  readonly concurrencyMax: number;
  /** The field that carries the output limit. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Left out for providers that are no cloud. */
  readonly cloud?: CloudAccess;
  /**
   * The differences of the server from other servers of OpenAI's form; left out or null: not known.
   */
  readonly quirks?: Quirks | null;
  /** Left out if the provider gets no identifiers of callers. */
  readonly identifiers?: ProviderIdentifiers;
  /** Left out for a provider that takes only text. */
  readonly media?: ProviderMedia;
  /** The time for which its cache keeps a prompt after the last use. */
  readonly cacheMinutes: number;
  /** The markup of `farebox prices` on its buying prices, as it is written. */
  readonly markupPercent?: string;
}

/** The settings of a model for `auto`. */
export interface AutoTerms {
  /** The operator's rating of the model, from 0 to 100. */
  readonly quality: number;
  /** True if the model can call tools. */
  readonly tools: boolean;
  /** The shortest and the longest prompt that it is chosen for, in estimated tokens. */
  readonly promptTokensMin: number;
  readonly promptTokensMax: number;
  /** True if the model is never chosen. */
  readonly excluded: boolean;
}

/** The defaults for a model. */
export const AUTO_TERMS: AutoTerms = {
  quality: 50,
  tools: true,
  promptTokensMin: 0,
  promptTokensMax: Number.POSITIVE_INFINITY,
  excluded: false,
};

/** The rules by which `auto` chooses a model (SPEC 4.9). */
export interface AutoRules {
  readonly policy: "cheapest" | "balanced" | "quality";
  /** By model id; a model that is not here has AUTO_TERMS. */
  readonly models: ReadonlyMap<string, AutoTerms>;
}

const DEFAULT_AUTO: AutoRules = { policy: "balanced", models: new Map() };

/** The catalogue of chat at one moment. */
export interface ChatCatalogue extends ChatTerms {
  readonly models: ReadonlyMap<string, ModelEntry>;
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  /** True if a model takes more than text. */
  readonly takesMedia: boolean;
}

/** The settings of chat besides models and providers. */
export interface ChatTerms {
  readonly auto: AutoRules;
  /** Headers in which callers name a conversation; of several in a request the first counts. */
  readonly sessionHeaders: readonly string[];
  readonly chatLimits: ChatLimits;
}

/** The longest `timeouts.reply_ms` of a provider. */
export const REPLY_TIMEOUT_MAX_MS = 15 * 60_000;

/** The defaults for a provider. */
export const PROVIDER_DEFAULTS = {
  firstByteTimeoutMs: 60_000,
  replyTimeoutMs: 300_000,
  idleTimeoutMs: 90_000,
  usageTimeoutMs: 5_000,
  concurrencyMax: 256,
  maxTokensField: "max_tokens",
  cacheMinutes: 30,
} as const satisfies Partial<ProviderEntry>;

/** The tokens that prices are for. */
const TOKENS = 1_000_000;

/** The name of the built-in provider and the id of its only model. */
export const GUIDE_PROVIDER = "guide";
export const GUIDE_MODEL = "farebox-guide";
export const GUIDE_CONTEXT_TOKENS = 32_768;
/** SPEC 4.9: `auto` lets the service choose the model, so no model can have this id. */
export const AUTO_MODEL = "auto";
export const RESERVED_MODELS: readonly string[] = [GUIDE_MODEL, AUTO_MODEL];

const guideProvider: ProviderEntry = {
  ...PROVIDER_DEFAULTS,
  name: GUIDE_PROVIDER,
  kind: "guide",
  baseUrl: "",
  apiKey: null,
};

/** The model that every catalogue has. */
export const guideModel: ModelEntry = {
  id: GUIDE_MODEL,
  label: "Guide to this service (extractive, not a language model)",
  family: "farebox",
  ownedBy: "farebox",
  prices: bandPrices({ input: "0.10", output: "0.40" }),
  contextTokens: GUIDE_CONTEXT_TOKENS,
  freeCreditEligible: true,
  routes: [{ provider: GUIDE_PROVIDER, model: GUIDE_MODEL }],
};

/**
 * A catalogue of these models and providers and the built-in guide. The guide is not a language
 * model, so `auto` chooses it only if no other model for chat is configured.
 */
export function chatCatalogueOf(
  models: readonly ModelEntry[],
  providers: readonly ProviderEntry[],
  {
    auto = DEFAULT_AUTO,
    sessionHeaders = [],
    chatLimits = DEFAULT_LIMITS,
  }: Partial<ChatTerms> = {},
): ChatCatalogue {
  const { policy, models: terms } = auto;
  const guideTerms = { ...AUTO_TERMS, quality: 0, tools: false, excluded: models.some(servesChat) };
  return {
    models: new Map([...models, guideModel].map((model) => [model.id, model])),
    providers: new Map([...providers, guideProvider].map((entry) => [entry.name, entry])),
    auto: { policy, models: new Map([...terms, [GUIDE_MODEL, guideTerms]]) },
    takesMedia: models.some(({ media }) => media !== undefined),
    sessionHeaders,
    chatLimits,
  };
}

/** The prices of prompts up to a length, in decimal USD per million tokens. */
export interface BandPrices {
  readonly input: string;
  readonly output: string;
  readonly cachedInput?: string | null;
  /** Left out in the last band. */
  readonly promptTokensMax?: number | null;
}

/** The prices of bands, shortest prompts first, converted exactly. */
export function bandPrices(...bands: readonly BandPrices[]): Prices {
  const configured = bands.map(({ promptTokensMax = null, cachedInput = null, ...one }) => ({
    promptTokensMax,
    input: price(one.input, TOKENS),
    output: price(one.output, TOKENS),
    cachedInput: cachedInput === null ? null : price(cachedInput, TOKENS),
  }));
  const rows = configured.map(({ promptTokensMax: _, ...prices }, index): RowPrices => {
    const above = configured[index - 1]?.promptTokensMax ?? null;
    return above === null ? prices : { ...prices, when: { abovePromptTokens: above } };
  });
  // The version of bands is that of the form in which they were always configured.
  return pricesOf(rows, configured);
}
