// Takes the hold of a chat call. The first attempt uses an upper bound that is cheap to compute.
// Only if the funds do not cover it are the tokens counted for a tighter bound (SPEC 8.7.1). If
// several models can serve the call, the hold covers the most expensive one.

import type {
  CallTerms,
  CallView,
  Decision,
  Funds,
  Hold,
  QuotedDecision,
} from "../../../actors/account.ts";
import { spendableFor } from "../../calls/account.ts";
import { Admission, admit } from "../../calls/admission.ts";
import type { Call, CallDeps, QuoteListener } from "../../calls/call.ts";
import { giveBack } from "../../calls/settling.ts";
import { MESSAGES } from "../../core/access/limits.ts";
import { ApiError } from "../../core/errors.ts";
import {
  affordableOutputTokens,
  affordablePromptTokens,
  exactCost,
  upperBound,
} from "../../core/money/call-cost.ts";
import { min, type NanoUsd, ZERO } from "../../core/money/money.ts";
import type { TokenUsage } from "../../core/money/usage.ts";
import type { AbandonedStreams } from "./abandoned-streams.ts";
import { mediaBytes } from "./media/media-part.ts";
import { mediaTokens, mediaTokensMax } from "./media/model-media.ts";
import { affordableModels, type Models } from "./models/auto-router.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import { freeMessage, moneyMessage, TOP_UP_UNDER_WAY } from "./money-messages.ts";
import type { OpenPrompts } from "./open-prompts.ts";
import {
  modelsWithRoom,
  needsCount,
  outputTokensFor,
  outputTokensMax,
  type PromptLength,
} from "./output-limit.ts";
import type { ChatProvider, ChatRequest } from "./protocols/provider.ts";
import { CHAT_FIELDS } from "./refused-fields.ts";
import { reachOf, servedAsAsked } from "./request-tier.ts";
import type { SvcMembers } from "./served-model.ts";
import type { PieceTokens } from "./tokens/piece-tokens.ts";
import { ESTIMATED_BYTES_MAX, type TokenCounter } from "./tokens/token-counter.ts";
import { promptTokensMax, tightTextBound } from "./tokens/tokens.ts";

/** The dependencies of the chat use cases. */
export interface ChatCallDeps extends CallDeps {
  readonly chat: ChatProvider;
  readonly tokens: TokenCounter;
  readonly abandoned: AbandonedStreams;
  readonly pieceTokens: PieceTokens;
  readonly prompts: OpenPrompts;
}

/** A checked call of any door (D-863). */
export interface ChatCall {
  /** The models that can serve it, best first. Several only if the service chooses the model. */
  readonly models: Models;
  readonly request: ChatRequest;
  readonly stream: boolean;
  /** Further members of `svc` in its reply; null if the surface has none. */
  readonly svcMembers: SvcMembers | null;
  /** All models of the catalogue, by id. */
  readonly offered: ReadonlyMap<string, ModelEntry>;
  /** A bound of the tokens of the prompt's text, if it was counted already. */
  readonly textBound?: number;
  /** The highest output limit that its door takes, if that is not the one of Messages. */
  readonly maxTokensMax?: number;
  /** The output limit before the caller's cap of the cost was applied, if there is a cap. */
  readonly uncappedTokens?: number;
  /** The patterns of the key that the service chose the models for. */
  readonly chosenFor?: CallTerms["chosenFor"];
  /** True if the key allows only some of the models that the service would choose from. */
  readonly isWithinKey?: true;
}

/** A call that has its hold. */
export interface AdmittedChat {
  readonly hold: Hold;
  /** The models that the hold can pay for, best first. */
  readonly models: Models;
  readonly request: ChatRequest;
  readonly length: PromptLength;
}

/** The request that is sent to this model. */
export function requestFor(model: ModelEntry, { request, length }: AdmittedChat): ChatRequest {
  if (request.hasDefaultLimit !== true) return request;
  return { ...request, maxTokens: outputTokensFor(model, request, length) };
}

/** The output limit that is sent to a model. */
export interface SentLimit {
  readonly maxTokens: number;
  /** True if the limit would be higher without the caller's cap of the cost. */
  readonly isCostBound: boolean;
}

/** The limit that is sent to this model. */
export function limitFor(
  model: ModelEntry,
  admitted: AdmittedChat,
  { uncappedTokens }: Pick<ChatCall, "uncappedTokens">,
): SentLimit {
  const { maxTokens } = requestFor(model, admitted);
  if (uncappedTokens === undefined) return { maxTokens, isCostBound: false };
  const request = { ...admitted.request, maxTokens: uncappedTokens };
  const uncapped = requestFor(model, { ...admitted, request });
  return { maxTokens, isCostBound: maxTokens < uncapped.maxTokens };
}

