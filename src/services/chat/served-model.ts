// The model and the route that served a call, the cost of the call, and its fields in the log.

import type { Hold, Outcome, Settlement } from "../../../actors/account.ts";
import {
  type BilledPiece,
  costOfPieces,
  exactCost,
  type Prices,
  rowsOfPieces,
} from "../../core/money/call-cost.ts";
import type { NanoUsd, toJsonNumber } from "../../core/money/money.ts";
import type { MoreParts, RowUsage, UsageDetails } from "../../core/money/usage.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import type { ChatRequest, ChatUsage, ServedRoute } from "./protocols/provider.ts";
import { inStandardTier, servedAsAsked, tierOf } from "./request-tier.ts";
import { promptTokensMax } from "./tokens/tokens.ts";
import type { ReplyPiece } from "./usage/reply-usage.ts";

/** The model that answered. */
export interface AnsweringModel {
  readonly model: ModelEntry;
  /** The models asked, in order; the last one answered. */
  readonly tried: readonly ModelEntry[];
  /** The models that the key allows, best first, if the service would choose from others too. */
  readonly ofKey?: readonly ModelEntry[] | undefined;
}

/** Members of `svc` besides id and costs, in the order in which they are sent. */
export type SvcMembers = (
  served: AnsweringModel,
  settlement: Settlement,
) => {
  readonly credits_left_usd: ReturnType<typeof toJsonNumber> | null;
  /** The reason why the service chose this model. */
  readonly auto?: string;
};

/** The model and the route that serve a call. */
export interface ServedBy extends AnsweringModel {
  readonly route: ServedRoute;
}

/** The parts of a call that decide its price besides its usage. */
export interface PricedCall {
  readonly request: ChatRequest;
  readonly hold: Pick<Hold, "admittedAtMs">;
}

/**
 * The exact cost of a call by these prices, selling or buying, whether the provider or we counted
 * its usage.
 */
export function costOf(prices: Prices, usage: ChatUsage, { request, hold }: PricedCall): NanoUsd {
  if (prices.isPlain) return exactCost(prices, usage);
  const { served = servedAsAsked(request), fees, pieces } = usage;
  const atMs = hold.admittedAtMs;
  if (pieces === undefined) return exactCost(prices, usage, { served, fees, atMs });
  const billed = billedPieces(pieces, request);
  return costOfPieces(prices, billed, { atMs, ...(fees !== undefined && { fees }) });
}

function billedPieces(pieces: readonly ReplyPiece[], request: ChatRequest): BilledPiece[] {
  return pieces.map((piece) => (piece.isSummed ? sentOnce(piece, request) : piece));
}

/** The tokens by price row of a call that several rows price; null for all others. */
function rowsOf({ prices }: ModelEntry, usage: ChatUsage, { request, hold }: PricedCall) {
  const { pieces = [] } = usage;
  if (prices.isPlain || pieces.length < 2) return null;
  return rowsOfPieces(prices, billedPieces(pieces, request), hold.admittedAtMs);
}

/**
 * Returns the call as it is charged if no server named its tier: in the tier asked for, or in the
 * standard tier if that costs less. The server may have refused the tier asked for (D-657).
 */
export function cheaperServed(prices: Prices, usage: ChatUsage, call: PricedCall): PricedCall {
  const standard = { ...call, request: inStandardTier(call.request) };
  return costOf(prices, usage, standard) < costOf(prices, usage, call) ? standard : call;
}

/** The prompt that was sent decides the row, and not its sum over the rounds of a tool. */
function sentOnce(piece: ReplyPiece, request: ChatRequest): BilledPiece {
  const promptSent = Math.min(piece.usage.promptTokens, promptTokensMax(request));
  return { ...piece, promptSent };
}

/** The fields of the log about the model and the route that served a call. */
export type ServedOutcome = Pick<
  Outcome,
  "model" | "priceVersion" | "lane" | "upstreamCost" | "usageDetails"
>;

/** The reason why our own count decides; undefined if the provider's decides. */
export type UsageSource = UsageDetails["source"];

/** A usage that was charged, and where it comes from. */
export interface ChargedUsage {
  readonly usage: ChatUsage | null;
  readonly source: UsageSource;
  /** True if the provider refused the content, before or within its reply. */
  readonly isContentRefused: boolean;
  /** True if the caller's cap of the cost ended the reply. */
  readonly isCostStopped?: boolean;
}

/**
 * For the log: the model and its prices, if another one was asked first; the route, and the cost
 * there, by the provider's own word if it named a price.
 */
export function servedOutcome(served: ServedBy & PricedCall, charged: ChargedUsage): ServedOutcome {
  const { model, tried, route } = served;
  const { usage } = charged;
  const standIn = tried.length > 1 ? standInOf(model) : undefined;
  return {
    model: standIn?.model,
    priceVersion: standIn?.priceVersion,
    lane: route.lane,
    upstreamCost: usage === null ? undefined : upstreamCost(route, usage, served),
    usageDetails: detailsOf(charged, served, usage === null ? null : rowsOf(model, usage, served)),
  };
}

function upstreamCost(
  { buying }: ServedRoute,
  usage: ChatUsage,
  call: PricedCall,
): NanoUsd | undefined {
  if (usage.reportedCost !== undefined) return usage.reportedCost;
  return buying === undefined ? undefined : costOf(buying, usage, call);
}

const REFUSED: UsageDetails = { isContentRefused: true };
const COST_STOPPED: UsageDetails = { isCostStopped: true };

function stopOf({ isContentRefused, isCostStopped }: ChargedUsage): UsageDetails | undefined {
  if (isContentRefused) return REFUSED;
  return isCostStopped === true ? COST_STOPPED : undefined;
}

/**
 * For the log. Undefined for a call of the standard tier whose usage is the provider's, and has no
 * more.
 */
export function detailsOf(
  charged: ChargedUsage,
  { request }: Pick<PricedCall, "request">,
  rows: readonly RowUsage[] | null = null,
): UsageDetails | undefined {
  const { usage, source } = charged;
  const stop = stopOf(charged);
  if (usage === null) return stop;
  const { more, fees, served, reportedCost, outputDetails } = usage;
  const tier = served?.tier ?? tierOf(request);
  const reasoning = Math.min(outputDetails?.reasoning_tokens ?? 0, usage.completionTokens);
  const hasParts = more !== undefined || fees !== undefined || reasoning > 0 || rows !== null;
  const isPlain = !hasParts && tier === "standard";
  const isProviders = source === undefined && reportedCost === undefined;
  if (isPlain && isProviders) return stop;
  return {
    ...(more !== undefined && { more: more satisfies MoreParts }),
    ...(fees !== undefined && { fees }),
    ...(reasoning > 0 && { reasoning }),
    ...(rows !== null && { rows }),
    ...(tier !== "standard" && { tier }),
    ...(source !== undefined && { source }),
    ...(reportedCost !== undefined && { isReportedCost: true }),
    ...stop,
  };
}

/** For the log: a model that stands in for the one that the hold was taken for. */
export function standInOf(model: ModelEntry): Pick<Outcome, "model" | "priceVersion"> {
  return { model: model.id, priceVersion: model.prices.version };
}
