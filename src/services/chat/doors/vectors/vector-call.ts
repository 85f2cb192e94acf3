// The life of a call for embeddings or ranks: hold, answer, bill.

import type { CallTerms, Funds, Hold, Settlement } from "../../../../../actors/account.ts";
import { admit } from "../../../../calls/admission.ts";
import type { Call } from "../../../../calls/call.ts";
import { firstAnswer } from "../../../../calls/first-answer.ts";
import {
  giveBack,
  type ReplyWriter,
  type Settled,
  settleWith,
} from "../../../../calls/settling.ts";
import { ApiError } from "../../../../core/errors.ts";
import {
  affordablePromptTokens,
  PLAIN_REACH,
  type Prices,
  type Reach,
  upperBound,
} from "../../../../core/money/call-cost.ts";
import { type NanoUsd, ZERO } from "../../../../core/money/money.ts";
import { type FeeCounts, SERVED_PLAINLY } from "../../../../core/money/usage.ts";
import type { BodyShare } from "../../../../http/body/body-shares.ts";
import { chargedOutcome, chargeUnanswered } from "../../chat.ts";
import type { ChatCallDeps } from "../../chat-admission.ts";
import { DisconnectGrace } from "../../disconnect-grace.ts";
import type { ModelEntry } from "../../models/catalogue.ts";
import { freeMessage, shortageMessage, TOP_UP_UNDER_WAY } from "../../money-messages.ts";
import type { ChatRequest, ChatUsage, OtherCall } from "../../protocols/provider.ts";
import { costOf, type UsageSource } from "../../served-model.ts";
import type { ReplyUsage } from "../../usage/reply-usage.ts";
import {
  bytesOf,
  type Counting,
  checkItems,
  countInput,
  tightTokensMax,
  tokensMax,
  type VectorInput,
} from "./vector-input.ts";

/** A reply whose form was checked. */
export interface VectorReply<Result> {
  readonly result: Result;
  /** Null if the server names no number. */
  readonly usage: ReplyUsage | null;
}

/** A checked call of one of these doors. */
export interface VectorCall<Result> {
  readonly model: ModelEntry;
  /** All models of the catalogue, by id. */
  readonly offered: ReadonlyMap<string, ModelEntry>;
  readonly asked: OtherCall<VectorReply<Result>>;
  readonly input: VectorInput;
  /** True if the server refuses items that exceed the context, where others cut them. */
  readonly isWhole: boolean;
  /** The fees of a call like this by our own count, and the highest that its server can name. */
  readonly fees: FeeCounts;
  readonly feesMax: FeeCounts;
}

/** The result that was charged, and its usage. */
export interface BilledVectors<Result> {
  readonly result: Result;
  readonly usage: ChatUsage;
}

/** Embeddings and ranks have no messages, and no tier. */
const NO_CHAT: ChatRequest = { messages: [], maxTokens: 0, parameters: {} };

/** A call, and the writer of its reply. */
export interface WrittenVectors<Result>
  extends Required<Pick<ReplyWriter<string>, "saysWhatIsLeft">> {
  readonly vector: VectorCall<Result>;
  readonly write: (billed: BilledVectors<Result>, settlement: Settlement) => string;
}

/**
 * Runs a call. Once a server has accepted the request the call is charged, even if the caller
 * leaves: by the usage that the server reports, or by our own count.
 */
export async function runVectors<Result>(
  deps: ChatCallDeps,
  call: Call,
  { vector, write, saysWhatIsLeft }: WrittenVectors<Result>,
): Promise<Settled<string>> {
  const { model, input } = vector;
  const { accountId: account } = call.identity;
  const counting = { tokens: deps.tokens, account };
  const hold = await takeVectorHold(deps, call, vector);
  const grace = new DisconnectGrace(deps.clock, call.signal);
  const { signal } = grace;
  const priced = { request: NO_CHAT, hold };
  let room: BodyShare | null = null;
  try {
    if (vector.isWhole) await checkItems(counting, input, model);
    room = deps.prompts.take(account, bytesOf(input));
    const options = { account, signal, watch: grace };
    const ask = (one: ModelEntry) => deps.chat.serve(one, vector.asked, options);
    const tried: ModelEntry[] = [];
    const route = await firstAnswer(deps, call, { models: [model], tried, signal, ask });
    const { result, usage: reported } = route.reply;
    const { usage, source } = await billOf(counting, vector, reported);
    const charged = { model, tried, route, usage, source, isContentRefused: false, ...priced };
    const outcome = chargedOutcome(deps, call, charged);
    return await settleWith(
      deps,
      { hold, cost: costOf(model.prices, usage, priced), outcome, call },
      { write: (settlement) => write({ result, usage }, settlement), saysWhatIsLeft },
    );
  } catch (error) {
    if (grace.hasTimedOut) {
      const count = () => ownUsage(counting, vector);
      return await chargeUnanswered(deps, call, { ...priced, model, count });
    }
    return await giveBack(deps, call, { hold, failure: error });
  } finally {
    room?.end();
    grace.close();
  }
}

/**
 * The first attempt has a bound that is cheap to compute; only if the funds do not cover it are the
 * tokens counted (D-682).
 */