/** The most models to ask for one request, because the caller waits for each of them. */
const MODELS_ASKED_MAX = 3;

/** The terms of a chat, and the models that its hold covers. */
interface ChatTerms extends CallTerms {
  readonly models: Models;
  /** The bound of the tokens of the prompt. */
  readonly promptTokens: number;
}

/** The tokens of a quoted call. */
interface QuotedTokens {
  /** The prompt as counted, and the longest reply. */
  readonly longest: TokenUsage;
  /**
   * The highest output limit with which the call would be admitted: 0 if there is none; null for a
   * call that cannot set a limit.
   */
  readonly outputMax: number | null;
}

/** The admission of a chat: its first attempt, and the second if the funds are short. */
export class ChatAdmission extends Admission<ChatCallDeps, ChatTerms> {
  readonly #chat: ChatCall;
  readonly #textBytes: number;
  /** The bound of the tokens of the prompt's text: by its bytes, unless it was counted. */
  readonly #textBound: number;
  /** The most tokens of its images and PDFs. */
  readonly #mediaTokens: number;

  constructor(deps: ChatCallDeps, call: Call, chat: ChatCall) {
    const { request } = chat;
    const textBytes = promptTokensMax(request);
    const mediaTokens = mediaTokensMax(chat.models, request.media);
    const textBound = chat.textBound ?? textBytes;
    const promptTokens = textBound + mediaTokens;
    super(deps, call, termsOf(chat, chat.models, { promptTokens, outputTokens: outputTokensMax }));
    this.#chat = chat;
    this.#textBytes = textBytes;
    this.#textBound = textBound;
    this.#mediaTokens = mediaTokens;
  }

  /** The memory that the prompt takes. */
  get promptBytes(): number {
    return this.#textBytes + mediaBytes(this.#chat.request.media);
  }

