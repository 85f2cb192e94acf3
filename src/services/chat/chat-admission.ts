// Takes the hold of a chat call. The first attempt uses an upper bound that is cheap to compute.
// Only if the funds do not cover it are the tokens counted for a tighter bound (SPEC 8.7.1). If
// several models can serve the call, the hold covers the most expensive one.

import type { AccountView, Admission, Funds, Hold } from "../../../actors/account.ts";
import { spendableOf } from "../../calls/account.ts";
import {
  admit,
  askForAdmission,
  type Call,
  type CallDeps,
  type CallTerms,
  decided,
} from "../../calls/call.ts";
import { giveBack } from "../../calls/settling.ts";
import { ApiError } from "../../core/errors.ts";
import { type NanoUsd, ZERO } from "../../core/money/money.ts";
import { priceVersionOf } from "../../core/money/price-version.ts";
import {
  affordableOutputTokens,
  affordablePromptTokens,
  upperBound,
} from "../../core/money/pricing.ts";
import type { AbandonedStreams } from "./abandoned-streams.ts";
import { affordableModels, type Models } from "./models/auto-router.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import { freeMessage, moneyMessage } from "./money-messages.ts";
import type { OpenPrompts } from "./open-prompts.ts";
import {
  modelsWithRoom,
  needsCount,
  outputTokensFor,
  outputTokensMax,
  type PromptLength,
} from "./output-limit.ts";
import type { ChatProvider, ChatRequest } from "./protocols/provider.ts";
import type { PieceTokens } from "./tokens/piece-tokens.ts";
import { ESTIMATED_BYTES_MAX, type TokenCounter } from "./tokens/token-counter.ts";
import { templateTokensMax } from "./tokens/tokens.ts";

/** What the chat use cases need. */
export interface ChatCallDeps extends CallDeps {
  readonly chat: ChatProvider;
  readonly tokens: TokenCounter;
  readonly abandoned: AbandonedStreams;
  readonly pieceTokens: PieceTokens;
  readonly prompts: OpenPrompts;
}

export interface ChatCall {
  /** The models that can serve it, best first. Several only if the service chooses the model. */
  readonly models: Models;
  readonly request: ChatRequest;
  readonly stream: boolean;
  /** All models of the catalogue, by id. */
  readonly offered: ReadonlyMap<string, ModelEntry>;
}

/** A call that has its hold. */
export class AdmittedChat {
  constructor(
    readonly hold: Hold,
    /** The models that the hold can pay for, best first. */
    readonly models: Models,
    readonly request: ChatRequest,
    readonly length: PromptLength,
  ) {}

  /** The request that is sent to this model. */
  requestFor(model: ModelEntry): ChatRequest {
    const { request, length } = this;
    if (request.hasDefaultLimit !== true) return request;
    return { ...request, maxTokens: outputTokensFor(model, request, length) };
  }
}

/** The most models to ask for one request, because the caller waits for each of them. */
const MODELS_ASKED_MAX = 3;
/** The tokenizer of a model may count up to this factor more tokens than ours. */
const TOKENIZER_MARGIN = 1.3;

/** The first attempt of a call, to be passed to `admitChat` with its answer. */
export interface AskedChat {
  readonly chat: ChatCall;
  /** The bound of the prompt in bytes. */
  readonly looseTokens: number;
  readonly plan: Plan;
  readonly terms: CallTerms;
  readonly answer: Promise<Admission>;
}

/** Asks for admission. Who calls this waits for the answer itself (D-541). */
export function askToAdmit(
  deps: ChatCallDeps,
  call: Call,
  chat: ChatCall,
  looseTokens: number,
): AskedChat {
  const plan = planOf(chat.models, chat.request, looseTokens, outputTokensMax);
  const terms = termsOf(chat, plan);
  const answer = askForAdmission(deps, call, terms, { tentative: true });
  return { chat, looseTokens, plan, terms, answer };
}

/**
 * Admits a chat call by the answer to its first attempt, or throws the refusal. If money is
 * missing, the message says what would fit. No promise if nothing has to be counted.
 */
export function admitChat(
  deps: ChatCallDeps,
  call: Call,
  asked: AskedChat,
  answer: Admission,
): AdmittedChat | Promise<AdmittedChat> {
  const { chat, looseTokens, plan, terms } = asked;
  const { request } = chat;
  const first = decided(deps, call, terms, answer);
  if (first.verdict === "refused") throw first.error;
  if (first.verdict === "short") return admitTightly(deps, call, asked, first.funds);
  const length = promptLength(deps, call, { models: plan.models, request, looseTokens });
  return fitContext(deps, call, request, { hold: first.hold, models: plan.models, length });
}

/** The second attempt, with the tokens of the prompt counted. */
async function admitTightly(
  deps: ChatCallDeps,
  call: Call,
  { chat, looseTokens }: AskedChat,
  funds: Funds,
): Promise<AdmittedChat> {
  const { request, offered } = chat;
  const spendable = await spendableBy(deps, call, chat, funds);
  const length = await countedLength(deps, call, { chat, looseTokens, spendable });
  const promptTokens = length.bound;
  const outputTokens = (model: ModelEntry) => Math.max(1, outputTokensFor(model, request, length));
  const affordable = affordableModels(chat.models, { promptTokens, outputTokens, spendable });
  const tight = planOf(affordable, request, promptTokens, outputTokens);
  const second = await admit(deps, call, termsOf(chat, tight), { counted: true });
  if (second.verdict === "admitted") {
    return fitContext(deps, call, request, { hold: second.hold, models: tight.models, length });
  }
  if (second.verdict === "short") throw new Error("A final admission was answered 'short'");
  if (second.funds === null) throw second.error;
  const { code } = second.error;
  const { spendable: left } = second.funds;
  const { models, bound } = tight;
  const [model] = models;
  if (code === "insufficient_credits" && !model.freeCreditEligible) {
    const { free } = await viewOf(deps, call);
    if (free > ZERO) throw new ApiError(code, freeMessage(model, { bound, left, free }, offered));
  }
  const fitting = affordableOutputTokens(model.bands, promptTokens, left);
  const isByBytes = looseTokens > ESTIMATED_BYTES_MAX;
  throw new ApiError(code, moneyMessage(code, { bound, left, fitting, isByBytes }));
}

