// The output limit of a call that sets none, at doors for agents: an edit must not be cut, and one
// call must not hold all the money that parallel ones need (D-689).

import type { CallView } from "../../../actors/account.ts";
import { spendableFor } from "../../calls/account.ts";
import type { Call } from "../../calls/call.ts";
import { CHAT } from "../../core/access/limits.ts";
import { affordableOutputTokens } from "../../core/money/call-cost.ts";
import { type NanoUsd, nano, proportionDown, ZERO } from "../../core/money/money.ts";
import type { ChatCall, ChatCallDeps, SentLimit } from "./chat-admission.ts";
import { asksForImages } from "./media/model-images.ts";
import { mediaTokensMax } from "./media/model-media.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import { reachOf } from "./request-tier.ts";
import { promptTokensMax } from "./tokens/tokens.ts";

/** The bounds that can decide a limit, with the reason that callers read. */
export const LIMIT_BOUNDS = {
  default:
    "the usual default, because the operator configured no `max_output_tokens` of the model; " +
    "send `max_output_tokens` for a longer reply",
  model: "the longest reply of the model",
  context: "the rest of the model's context after the prompt",
  money: "what a quarter of the smallest balance, budget or cap pays for",
  key_tokens: "a quarter of the key's tokens a minute, or of what is left of its tokens a day",
  minimum: "the usual default, because a quarter of the money or of the key's tokens allows less",
  max_cost: "what `x-svc-max-cost-usd` pays for",
} as const;

export const LIMIT_BOUND_NAMES = Object.keys(LIMIT_BOUNDS) as readonly LimitBound[];

type LimitBound = keyof typeof LIMIT_BOUNDS;

/** An output limit, and the bound that decided it. */
export interface OutputLimit {
  readonly tokens: number;
  readonly by: LimitBound;
}

const ONE = nano(1n);
const FOUR = nano(4n);

/**
 * A quarter of an amount, rounded down: one call without an output limit holds at most this part of
 * the available money (D-689).
 */
export function quarterOf(amount: NanoUsd): NanoUsd {
  return proportionDown(amount, ONE, FOUR);
}

/**
 * The output limit of a call before the context of its model is taken into account: the lowest of
 * the model's own limit, the tokens that a quarter of the smallest balance, budget or cap pays for,
 * and a quarter of the key's tokens for a minute or for the rest of the day, less the prompt. At
 * least the usual default, and an image if the request asks for one. A model without a configured
 * limit has the usual default, because its server may refuse more.
 */
export async function defaultLimit(
  deps: ChatCallDeps,
  call: Call,
  { models, request }: Pick<ChatCall, "models" | "request">,
): Promise<OutputLimit> {
  const usual = usualOf(models, request);
  const own = Math.min(...models.map(({ maxOutputTokens = usual }) => maxOutputTokens));
  const isKnown = models.every(({ maxOutputTokens }) => maxOutputTokens !== undefined);
  if (own <= usual) return { tokens: own, by: isKnown ? "model" : "default" };
  const { accountId, bucket } = call.identity;
  const view = await deps.accounts.of(accountId, bucket).viewFor(call);
  const promptTokens = promptTokensMax(request) + mediaTokensMax(models, request.media);
  const payable = (model: ModelEntry) => {
    const funds = model.freeCreditEligible ? view : { ...view, free: ZERO };
    const available = quarterOf(spendableFor(funds));
    return affordableOutputTokens(model.prices, { promptTokens, available }, reachOf(request));
  };
  const affordable = Math.min(...models.map(payable));
  const ofKey = Math.floor(tokensOf(view) / 4) - promptTokens;
  const tokens = Math.min(own, affordable, ofKey);
  if (tokens === own) return { tokens, by: "model" };
  if (tokens < usual) return { tokens: usual, by: "minimum" };
  return { tokens, by: tokens === ofKey ? "key_tokens" : "money" };
}

/**
 * The tokens of a key in a minute, or the rest of its day if that is less; infinite without limits.
 * A call that the minute refuses passes soon, so its limit does not shrink with the minute's use.
 */
function tokensOf({ key, tokensToday }: Pick<CallView, "key" | "tokensToday">): number {
  const none = Number.POSITIVE_INFINITY;
  const { tokensPerMinute, tokensPerDay } = key;
  const ofDay = tokensPerDay === null ? none : Math.max(0, tokensPerDay - tokensToday);
  return Math.min(tokensPerMinute ?? none, ofDay);
}

function usualOf(models: ChatCall["models"], request: ChatCall["request"]): number {
  if (!asksForImages(request)) return CHAT.maxTokensDefault;
  return Math.max(CHAT.maxTokensDefault, ...models.map(({ imageTokens = 0 }) => imageTokens));
}

/** The limit that was sent to the model: the caller's cap, or the context, may have lowered it. */
export function sentLimit(
  limit: OutputLimit,
  { maxTokens: tokens, isCostBound }: SentLimit,
): OutputLimit {
  if (tokens >= limit.tokens) return limit;
  return { tokens, by: isCostBound ? "max_cost" : "context" };
}
