// Which model serves a request that leaves the choice to us (SPEC 4.9). Pure, so the same question
// always has the same answer; docs/application.md says these rules in words.

import { ApiError } from "../../core/errors.ts";
import type { NanoUsd } from "../../core/money.ts";
import { exactCost, upperBound } from "../../core/pricing.ts";
import { AUTO_TERMS, type AutoTerms, type ChatCatalogue, type ModelEntry } from "./catalogue.ts";

/** About so many bytes are a token: an estimate that callers can make without a tokenizer. */
const BYTES_A_TOKEN = 3;
/** How far below the best a model may be for `balanced` to look at its price alone. */
const BALANCED_QUALITY_POINTS = 20;

/** At least one model, best first. */
export type Models = readonly [ModelEntry, ...ModelEntry[]];

/** What is known of a request before a model is chosen. */
export interface AutoQuestion {
  /** The UTF-8 bytes of all that a model is shown of it, or a bound of them. */
  readonly promptBytes: number;
  readonly maxTokens: number;
  /** Whether that is the default, which gives way where it fits no model. */
  readonly hasDefaultLimit?: boolean;
  readonly needsTools: boolean;
  readonly isPaused: (model: ModelEntry) => boolean;
  /** Whether a route of the model would be tried now, by all that is known of its servers. */
  readonly isHealthy: (model: ModelEntry) => boolean;
}

/** The models that can serve a request, ranked. */
export interface AutoChoice {
  readonly policy: ChatCatalogue["auto"]["policy"];
  readonly models: Models;
}

/**
 * Ranks the models that can serve a request by the catalogue's policy; what does not answer at
 * present ranks last. Throws the refusal where none can.
 */
export function chooseModels(catalogue: ChatCatalogue, question: AutoQuestion): AutoChoice {
  const { policy } = catalogue.auto;
  const promptTokens = Math.ceil(question.promptBytes / BYTES_A_TOKEN);
  const usage = { promptTokens, cachedTokens: 0, completionTokens: question.maxTokens };
  const able = ableModels(catalogue, question, promptTokens).map((model) => ({
    model,
    quality: autoTerms(catalogue, model).quality,
    cost: exactCost(model.bands, usage),
  }));
  const well = able.filter(({ model }) => question.isHealthy(model));
  const rest = able.filter(({ model }) => !question.isHealthy(model));
  const rank = RANKINGS[policy];
  const [first, ...others] = [...rank(well), ...rank(rest)].map(({ model }) => model);
  if (first === undefined) {
    throw new ApiError("model_unavailable", "The models that can serve this request are paused");
  }
  return { policy, models: [first, ...others] };
}

/** What one request may cost, and what there is for it. */
export interface Budget {
  /** An upper bound of the prompt's tokens. */
  readonly promptTokens: number;
  readonly outputTokens: (model: ModelEntry) => number;
  readonly spendable: (model: ModelEntry) => NanoUsd;
}

/**
 * The ranked models whose upper bound can be paid, from what may pay for the first of them; when
 * none can, the one with the lowest bound, whose refusal tells most.
 */
export function affordableModels(models: Models, budget: Budget): Models {
  const { promptTokens, outputTokens, spendable } = budget;
  const boundOf = (model: ModelEntry) => upperBound(model.bands, promptTokens, outputTokens(model));
  const [first, ...others] = models.filter((model) => boundOf(model) <= spendable(model));
  if (first !== undefined) {
    return [first, ...others.filter((model) => boundOf(model) <= spendable(first))];
  }
  return [models.reduce((one, other) => (boundOf(other) < boundOf(one) ? other : one))];
}

/** Why this model, in a few words. `tried` are the models asked in order; the last one answered. */
export function explainChoice(choice: AutoChoice, tried: readonly ModelEntry[]): string {
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
  /** What the request is expected to cost at most. */
  readonly cost: NanoUsd;
}

type Order = (one: Ranked, other: Ranked) => number;

const byCost: Order = (one, other) =>
  one.cost === other.cost ? 0 : one.cost < other.cost ? -1 : 1;
const byQuality: Order = (one, other) => other.quality - one.quality;
/** By code units, so that it is the same on every machine. */
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

function ableModels(
  catalogue: ChatCatalogue,
  { needsTools, maxTokens, hasDefaultLimit = false, isPaused }: AutoQuestion,
  promptTokens: number,
): ModelEntry[] {
  const termsOf = (model: ModelEntry) => autoTerms(catalogue, model);
  const all = [...catalogue.models.values()].filter((model) => !termsOf(model).excluded);
  const withTools = needsTools ? all.filter((model) => termsOf(model).tools) : all;
  if (needsTools && withTools.length === 0) {
    throw new ApiError("invalid_parameter", "tools need a model that can call tools", {
      param: "tools",
    });
  }
  const ofLength = withTools.filter((model) => {
    const { promptTokensMin, promptTokensMax } = termsOf(model);
    return promptTokens >= promptTokensMin && promptTokens <= promptTokensMax;
  });
  const withRoomFor = (tokens: number) =>
    ofLength.filter(({ contextTokens }) => promptTokens + tokens <= contextTokens);
  const roomy = withRoomFor(maxTokens);
  const able = roomy.length === 0 && hasDefaultLimit ? withRoomFor(1) : roomy;
  if (able.length > 0) return able.filter((model) => !isPaused(model));
  throw new ApiError(
    "invalid_parameter",
    `messages of about ${promptTokens} tokens and max_tokens of ${maxTokens} fit no model`,
    { param: "messages" },
  );
}

function autoTerms({ auto }: ChatCatalogue, model: ModelEntry): AutoTerms {
  return auto.models.get(model.id) ?? AUTO_TERMS;
}