async function takeVectorHold<Result>(
  deps: ChatCallDeps,
  call: Call,
  vector: VectorCall<Result>,
): Promise<Hold> {
  const { model, input, feesMax } = vector;
  const reach = { ...PLAIN_REACH, fees: feesMax };
  const terms = termsOf(model, tokensMax(input), reach);
  const first = await admit(deps, call, { ...terms, tentative: true });
  if (first.verdict === "admitted") return first.hold;
  const counting = { tokens: deps.tokens, account: call.identity.accountId };
  const quoted = async () => {
    const check = () => checkItems(counting, input, model);
    if (vector.isWhole) await deps.quote?.checkedAfterHold(check);
  };
  if (first.verdict === "refused") {
    await quoted();
    throw first.error;
  }
  const payable = affordablePromptTokens(model.prices, first.funds.spendable, reach);
  const tight = termsOf(model, await tightTokensMax(counting, input, payable), reach);
  const second = await admit(deps, call, { ...tight, counted: true });
  if (second.verdict === "admitted") return second.hold;
  await quoted();
  if (second.verdict === "short") throw new Error("A final admission was answered 'short'");
  if (second.funds === null) throw second.error;
  throw await shortOfMoney(deps, call, {
    vector,
    refusal: second.error,
    bound: tight.bound,
    funds: second.funds,
  });
}

function termsOf(model: ModelEntry, promptTokens: number, reach: Reach): CallTerms {
  const { id, prices, freeCreditEligible: freeEligible } = model;
  return {
    scope: "models",
    service: "models",
    model: id,
    priceVersion: prices.version,
    bound: upperBound(prices, { promptTokens, outputTokens: 0 }, reach),
    tokens: promptTokens,
    freeEligible,
    stream: false,
  };
}

interface Shortage {
  readonly vector: Pick<VectorCall<unknown>, "model" | "offered">;
  readonly refusal: ApiError;
  readonly bound: NanoUsd;
  readonly funds: Funds;
}

async function shortOfMoney(
  deps: ChatCallDeps,
  call: Call,
  { vector: { model, offered }, refusal, bound, funds }: Shortage,
): Promise<ApiError> {
  const { code, retryAfterSeconds } = refusal;
  const { accountId, bucket, keyId } = call.identity;
  if (code === "insufficient_credits" && !model.freeCreditEligible) {
    const { free } = await deps.accounts.of(accountId, bucket).view(keyId);
    if (free > ZERO) {
      return new ApiError(
        code,
        freeMessage(model, { bound, left: funds.spendable, free }, offered),
      );
    }
  }
  const message = shortageMessage({ bound, funds });
  if (retryAfterSeconds === undefined) return new ApiError(code, message);
  return new ApiError(code, `${message}. ${TOP_UP_UNDER_WAY}`, { retryAfterSeconds });
}

interface Bill {
  readonly usage: ChatUsage;
  readonly source: UsageSource;
}

/**
 * The usage to charge: the server's, unless it names none, contradicts itself, or exceeds the bound
 * of the input.
 */
async function billOf<Result>(
  counting: Counting,
  vector: VectorCall<Result>,
  reported: ReplyUsage | null,
): Promise<Bill> {
  const { model, input, feesMax } = vector;
  const [piece] = reported?.pieces ?? [];
  const promptTokens = piece?.usage.promptTokens ?? 0;
  const units = reported?.fees.search_unit?.calls ?? 0;
  const isWrong =
    reported?.isContradictory === true ||
    promptTokens > tokensMax(input) ||
    units > (feesMax.search_unit?.calls ?? 0);
  if (isWrong) return { usage: await ownUsage(counting, vector), source: "contradicted" };
  // A server that bills by search names no tokens, and others name no searches.
  const lacksTokens = promptTokens === 0 && isByTokens(model.prices);
  const lacksUnits = units === 0 && isPriced("search_unit", model.prices);
  const tokens = lacksTokens ? await countInput(counting, input) : promptTokens;
  const fees = units === 0 ? vector.fees : { ...vector.fees, search_unit: feeCount(units) };
  const source = lacksTokens || lacksUnits ? "counted" : undefined;
  return { usage: usageOf(tokens, feesIn(model, fees)), source };
}

async function ownUsage<Result>(
  counting: Counting,
  { model, input, fees }: VectorCall<Result>,
): Promise<ChatUsage> {
  return usageOf(await countInput(counting, input), feesIn(model, fees));
}

function usageOf(promptTokens: number, fees: Pick<ChatUsage, "fees">): ChatUsage {
  return { promptTokens, cachedTokens: 0, completionTokens: 0, served: SERVED_PLAINLY, ...fees };
}

/** The fees that the model has a price for, for bill and log. */
function feesIn({ prices }: ModelEntry, counts: FeeCounts): Pick<ChatUsage, "fees"> {
  const priced = Object.entries(counts).filter(([name]) => isPriced(name, prices));
  return priced.length === 0 ? {} : { fees: Object.fromEntries(priced) };
}

export function feeCount(count: number): { readonly calls: number; readonly queries: number } {
  return { calls: count, queries: count };
}

function isPriced(fee: string, { rows }: Prices): boolean {
  return rows.some(({ fees }) => Object.hasOwn(fees ?? {}, fee));
}

function isByTokens({ rows }: Prices): boolean {
  return rows.some(({ input }) => input > 0n);
}
