// The tier that a request asks for. The model's price rows must name it.

import { PLAIN_REACH, type Prices, type Reach } from "../../core/money/call-cost.ts";
import { SERVED_PLAINLY, type Served, type Tier } from "../../core/money/usage.ts";
import { invalid } from "../../http/body/checks.ts";
import type { Models } from "./models/auto-router.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import type { ChatRequest, ServedRoute } from "./protocols/provider.ts";

/** The tiers that a caller can choose. */
export const CHOSEN_TIERS = ["flex", "priority"] as const;
export type RequestTier = "standard" | (typeof CHOSEN_TIERS)[number];

type Reaches = Readonly<Record<RequestTier, Reach>>;

/** Constants, so that each model makes the prices of its holds once for each of them. */
const reaches = (terms: Partial<Reach>): Reaches => ({
  standard: { ...PLAIN_REACH, ...terms },
  flex: { ...PLAIN_REACH, ...terms, tier: "flex" },
  priority: { ...PLAIN_REACH, ...terms, tier: "priority" },
});
const REACHES: Reaches = { ...reaches({}), standard: PLAIN_REACH };
const MEDIA_REACHES = reaches({ hasMedia: true });
const LONG_REACHES = reaches({ hasLongWrites: true });
const LONG_MEDIA_REACHES = reaches({ hasMedia: true, hasLongWrites: true });
const SERVED: Readonly<Record<RequestTier, Served>> = {
  standard: SERVED_PLAINLY,
  flex: { ...SERVED_PLAINLY, tier: "flex" },
  priority: { ...SERVED_PLAINLY, tier: "priority" },
};

/** The tier that a request asks for: `service_tier` is forwarded only if it names another one. */
export function tierOf({ parameters: { service_tier: tier } }: ChatRequest): RequestTier {
  return tier === "flex" || tier === "priority" ? tier : "standard";
}

/** The properties of a request that its hold depends on. */
export function reachOf(request: ChatRequest): Reach {
  const isLong = request.own?.hasLongWrites === true;
  const hasMedia = request.media !== undefined;
  const long = hasMedia ? LONG_MEDIA_REACHES : LONG_REACHES;
  const short = hasMedia ? MEDIA_REACHES : REACHES;
  return (isLong ? long : short)[tierOf(request)];
}

export const TIER_FIELD = "service_tier";

/** The request as its server took it: without the tier, if the server was never sent it. */
export function asServed(request: ChatRequest, ignored: ServedRoute["ignored"] = []): ChatRequest {
  return ignored.includes(TIER_FIELD) ? inStandardTier(request) : request;
}

/** The request without the tier that it asks for. */
export function inStandardTier(request: ChatRequest): ChatRequest {
  const { [TIER_FIELD]: _, ...parameters } = request.parameters;
  return { ...request, parameters };
}

/** The properties of the answer to assume if the provider does not report them. */
export function servedAsAsked(request: ChatRequest): Served {
  return SERVED[tierOf(request)];
}

/** The models whose price rows name the tier. Throws if there are none (D-657). */
export function modelsOfTier(models: Models, request: ChatRequest): Models {
  const tier = tierOf(request);
  if (tier === "standard") return models;
  const [first, ...others] = models.filter(({ prices }: ModelEntry) => hasTier(prices, tier));
  if (first !== undefined) return [first, ...others];
  const [asked] = models;
  throw invalid(TIER_FIELD, `must not be '${tier}': '${asked.id}' has no price for this tier`);
}

/** True if a row prices the tier. */
export function hasTier({ rows }: Prices, tier: Tier): boolean {
  return rows.some(({ when }) => when?.tier === tier);
}