  /** The cost of this usage by the price row of a call that is served now as it was asked. */
  likelyCost({ prices }: ModelEntry, usage: TokenUsage, atMs: number): NanoUsd {
    return exactCost(prices, usage, { served: servedAsAsked(this.#chat.request), atMs });
  }

  /** The tokens of the quoted call, if this model serves it. The prompt is counted once. */
  async quotedTokens(model: ModelEntry, decision: QuotedDecision): Promise<QuotedTokens> {
    const { request } = this.#chat;
    const counted = await this.#estimate(model.contextTokens);
    const text = Math.min(counted ?? this.#textBound, this.#textBound);
    const longest = {
      promptTokens: text + mediaTokens(model, request.media),
      cachedTokens: 0,
      completionTokens: outputTokensMax(model, request),
    };
    const length = counted === null ? this.#uncounted() : this.#tightLength(counted);
    return { longest, outputMax: this.#quotedOutputMax(model, decision, length) };
  }

  /** The highest output limit with which the call would be admitted by this decision (D-820). */
  #quotedOutputMax(model: ModelEntry, decision: QuotedDecision, length: PromptLength) {
    const { refusal, mayFit } = decision;
    // A lower output limit can bring the call below its cap, so this refusal alone does not mean 0.
    const isFinal = refusal !== null && !mayFit && refusal.code !== "max_cost_exceeded";
    const outputMax = this.#outputMax(model, decision, length);
    return isFinal && outputMax !== null ? 0 : outputMax;
  }

  /**
   * The highest output limit within what can be spent, the cap of the call, the model and its door,
   * the context, and the tokens of the key. Null for a call that cannot set a limit.
   */
  #outputMax(
    model: ModelEntry,
    { spendable, tokensLeft = null }: Pick<QuotedDecision, "spendable"> & Partial<QuotedDecision>,
    length: PromptLength,
  ): number | null {
    const { request, maxTokensMax = MESSAGES.maxTokensMax } = this.#chat;
    if (request.own?.hasNoLimit === true) return null;
    const { maxCost } = this.call;
    const available = maxCost === null ? spendable : min(spendable, maxCost);
    const promptTokens = length.bound;
    const longest = { ...request, maxTokens: maxTokensMax, hasDefaultLimit: true };
    const outputMax = Math.min(
      affordableOutputTokens(model.prices, { promptTokens, available }, reachOf(request)),
      outputTokensFor(model, longest, length),
      (tokensLeft ?? Number.POSITIVE_INFINITY) - promptTokens,
    );
    return Math.max(0, outputMax);
  }

  /**
   * Admits the chat by the decision on its first attempt, or throws the refusal. If money is
   * missing, the message says how much would fit. No promise if nothing has to be counted.
   */
  admitted(first: Decision): AdmittedChat | Promise<AdmittedChat> {
    const decision = this.decide(first);
    if (decision.verdict === "refused") {
      const { quote } = this.deps;
      if (quote === undefined) throw decision.error;
      return this.#quoted(quote, decision.error, () => this.#promptLength());
    }
    if (decision.verdict === "short") return this.#admitTightly(decision.funds);
    return this.#fitContext(decision.hold, this.terms.models, this.#promptLength());
  }

  /** The second attempt, with the tokens of the prompt counted. */
  async #admitTightly(funds: Funds): Promise<AdmittedChat> {
    const { deps, call } = this;
    const { request, models } = this.#chat;
    const spendable = await this.#spendableBy(funds);
    const length = await this.#countedLength(spendable);
    const tokens = {
      promptTokens: length.bound,
      outputTokens: (model: ModelEntry) => Math.max(1, outputTokensFor(model, request, length)),
    };
    const affordable = affordableModels(models, { ...tokens, spendable, reach: reachOf(request) });
    const terms = termsOf(this.#chat, affordable, tokens);
    const second = await admit(deps, call, {
      ...terms,
      tentative: false,
      counted: true,
      chosenFor: undefined,
    });
    if (second.verdict === "admitted") return this.#fitContext(second.hold, terms.models, length);
    const { quote } = deps;
    if (second.verdict === "refused" && quote !== undefined) {
      return await this.#quoted(quote, second.error, () => length);
    }
    if (second.verdict === "short") throw new Error("A final admission was answered 'short'");
    if (second.funds === null) throw second.error;
    throw await this.#shortOfMoney(terms, second.error, { funds: second.funds, length });
  }

  /** Ends a quote without admitting the call, after the checks that otherwise follow the hold. */
  async #quoted(
    quote: QuoteListener,
    end: ApiError,
    lengthOf: () => PromptLength | Promise<PromptLength>,
  ): Promise<never> {
    const { models } = this.terms;
    const { request } = this.#chat;
    await quote.checkedAfterHold(async () => modelsWithRoom(models, request, await lengthOf()));
    throw end;
  }

  /** The refusal of the second attempt. */
  async #shortOfMoney(
    { models: [model], bound }: ChatTerms,
    { code, retryAfterSeconds }: ApiError,
    { funds, length }: { readonly funds: Funds; readonly length: PromptLength },
  ): Promise<ApiError> {
    const { spendable: left } = funds;
    if (code === "insufficient_credits" && !model.freeCreditEligible) {
      const { free } = await this.#view();
      if (free > ZERO) {
        const { offered } = this.#chat;
        return new ApiError(code, freeMessage(model, { bound, left, free }, offered));
      }
    }
    // Money refuses after the tokens of the key, which a lower output limit passes too.
    const fitting = this.#outputMax(model, funds, length);
    const isByBytes = this.#textBytes > ESTIMATED_BYTES_MAX;
    const { outputLimit: field } = this.#chat.request.fields ?? CHAT_FIELDS;
    const message = moneyMessage({ bound, funds, fitting, field, isByBytes });
    if (retryAfterSeconds === undefined) return new ApiError(code, message);
    return new ApiError(code, `${message}. ${TOP_UP_UNDER_WAY}`, { retryAfterSeconds });
  }

  /**
   * Drops models without room for a reply. If none is left, releases the hold and throws. No
   * promise if the length of the prompt is known and there is room.
   */
  #fitContext(
    hold: Hold,
    held: Models,
    length: PromptLength | Promise<PromptLength>,
  ): AdmittedChat | Promise<AdmittedChat> {
    if (length instanceof Promise) return this.#fitCounted(hold, held, length);
    const { request } = this.#chat;
    // If the hold contains free credit, only eligible models can be used.
    const models = hold.free === ZERO ? held : eligibleOf(held);
    try {
      return { hold, models: modelsWithRoom(models, request, length), request, length };
    } catch (error) {
      return giveBack(this.deps, this.call, { hold, failure: error });
    }
  }

