// Keeps a chat within the most that its caller lets it cost: by a lower output limit, so that
// nothing is sold below its price (D-781).

import { refuse } from "../../calls/admission.ts";
import type { Call } from "../../calls/call.ts";
import { ApiError } from "../../core/errors.ts";
import { affordableOutputTokens } from "../../core/money/call-cost.ts";
import { dollars, type NanoUsd } from "../../core/money/money.ts";
import { type ChatCall, type ChatCallDeps, payablePrompt } from "./chat-admission.ts";
import { asksForImages } from "./media/model-images.ts";
import { mediaTokensMax } from "./media/model-media.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import { outputTokensMax } from "./output-limit.ts";
import { reachOf } from "./request-tier.ts";
import { promptTokensMax, tightTextBound } from "./tokens/tokens.ts";

/**
 * The fewest output tokens of a useful reply. A reply with fewer tokens, or with less than one
 * image, is useful only if its caller has asked for so few.
 */
export const USEFUL_TOKENS = 16;

/**
 * The call with the output limit that fits the cap of its caller, for the models that can be of
 * use then. The prompt is counted only if its bound in bytes does not fit.
 * @throws ApiError `max_cost_exceeded`; the account has counted and logged the call
 */
export async function withinMaxCost(
  deps: ChatCallDeps,
  call: Call,
  chat: ChatCall,
): Promise<ChatCall> {
  const { maxCost } = call;
  const { request, models } = chat;
  // Without a limit to lower, admission refuses the call if its hold is above the cap.
  if (maxCost === null || request.own?.hasNoLimit === true) return chat;
  const mediaTokens = mediaTokensMax(models, request.media);
  const bytes = promptTokensMax(request);
  const asked = fitted(chat, bytes + mediaTokens, maxCost);
  const isWhole = models.every((model) => asked.get(model) === outputTokensMax(model, request));
  if (isWhole) return chat;
  const { accountId } = call.identity;
  const payable = payablePrompt(chat, () => maxCost);
  const counted = await deps.tokens.estimatePrompt(accountId, request, payable);
  // Counting stops above the maximum, so a higher count covers only a part of the prompt and is no
  // bound (D-781).
  const isWholeCount = counted !== null && counted <= payable;
  const textBound = isWholeCount ? Math.min(bytes, tightTextBound(counted, request)) : bytes;
  const fits = fitted(chat, textBound + mediaTokens, maxCost);
  const [first, ...others] = fits.keys();
  if (first === undefined) {
    // A quote also shows the hold of a call that is too expensive; the admission then adds the
    // refusal.
    if (deps.quote !== undefined) return { ...chat, textBound };
    const [{ id: model }] = models;
    const promptTokens = textBound + mediaTokens;
    const refusal = tooExpensive(maxCost, promptTokens);
    const { chosenFor } = chat;
    const terms = { scope: "models", service: "models", model, chosenFor, refusal } as const;
    return await refuse(deps, call, terms);
  }
  const maxTokens = Math.min(...fits.values());
  return {
    ...chat,
    models: [first, ...others],
    request: { ...request, maxTokens },
    textBound,
    uncappedTokens: request.maxTokens,
  };
}

/** The output limits that fit, by the models with which they are of use. */
function fitted(
  { models, request }: ChatCall,
  promptTokens: number,
  available: NanoUsd,
): Map<ModelEntry, number> {
  const fits = new Map<ModelEntry, number>();
  const reach = reachOf(request);
  const hasImages = asksForImages(request);
  for (const model of models) {
    const asked = outputTokensMax(model, request);
    const most = affordableOutputTokens(model.prices, { promptTokens, available }, reach);
    const useful = hasImages ? (model.imageTokens ?? USEFUL_TOKENS) : USEFUL_TOKENS;
    if (most >= Math.min(asked, useful)) fits.set(model, Math.min(asked, most));
  }
  return fits;
}

function tooExpensive(maxCost: NanoUsd, promptTokens: number): ApiError {
  return new ApiError(
    "max_cost_exceeded",
    `The ${dollars(maxCost)} of x-svc-max-cost-usd do not pay for a prompt of up to ` +
      `${promptTokens} tokens and a reply`,
  );
}
