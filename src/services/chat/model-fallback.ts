// Asks models in order until one answers. After a failure before the first byte of an answer, the
// next model is asked. All models share the hold of the call.

import type { Outcome } from "../../../actors/account.ts";
import { beginWaiting, type Call, endWaiting } from "../../calls/call.ts";
import type { CancelSignal } from "../../core/cancellation.ts";
import { ApiError } from "../../core/errors.ts";
import { priceVersionOf } from "../../core/money/price-version.ts";
import { type TokenUsage, upstreamCost } from "../../core/money/pricing.ts";
import type { ChatCallDeps } from "./chat-admission.ts";
import type { Models } from "./models/auto-router.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import type { ServedRoute } from "./protocols/provider.ts";

/** The models of a call, in the order of asking. Who asks one waits for it itself (D-541). */
export class ModelTurns {
  /** The models asked so far, the last one being asked or answered. */
  readonly tried: ModelEntry[] = [];
  readonly #deps: ChatCallDeps;
  readonly #call: Call;
  readonly #models: Models;
  readonly #signal: CancelSignal;
  #failure: ApiError | null = null;
  #startMs = 0;

  constructor(deps: ChatCallDeps, call: Call, models: Models, signal: CancelSignal) {
    this.#deps = deps;
    this.#call = call;
    this.#models = models;
    this.#signal = signal;
  }

  /** The model to ask now. Throws what the last one failed by if none is left. */
  begin(): ModelEntry {
    const model = this.#models[this.tried.length];
    if (model === undefined) throw this.#failure;
    this.tried.push(model);
    this.#startMs = beginWaiting(this.#deps, this.#call);
    return model;
  }

  /** Throws the error again if an invalid request or a leaving caller ends it at once. */
  failed(error: unknown): void {
    if (this.#signal.aborted || !isUnanswered(error)) throw error;
    this.#failure = withEarliestRetry(this.#failure, error);
    if (this.#models.length === 1) return;
    const { requestId } = this.#call;
    this.#deps.log.warn({ requestId, model: this.tried.at(-1)?.id }, "A model did not answer");
  }

  /** The model is no longer waited for. */
  end(): void {
    endWaiting(this.#deps, this.#call, this.#startMs);
  }
}

/** The last failure, with the earlier retry time of both. */
function withEarliestRetry(before: ApiError | null, last: ApiError): ApiError {
  const seconds = [before, last].flatMap((error) => error?.retryAfterSeconds ?? []);
  if (seconds.length === 0) return last;
  const { code, message, cause } = last;
  return new ApiError(code, message, { cause, retryAfterSeconds: Math.min(...seconds) });
}

function isUnanswered(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "upstream_unreachable";
}

/** The model that answered. */
export interface AnsweringModel {
  readonly model: ModelEntry;
  /** The models asked, in order; it is the last one. */
  readonly tried: readonly ModelEntry[];
}

/** The model and the route that serve a call. */
export interface ServedBy extends AnsweringModel {
  readonly route: ServedRoute;
}

/** What the log says of the model and the route that served a call. */
export type ServedOutcome = Pick<Outcome, "model" | "priceVersion" | "lane" | "upstreamCost">;

/**
 * For the log: the model and its prices, if another one was asked first; the route, and what it
 * costs there.
 */
export function servedOutcome(
  { model, tried, route }: ServedBy,
  usage: TokenUsage | null,
): ServedOutcome {
  const standIn = tried.length > 1 ? standInOf(model) : undefined;
  return {
    model: standIn?.model,
    priceVersion: standIn?.priceVersion,
    lane: route.lane,
    upstreamCost: usage === null ? undefined : upstreamCost(route.buying, usage),
  };
}

/** For the log: a model that stands in for the one that the hold was taken for. */
export function standInOf(model: ModelEntry): Pick<Outcome, "model" | "priceVersion"> {
  return { model: model.id, priceVersion: priceVersionOf(model.bands) };
}
