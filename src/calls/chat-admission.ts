// Takes the hold of a chat call: by a bound that costs nothing to compute, and only where that does
// not fit by one that does (SPEC 8.7.1).

import type { Funds, Hold } from "../../actors/hold.ts";
import type { ModelEntry } from "../core/catalogue.ts";
import { ApiError, type ErrorCode } from "../core/errors.ts";
import { CHAT } from "../core/limits.ts";
import { type NanoUsd, toDecimal } from "../core/money.ts";
import { affordableOutputTokens, affordablePromptTokens, upperBound } from "../core/pricing.ts";
import type { ChatRequest } from "../providers/chat/provider.ts";
import { countPrompt, promptTokensMax, templateTokensMax } from "../providers/tokens.ts";
import { admit, type Call, type CallDeps, type Demand } from "./call.ts";

export interface ChatCall {
  readonly model: ModelEntry;
  readonly request: ChatRequest;
  readonly stream: boolean;
}

/** By how much another model's tokenizer may count more tokens than ours. */
const TOKENIZER_MARGIN = 1.3;

const WHAT_IS_LEFT: Partial<Record<ErrorCode, string>> = {
  key_budget_exceeded: "The monthly budget of the key has",
  monthly_limit_reached: "The monthly limit of the account has",
};

/** Admits a chat call, or throws the refusal; one for money says what would fit. */
export async function admitChat(deps: CallDeps, call: Call, chat: ChatCall): Promise<Hold> {
  const { bands } = chat.model;
  const looseTokens = promptTokensMax(chat.request);
  const loose = demandOf(chat, upperBound(bands, looseTokens, chat.request.maxTokens));
  const first = await admit(deps, call, loose, { tentative: true });
  if (first.verdict === "admitted") return first.hold;
  if (first.verdict === "refused") throw first.error;

  const tightTokens = await tightPromptBound(chat, looseTokens, first.funds);
  const tight = demandOf(chat, upperBound(bands, tightTokens, chat.request.maxTokens));
  const second = await admit(deps, call, tight, { counted: true });
  if (second.verdict === "admitted") return second.hold;
  if (second.verdict === "short") throw new Error("A final admission was answered 'short'");
  if (second.funds === null) throw second.error;
  const { code } = second.error;
  const { spendable } = second.funds;
  const fitting = affordableOutputTokens(bands, tightTokens, spendable);
  throw new ApiError(code, moneyMessage(code, tight.bound, spendable, fitting));
}

function demandOf(chat: ChatCall, bound: NanoUsd): Demand {
  return {
    scope: "models",
    service: "models",
    model: chat.model.id,
    bound,
    freeEligible: chat.model.freeCreditEligible,
    stream: chat.stream,
  };
}

/** By counting, unless so many tokens are there that no output would fit whatever their number. */
async function tightPromptBound(chat: ChatCall, loose: number, funds: Funds): Promise<number> {
  const payable = affordablePromptTokens(chat.model.bands, funds.spendable);
  const counted = await countPrompt(chat.request, payable);
  if (counted > payable) return loose;
  const tight = Math.ceil(counted * TOKENIZER_MARGIN) + templateTokensMax(chat.request);
  return Math.min(loose, tight);
}

function moneyMessage(code: ErrorCode, bound: NanoUsd, there: NanoUsd, tokens: number): string {
  const fits = Math.min(tokens, CHAT.maxTokensMax);
  const advice =
    fits < 1
      ? "Not even max_tokens 1 would fit"
      : `It would fit with max_tokens of at most ${fits}`;
  const left = `${WHAT_IS_LEFT[code] ?? "The balance has"} $${toDecimal(there)} left`;
  return `The call can cost up to $${toDecimal(bound)}. ${left}. ${advice}`;
}
