// Chooses the model for a request with `auto` (SPEC 4.9). Pure: the same request always gets the
// same choice. docs/application.md explains the rules.

import { ApiError } from "../../../core/errors.ts";
import { exactCost, type Reach, upperBound } from "../../../core/money/call-cost.ts";
import type { NanoUsd } from "../../../core/money/money.ts";
import type { MediaPart } from "../media/media-part.ts";
import { ungivenByAll } from "../media/model-images.ts";
import { mediaTokens, takesMedia, untakenByAll } from "../media/model-media.ts";
import { CHAT_FIELDS, type RefusedFields } from "../refused-fields.ts";
import {
  AUTO_TERMS,
  type AutoTerms,
  type ChatCatalogue,
  type ModelEntry,
  servesChat,
} from "./catalogue.ts";

/** An estimate that callers can compute without a tokenizer. */
const BYTES_PER_TOKEN = 3;
/** `balanced` compares only prices among models within this distance of the best quality. */
const BALANCED_QUALITY_POINTS = 20;

/** At least one model, best first. */
export type Models = readonly [ModelEntry, ...ModelEntry[]];

/** The facts of a request before a model is chosen. */
export interface AutoRequest {
  /** The UTF-8 bytes of the prompt, or an upper bound. */
  readonly promptBytes: number;
  readonly maxTokens: number;
  /** True if `maxTokens` is the default, which is reduced if it fits no model. */
  readonly hasDefaultLimit?: boolean;
  /** The fields of the caller's form; left out: those of chat completions. */
  readonly fields?: RefusedFields;
  readonly needsTools: boolean;
  /** True if the request asks for images. Without this, models that give images are not chosen. */
  readonly needsImages: boolean;
  /** The images and PDFs of the request. */
  readonly media?: readonly MediaPart[] | undefined;
  readonly isPaused: (model: ModelEntry) => boolean;
  /** True if at least one route of the model would be tried now. */
  readonly isHealthy: (model: ModelEntry) => boolean;
}

/** The models that can serve a request, ranked. */
export interface AutoChoice {
  readonly policy: ChatCatalogue["auto"]["policy"];
  readonly models: Models;
}

/**
 * Ranks the models that can serve a request by the catalogue's policy. Models that are down rank
 * last. Throws an ApiError if no model can serve it.
 */
export function chooseModels(catalogue: ChatCatalogue, request: AutoRequest): AutoChoice {
  const { policy } = catalogue.auto;
  const textTokens = Math.ceil(request.promptBytes / BYTES_PER_TOKEN);
  const { media, maxTokens: completionTokens } = request;
  const tokensOf = (model: ModelEntry) => textTokens + mediaTokens(model, media);
  const capable = capableModels(catalogue, request, tokensOf).map((model) => ({
    model,
    quality: autoTerms(catalogue, model).quality,
    cost: exactCost(model.prices, {
      promptTokens: tokensOf(model),
      cachedTokens: 0,
      completionTokens,
    }),
  }));
  const healthy = capable.filter(({ model }) => request.isHealthy(model));
  const unhealthy = capable.filter(({ model }) => !request.isHealthy(model));
  const rank = RANKINGS[policy];
  const [first, ...others] = [...rank(healthy), ...rank(unhealthy)].map(({ model }) => model);
  if (first === undefined) {
    throw new ApiError("model_unavailable", "The models that can serve this request are paused");
  }
  return { policy, models: [first, ...others] };
}

/** The tokens that a request needs from each model, and the funds for each. */
export interface Budget {
  /** An upper bound of the tokens of the prompt. */
  readonly promptTokens: number;
  readonly outputTokens: (model: ModelEntry) => number;
  readonly spendable: (model: ModelEntry) => NanoUsd;
  readonly reach?: Reach;
}

/**
 * The ranked models whose upper bounds can be paid with the funds that can pay for the first of
 * them. If no model can be paid, returns the one with the lowest bound, whose refusal is the most
 * helpful.
 */
export function affordableModels(models: Models, budget: Budget): Models {
  const { promptTokens, outputTokens, spendable, reach } = budget;
  const boundOf = (model: ModelEntry) =>
    upperBound(model.prices, { promptTokens, outputTokens: outputTokens(model) }, reach);
  const [first, ...others] = models.filter((model) => boundOf(model) <= spendable(model));
  if (first !== undefined) {
    return [first, ...others.filter((model) => boundOf(model) <= spendable(first))];
  }
  return [models.reduce((one, other) => (boundOf(other) < boundOf(one) ? other : one))];
}

/**
 * Explains the choice of the model. `tried` are the models asked, in order; the last one answered.
 */