  async #fitCounted(
    hold: Hold,
    held: Models,
    counting: Promise<PromptLength>,
  ): Promise<AdmittedChat> {
    let length: PromptLength;
    try {
      length = await counting;
    } catch (error) {
      return await giveBack(this.deps, this.call, { hold, failure: error });
    }
    return await this.#fitContext(hold, held, length);
  }

  /** Counts the prompt only if the context of a model may limit the length of the reply. */
  #promptLength(): PromptLength | Promise<PromptLength> {
    const { request } = this.#chat;
    const { models } = this.terms;
    if (!needsCount(models, request, this.#promptBound)) return this.#uncounted();
    return this.#estimatedLength(Math.max(...models.map(({ contextTokens }) => contextTokens)));
  }

  async #estimatedLength(tokensMax: number): Promise<PromptLength> {
    const counted = await this.#estimate(tokensMax);
    return counted === null ? this.#uncounted() : this.#tightLength(counted);
  }

  /** Without a count, the bound in bytes is used, and a reply can take at least half a context. */
  #uncounted(): PromptLength {
    return { counted: 0, bound: this.#promptBound };
  }

  get #promptBound(): number {
    return this.#textBound + this.#mediaTokens;
  }

  /** Media are bounded by their rules, and not counted. */
  #tightLength(counted: number): PromptLength {
    const tight = tightTextBound(counted, this.#chat.request);
    return { counted, bound: Math.min(this.#textBound, tight) + this.#mediaTokens };
  }

  /**
   * Counts the prompt, unless it cannot be counted now (D-170). Counting stops once there are too
   * many tokens to pay for any output.
   */
  async #countedLength(spendable: Spendable): Promise<PromptLength> {
    const payable = payablePrompt(this.#chat, spendable);
    const counted = await this.#estimate(payable);
    if (counted === null) return this.#uncounted();
    return counted > payable ? { counted, bound: this.#promptBound } : this.#tightLength(counted);
  }

  /** Counts the prompt, up to this number of tokens. Null if the prompt cannot be counted now. */
  #estimate(tokensMax: number): Promise<number | null> {
    const { accountId } = this.call.identity;
    return this.deps.tokens.estimatePrompt(accountId, this.#chat.request, tokensMax);
  }

  /** The funds for each model. The decision has the amount only for the first one. */
  async #spendableBy(funds: Funds): Promise<Spendable> {
    const [first, ...others] = this.#chat.models;
    if (others.length === 0) return () => funds.spendable;
    const view = await this.#view();
    const all = spendableFor(view);
    const eligible = first.freeCreditEligible ? min(all, funds.spendable) : all;
    // Free credit only adds, so the decision on any model bounds the money without it.
    const other = min(spendableFor({ ...view, free: ZERO }), funds.spendable);
    return (model) => (model.freeCreditEligible ? eligible : other);
  }

  #view(): Promise<CallView> {
    const { accountId, bucket } = this.call.identity;
    return this.deps.accounts.of(accountId, bucket).viewFor(this.call);
  }
}

type Spendable = (model: ModelEntry) => NanoUsd;

/** The tokens of the longest prompt that these funds pay for, with the cheapest of the models. */
export function payablePrompt({ models, request }: ChatCall, spendable: Spendable): number {
  const reach = reachOf(request);
  return Math.max(
    ...models.map((model) => affordablePromptTokens(model.prices, spendable(model), reach)),
  );
}

/** The most tokens of a call. */
interface TokenBounds {
  readonly promptTokens: number;
  readonly outputTokens: (model: ModelEntry, request: ChatRequest) => number;
}

/** The terms of a first attempt with the best of these models. */
function termsOf(
  chat: ChatCall,
  candidates: Models,
  { promptTokens, outputTokens }: TokenBounds,
): ChatTerms {
  const models = candidates.length > MODELS_ASKED_MAX ? askedOf(candidates) : candidates;
  const [first] = models;
  const reach = reachOf(chat.request);
  let bound = ZERO;
  let outputMax = 0;
  for (const model of models) {
    const tokens = { promptTokens, outputTokens: outputTokens(model, chat.request) };
    const most = upperBound(model.prices, tokens, reach);
    if (most > bound) bound = most;
    if (tokens.outputTokens > outputMax) outputMax = tokens.outputTokens;
  }
  return {
    scope: "models",
    service: "models",
    model: first.id,
    priceVersion: first.prices.version,
    bound,
    tokens: promptTokens + outputMax,
    freeEligible: first.freeCreditEligible,
    standIns: models.length === 1 ? undefined : models.slice(1).map(({ id }) => id),
    chosenFor: chat.chosenFor,
    stream: chat.stream,
    tentative: true,
    models,
    promptTokens,
  };
}

function askedOf([first, ...others]: Models): Models {
  return [first, ...others.slice(0, MODELS_ASKED_MAX - 1)];
}

/**
 * The models that free credit may pay for. The hold was taken for the first model, so the first one
 * always stays.
 */
function eligibleOf([first, ...others]: Models): Models {
  return [first, ...others.filter((model) => model.freeCreditEligible)];
}
