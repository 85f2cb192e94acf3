// Asks models in order until one answers. After a failure before the first byte of an answer, the
// next model is asked. All models share the hold of the call.

import type { Outcome } from "../../../actors/account.ts";
import { beginWaiting, type Call, endWaiting } from "../../calls/call.ts";
import type { CancelSignal } from "../../core/cancellation.ts";
import { ApiError } from "../../core/errors.ts";
import { priceVersionOf } from "../../core/price-version.ts";
import { type TokenUsage, upstreamCost } from "../../core/pricing.ts";
import type { Models } from "./auto-router.ts";
import type { ModelEntry } from "./catalogue.ts";
import type { ChatCallDeps } from "./chat-admission.ts";
import type { ServedRoute } from "./providers/provider.ts";

/** A model that answered. */
export interface ModelAnswer<Result> {
  readonly model: ModelEntry;
  /** The models asked, in order; the last one answered. */
  readonly tried: readonly ModelEntry[];
  readonly result: Result;
}

/** Throws the error of the last model. An invalid request or a leaving caller ends it at once. */
export async function firstAnswer<Result>(
  deps: ChatCallDeps,
  call: Call,
  { models, signal }: { readonly models: Models; readonly signal: CancelSignal },
  ask: (model: ModelEntry) => Promise<Result>,
): Promise<ModelAnswer<Result>> {
  const tried: ModelEntry[] = [];
  let failure: ApiError | null = null;
  for (const model of models) {
    tried.push(model);
    const startMs = beginWaiting(deps, call);
    try {
      return { model, tried, result: await ask(model) };
    } catch (error) {
      if (signal.aborted || !isUnanswered(error)) throw error;
      failure = withEarliestRetry(failure, error);
      if (models.length > 1)
        deps.log.warn({ requestId: call.requestId, model: model.id }, "A model did not answer");
    } finally {
      endWaiting(deps, call, startMs);
    }
  }
  throw failure;
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

/** The model and the route that serve a call. */
export interface ServedBy extends Omit<ModelAnswer<unknown>, "result"> {
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