/** The models to ask, and the most that any of them can cost. */
interface Plan {
  readonly models: Models;
  readonly bound: NanoUsd;
}

function planOf(
  candidates: Models,
  request: ChatRequest,
  promptTokens: number,
  outputTokens: (model: ModelEntry, request: ChatRequest) => number,
): Plan {
  const models = candidates.length > MODELS_ASKED_MAX ? askedOf(candidates) : candidates;
  let bound = ZERO;
  for (const model of models) {
    const most = upperBound(model.bands, promptTokens, outputTokens(model, request));
    if (most > bound) bound = most;
  }
  return { models, bound };
}

function askedOf([first, ...others]: Models): Models {
  return [first, ...others.slice(0, MODELS_ASKED_MAX - 1)];
}

/** Counts the prompt only if the context of a model may limit the length of the reply. */
function promptLength(
  { tokens }: ChatCallDeps,
  { identity }: Call,
  prompt: {
    readonly models: Models;
    readonly request: ChatRequest;
    readonly looseTokens: number;
  },
): PromptLength | Promise<PromptLength> {
  const { models, request, looseTokens } = prompt;
  if (!needsCount(models, request, looseTokens)) return uncounted(looseTokens);
  const most = Math.max(...models.map(({ contextTokens }) => contextTokens));
  return tokens
    .estimatePrompt(identity.accountId, request, most)
    .then((counted) =>
      counted === null
        ? uncounted(looseTokens)
        : { counted, bound: tightBound(request, counted, looseTokens) },
    );
}

/** Without a count, the bound in bytes is used, and a reply can take at least half of a context. */
function uncounted(looseTokens: number): PromptLength {
  return { counted: 0, bound: looseTokens };
}

interface HeldChat extends Pick<AdmittedChat, "hold" | "models"> {
  readonly length: PromptLength | Promise<PromptLength>;
}

/**
 * Drops models without room for a reply. If none is left, releases the hold and throws. No promise
 * if the length of the prompt is known and there is room.
 */
function fitContext(
  deps: ChatCallDeps,
  call: Call,
  request: ChatRequest,
  held: HeldChat,
): AdmittedChat | Promise<AdmittedChat> {
  const { hold, length } = held;
  if (length instanceof Promise) {
    return length.then(
      (known) => fitContext(deps, call, request, { ...held, length: known }),
      (error) => giveBack(deps, call, hold, error),
    );
  }
  // If the hold contains free credit, only eligible models can be used.
  const models = hold.free === ZERO ? held.models : eligibleOf(held.models);
  try {
    return new AdmittedChat(hold, modelsWithRoom(models, request, length), request, length);
  } catch (error) {
    return giveBack(deps, call, hold, error);
  }
}

/** The first model is the one that the hold was taken for. */
function eligibleOf([first, ...others]: Models): Models {
  return [first, ...others.filter((model) => model.freeCreditEligible)];
}

function termsOf(chat: ChatCall, { models: [first], bound }: Plan): CallTerms {
  return {
    scope: "models",
    service: "models",
    model: first.id,
    priceVersion: priceVersionOf(first.bands),
    bound,
    freeEligible: first.freeCreditEligible,
    stream: chat.stream,
  };
}

type Spendable = (model: ModelEntry) => NanoUsd;

/** What can be held for each model. The refusal has the amount only for the first model. */
async function spendableBy(
  deps: ChatCallDeps,
  call: Call,
  { models }: ChatCall,
  funds: Funds,
): Promise<Spendable> {
  if (models.length === 1) return () => funds.spendable;
  const view = await viewOf(deps, call);
  const eligible = spendableOf(view).amount;
  const other = spendableOf({ ...view, free: ZERO }).amount;
  return (model) => (model.freeCreditEligible ? eligible : other);
}

function viewOf({ accounts }: ChatCallDeps, { identity }: Call): Promise<AccountView> {
  return accounts.of(identity.accountId, identity.bucket).view(identity.keyId);
}

/**
 * Counts the prompt, unless it cannot be counted now (D-170). Counting stops once there are too
 * many tokens to pay for any output.
 */
async function countedLength(
  { tokens }: ChatCallDeps,
  { identity }: Call,
  prompt: {
    readonly chat: ChatCall;
    readonly looseTokens: number;
    readonly spendable: Spendable;
  },
): Promise<PromptLength> {
  const { chat, looseTokens, spendable } = prompt;
  const payable = Math.max(
    ...chat.models.map((model) => affordablePromptTokens(model.bands, spendable(model))),
  );
  const counted = await tokens.estimatePrompt(identity.accountId, chat.request, payable);
  if (counted === null) return uncounted(looseTokens);
  if (counted > payable) return { counted, bound: looseTokens };
  return { counted, bound: tightBound(chat.request, counted, looseTokens) };
}

function tightBound(request: ChatRequest, counted: number, loose: number): number {
  const tight = Math.ceil(counted * TOKENIZER_MARGIN) + templateTokensMax(request);
  return Math.min(loose, tight);
}
