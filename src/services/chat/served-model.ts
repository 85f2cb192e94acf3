// The model and the route that served a call, for the reply and for the log.

import type { Outcome } from "../../../actors/account.ts";
import { exactCost } from "../../core/money/call-cost.ts";
import type { TokenUsage } from "../../core/money/usage.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import type { ServedRoute } from "./protocols/provider.ts";

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
    upstreamCost:
      usage === null || route.buying === undefined ? undefined : exactCost(route.buying, usage),
  };
}

/** For the log: a model that stands in for the one that the hold was taken for. */
export function standInOf(model: ModelEntry): Pick<Outcome, "model" | "priceVersion"> {
  return { model: model.id, priceVersion: model.prices.version };
}