export function explainChoice(
  choice: Pick<AutoChoice, "policy"> & { readonly models: readonly ModelEntry[] },
  tried: readonly ModelEntry[],
): string {
  const { policy, models } = choice;
  const count = models.length;
  const rule = `${REASONS[policy]} of ${count} models that can serve this`;
  const parts = [count === 1 ? "the only model that can serve this" : rule];
  if (tried[0] !== models[0]) parts.push("within the balance");
  for (const model of tried.slice(0, -1)) parts.push(`after ${model.id} did not answer`);
  return `${policy}: ${parts.join(", ")}`;
}

interface Ranked {
  readonly model: ModelEntry;
  readonly quality: number;
  /** The cost with the estimated prompt and `maxTokens` of output. */
  readonly cost: NanoUsd;
}

type Order = (one: Ranked, other: Ranked) => number;

const byCost: Order = (one, other) =>
  one.cost === other.cost ? 0 : one.cost < other.cost ? -1 : 1;
const byQuality: Order = (one, other) => other.quality - one.quality;
/** Compares code units, so that the order does not depend on the locale. */
const byId: Order = (one, other) => (one.model.id < other.model.id ? -1 : 1);

function sorted(ranked: readonly Ranked[], ...orders: readonly Order[]): Ranked[] {
  return ranked.toSorted((one, other) => {
    for (const order of orders) {
      const difference = order(one, other);
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

const RANKINGS: Record<AutoChoice["policy"], (ranked: readonly Ranked[]) => Ranked[]> = {
  cheapest: (ranked) => sorted(ranked, byCost, byQuality, byId),
  quality: (ranked) => sorted(ranked, byQuality, byCost, byId),
  balanced(ranked) {
    const least = Math.max(...ranked.map(({ quality }) => quality)) - BALANCED_QUALITY_POINTS;
    const isNear = ({ quality }: Ranked) => quality >= least;
    return [
      ...sorted(ranked.filter(isNear), byCost, byQuality, byId),
      ...sorted(
        ranked.filter((one) => !isNear(one)),
        byQuality,
        byCost,
        byId,
      ),
    ];
  },
};

const REASONS: Record<AutoChoice["policy"], string> = {
  cheapest: "the cheapest",
  balanced: `the cheapest within ${BALANCED_QUALITY_POINTS} quality points of the best`,
  quality: "the highest quality",
};

function capableModels(
  catalogue: ChatCatalogue,
  {
    needsTools,
    needsImages,
    media,
    maxTokens,
    hasDefaultLimit = false,
    isPaused,
    fields = CHAT_FIELDS,
  }: AutoRequest,
  promptTokens: (model: ModelEntry) => number,
): ModelEntry[] {
  const termsOf = (model: ModelEntry) => autoTerms(catalogue, model);
  const offered = [...catalogue.models.values()].filter(
    (model) => servesChat(model) && !termsOf(model).excluded,
  );
  if (offered.length === 0) {
    throw new ApiError("model_unavailable", "No model is offered as 'auto'");
  }
  const all = offered.filter(({ imageTokens }) => (imageTokens !== undefined) === needsImages);
  if (all.length === 0) throw ungivenByAll(needsImages);
  const taking = all.filter((model) => takesMedia(model, media));
  if (taking.length === 0) throw untakenByAll(media);
  const withTools = needsTools ? taking.filter((model) => termsOf(model).tools) : taking;
  if (needsTools && withTools.length === 0) {
    throw new ApiError("invalid_parameter", "tools need a model that can call tools", {
      param: "tools",
    });
  }
  const inRange = withTools.filter((model) => {
    const { promptTokensMin, promptTokensMax } = termsOf(model);
    const tokens = promptTokens(model);
    return tokens >= promptTokensMin && tokens <= promptTokensMax;
  });
  const withRoomFor = (tokens: number) =>
    inRange.filter((model) => promptTokens(model) + tokens <= model.contextTokens);
  const fitting = withRoomFor(maxTokens);
  const capable = fitting.length === 0 && hasDefaultLimit ? withRoomFor(1) : fitting;
  if (capable.length > 0) return capable.filter((model) => !isPaused(model));
  const least = Math.min(...withTools.map(promptTokens));
  const { prompt, outputLimit } = fields;
  throw new ApiError(
    "invalid_parameter",
    `${prompt} of about ${least} tokens and ${outputLimit} of ${maxTokens} fit no model`,
    { param: withRoomFor(1).length > 0 ? outputLimit : prompt },
  );
}

function autoTerms({ auto }: ChatCatalogue, model: ModelEntry): AutoTerms {
  return auto.models.get(model.id) ?? AUTO_TERMS;
}
