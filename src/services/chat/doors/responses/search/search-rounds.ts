// The rounds of a response with searches. Each round is a chat call of its own, with its own hold
// and settlement; all searches together are one more call (D-870, D-871).

import type { Settlement, WholeResponse } from "../../../../../../actors/account.ts";
import type { Call } from "../../../../../calls/call.ts";
import { clientLeft } from "../../../../../calls/settling.ts";
import type { OpenToolSearch } from "../../../../../calls/tool-search.ts";
import { leftOf } from "../../../../../core/access/budgets.ts";
import { CHAT } from "../../../../../core/access/limits.ts";
import { ApiError, toApiError } from "../../../../../core/errors.ts";
import { newTimedId } from "../../../../../core/ids.ts";
import {
  add,
  dollars,
  type NanoUsd,
  toDecimal,
  toJsonNumber,
  ZERO,
} from "../../../../../core/money/money.ts";
import { sumOfUsages } from "../../../../../core/money/usage.ts";
import type { ChatCall } from "../../../chat-admission.ts";
import { REPLY_MS } from "../../../disconnect-grace.ts";
import { USEFUL_TOKENS } from "../../../max-cost.ts";
import { REPLY_TIMEOUT_MAX_MS } from "../../../models/catalogue.ts";
import type { ChatUsage, ToolCall } from "../../../protocols/provider.ts";
import type { EndedStream } from "../../../stream-event.ts";
import { TOO_LONG } from "../../../stream-interruptions.ts";
import type { ChatContext } from "../../completions/answer-chat.ts";
import { isPaused } from "../../completions/chat-request.ts";
import { afterOthers } from "./later-tries.ts";
import { nextRequest, withoutSearch } from "./next-request.ts";
import type { RoundReply } from "./round-reply.ts";
import type { SearchPlan } from "./search-plan.ts";
import { failed, found, NO_SEARCH, queryIn, SEARCH_NAME, type Searched } from "./search-words.ts";

/** One of the calls that make up a response, as its `svc` lists them. */
export interface PaidCall {
  readonly request_id: string;
  readonly service: "models" | "search";
  readonly cost_usd: object | number;
  /** The receipt of the call, for a caller who asked for receipts. */
  readonly receipt?: string | null;
}

/**
 * The rounds of a response besides one for each search: one in which the model learns that it must
 * answer, and one for the answer.
 */
const ROUNDS_BESIDES = 2;
/** The longest times that a response takes, with a margin for waits and settlements (D-945). */
const STREAM_MS = CHAT.streamMaxMs + 5 * 60_000;
/** The last round of a whole response may begin at the end of the 15 minutes. */
const WHOLE_MS = STREAM_MS + REPLY_TIMEOUT_MAX_MS;
/** Refusals for the idempotency key. Then another request has it, or none may have it. */
const KEY_REFUSALS: ReadonlySet<string> = new Set([
  "idempotency_key_mismatch",
  "idempotency_in_progress",
  "idempotency_already_charged",
  "too_many_idempotency_keys",
]);

/** Makes the calls of the rounds, and the searches between them. */
export class SearchRounds {
  readonly plan: SearchPlan;
  readonly #context: ChatContext;
  readonly #leaving = new AbortController();
  /** Aborted once the caller has left and no repeat of the request can use the answer. */
  readonly signal: AbortSignal;
  /** Set if the caller may repeat the request: all calls share its idempotency key. */
  readonly #whole: WholeResponse | null;
  /**
   * True if the response continues for a while after the caller has left, because a repeat of the
   * request can find its answer.
   */
  readonly #hasGrace: boolean;
  #callOff: (() => void) | null = null;
  /** The end of the time that all rounds share. */
  readonly #endsMs: number;
  readonly #ended: (EndedStream & { readonly requestId: string })[] = [];
  readonly #ofSearch: Call[] = [];
  #left: number;
  #chat: ChatCall;
  #call: Call;
  #searches: OpenToolSearch | null = null;
  #searchPaid: Settlement | null = null;
  /** The newest settlement, which says what is left of the balance. */
  #newest: Settlement | null = null;
  #hasEnded = false;
  /** The receipts of all calls, by request; null unless the caller asked for them. */
  readonly #receipts: Map<string, string | null> | null;
  /** The reason why no search was made although the model asked for one. */
  #refusal: ApiError | null = null;

  constructor(context: ChatContext, plan: SearchPlan, chat: ChatCall) {
    const { call } = context;
    this.#context = context;
    this.plan = plan;
    this.#left = plan.searches.most;
    this.#chat = chat;
    this.#call = call;
    this.#whole = wholeOf(context, chat.stream ? STREAM_MS : WHOLE_MS);
    if (this.#whole !== null) call.partOf = this.#whole;
    this.#receipts = call.wantsReceipt ? new Map() : null;
    // No round waits for its receipt before the next one.
    call.wantsReceipt = false;
    this.signal = this.#leaving.signal;
    this.#hasGrace = this.#whole !== null && !chat.stream;
    if (!this.#hasGrace) this.signal = AbortSignal.any([call.signal, this.signal]);
    else whenAborted(call.signal, () => this.#leaveLater());
    this.#endsMs = context.deps.calls.clock.monotonicMs() + CHAT.streamMaxMs;
    if (chat.stream) call.endsAtMs = this.#endsMs;
  }

  /** The call of the current round, and its request. */
  get current(): { readonly call: Call; readonly chat: ChatCall } {
    return { call: this.#call, chat: this.#chat };
  }

  get isFirst(): boolean {
    return this.#ended.length === 0;
  }

  get hasLeft(): boolean {
    return this.signal.aborted;
  }

  /** The reason why no search was made; empty if none was refused. */
  get ignored(): readonly string[] {
    return this.#refusal === null ? [] : [`tools: ${SEARCH_NAME} (${this.#refusal.message})`];
  }

  /** All calls until now. */
  get calls(): readonly PaidCall[] {
    const calls: PaidCall[] = this.#ended.map(({ requestId, settlement }) => ({
      request_id: requestId,
      service: "models",
      cost_usd: toJsonNumber(settlement.charged),
    }));
    if (this.#searches !== null && this.#searchPaid !== null) {
      const cost_usd = toJsonNumber(this.#searchPaid.charged);
      calls.push({ request_id: this.#searches.requestId, service: "search", cost_usd });
    }
    const receipts = this.#receipts;
    if (receipts === null) return calls;
    return calls.map((one) => ({ ...one, receipt: receipts.get(one.request_id) ?? null }));
  }

  /** The sums of all rounds that ended, and of the searches if they did. */
  get total(): EndedStream {
    const paid = [...this.#ended.map(({ settlement }) => settlement), this.#searchPaid];
    const settlements = paid.filter((one) => one !== null);
    const usages = this.#ended.map(({ usage }) => usage);
    const last = this.#ended.at(-1)?.settlement;
    return {
      usage: { ...sumOfUsages(usages), outputDetails: { reasoning_tokens: thoughtsIn(usages) } },
      settlement: {
        charged: add(...settlements.map(({ charged }) => charged)),
        free: add(...settlements.map(({ free }) => free)),
        left: this.#newest?.left ?? null,
        ownedPaid: this.#newest?.ownedPaid ?? null,
        ...(last?.stoppedBy !== undefined && { stoppedBy: last.stoppedBy }),
      },
    };
  }

  /** The current round has ended. */
  ended(round: EndedStream): void {
    this.#ended.push({ ...round, requestId: this.#call.requestId });
    this.#newest = round.settlement;
    if (this.#whole !== null && round.settlement.charged > ZERO) this.#whole.isCharged = true;
    if (this.#call !== this.#context.call) {
      this.#context.call.upstreamMs += this.#call.upstreamMs;
    }
  }

  /** Makes a search. The result of a failed one has the words for the model. */
  async search({ function: { arguments: args } }: ToolCall): Promise<Searched> {
    const query = queryIn(args);
    if (query === null) return failed("", "the arguments must be JSON with the text query");
    if (this.#left === 0) return failed(query, "no further search is allowed; answer without");
    this.#left -= 1;
    const searches = await this.#open();
    if (searches instanceof ApiError) return failed(query, NO_SEARCH);
    try {
      return found(query, await searches.find(query));
    } catch (thrown) {
      if (this.hasLeft) throw thrown;
      const { deps, call } = this.#context;
      const { code, cause: err } = toApiError(thrown);
      deps.calls.log.warn({ requestId: call.requestId, code, err }, "A search of a model failed");
      return failed(query, NO_SEARCH);
    }
  }

  /** True if the model reads these searches in one more round. */
  isContinued(reply: RoundReply): boolean {
    if (reply.searches.length === 0 || reply.hasOtherCalls) return false;
    // A model may go on asking for searches that it is not allowed.
    return this.#hasOutputLeft && this.#ended.length < this.#roundsMax;
  }

  /** True if the output limit leaves no answer to these searches, which are then not made. */
  isCut(reply: RoundReply): boolean {
    return reply.searches.length > 0 && !reply.hasOtherCalls && !this.#hasOutputLeft;
  }

  /** Begins the next round, in which the model reads the results. */
  async next(reply: RoundReply, results: readonly Searched[]): Promise<void> {
    const isLast = this.#ended.length + 1 >= this.#roundsMax;
    const isUsedUp = this.#left === 0 || this.#refusal !== null || isLast;
    // Charging the searches now frees the unused part of their hold for the round (D-875).
    if (isUsedUp) await this.#endSearches();
    this.again();
    const request = nextRequest(this.#chat.request, reply, results);
    const { max_output_tokens: most } = this.plan.fields;
    this.#chat = {
      ...this.#chat,
      request: {
        ...(isUsedUp ? withoutSearch(request) : request),
        maxTokens: most ? this.#outputLeft : request.maxTokens,
      },
    };
  }

  /**
   * Gives the current round a new call, for another try. Throws if a call is now forbidden: the
   * time is over, the caller has left, or the model is paused.
   */
  again(): void {
    this.#checkTime();
    this.#checkPauses();
    this.#call = this.#newCall(this.#maxCostLeft);
  }

  /** Runs a call, which waits while other calls of the same caller leave no place for it. */
  async afterOthers<Result>(
    run: () => Promise<Result>,
    again = () => this.again(),
  ): Promise<Result> {
    // The first call is refused as any other request is.
    if (this.isFirst) return await run();
    const { clock } = this.#context.deps.calls;
    return await afterOthers(run, { clock, signal: this.signal, again });
  }

  /**
   * The error that ends the response. Its message names the cap that the caller set, not the part
   * of the cap that was left for the round.
   */
  reasonOf(thrown: unknown): ApiError {
    const error = toApiError(thrown);
    const { maxCost } = this.#context.call;
    if (error.code !== "max_cost_exceeded" || this.isFirst || maxCost === null) return error;
    const left = toDecimal(this.#maxCostLeft ?? ZERO);
    const cap = `The ${dollars(maxCost)} of x-svc-max-cost-usd`;
    return new ApiError(error.code, `${cap} leave $${left} for a further round: too little`);
  }

  /** The current request has this output limit. */
  limit(tokens: number): ChatCall {
    this.#chat = { ...this.#chat, request: { ...this.#chat.request, maxTokens: tokens } };
    return this.#chat;
  }

  /** The caller is gone: no further call begins. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Charges the searches. Every response calls this once no more search can follow. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#callOff?.();
    await this.#endSearches();
    await this.#endClaim();
    await this.#addReceipts();
  }

  /** Charges the searches. No further one is made. */
  async #endSearches(): Promise<void> {
    this.#left = 0;
    if (this.#searches === null || this.#searchPaid !== null) return;
    this.#searchPaid = await this.#searches.end();
    this.#newest = this.#searchPaid;
    for (const call of this.#ofSearch) this.#context.call.upstreamMs += call.upstreamMs;
    this.#ofSearch.length = 0;
  }

  async #addReceipts(): Promise<void> {
    const receipts = this.#receipts;
    const { deps, call } = this.#context;
    if (receipts === null) return;
    const { identity } = call;
    const { signal } = this;
    const adding = this.calls.map(async ({ request_id: requestId }) => {
      const receipt = await deps.calls.receipts?.whenFinal({ requestId, identity, signal });
      receipts.set(requestId, receipt ?? null);
    });
    await Promise.all(adding);
  }

  /**
   * Ends the claim of the idempotency key: a repeat of the request then gets the error that the
   * response was charged.
   */
  async #endClaim(): Promise<void> {
    const whole = this.#whole;
    const { deps, call } = this.#context;
    if (whole === null || whole.untilMs === 0) return;
    whole.untilMs = 0;
    const { accountId, bucket } = call.identity;
    try {
      await deps.calls.accounts.of(accountId, bucket).endResponse(whole, call.markers ?? []);
    } catch (err) {
      // The time of the response ends the claim, too.
      deps.calls.log.warn({ requestId: call.requestId, err }, "A response was not marked as ended");
    }
  }

  /**
   * Leaves the response only after a grace period, so that a caller who repeats the request finds
   * its answer.
   */
  #leaveLater(): void {
    if (this.#hasEnded) return;
    this.#callOff = this.#context.deps.calls.clock.after(REPLY_MS, () => this.leave());
  }

  async #open(): Promise<OpenToolSearch | ApiError> {
    this.#refusal ??= this.#refusalNow();
    if (this.#refusal !== null) return this.#refusal;
    if (this.#searches !== null) return this.#searches;
    try {
      this.#searches = await this.afterOthers(
        () => this.#take(),
        () => this.#checkSearch(),
      );
      // The caller left while the hold was taken.
      if (this.#hasEnded) await this.end();
      return this.#searches;
    } catch (error) {
      if (this.hasLeft) throw error;
      this.#refusal = toApiError(error);
      if (KEY_REFUSALS.has(this.#refusal.code)) throw this.#refusal;
      return this.#refusal;
    }
  }

  /** Takes the hold of the searches. */
  async #take(): Promise<OpenToolSearch> {
    const call = this.#newCall(null);
    const searches = await this.plan.searches.open(this.#context.deps.calls, call);
    this.#ofSearch.push(call);
    return searches;
  }

  /** Throws the refusal if a search is forbidden by now. */
  #checkSearch(): void {
    this.#checkTime();
    const refusal = this.#refusalNow();
    if (refusal !== null) throw refusal;
  }

  /** Throws if nobody waits for the response any more, or if its time is over. */
  #checkTime(): void {
    if (this.hasLeft) throw clientLeft();
    if (this.#context.deps.calls.clock.monotonicMs() >= this.#endsMs) throw TOO_LONG.error;
  }

  /** The reason why no further search is possible; null if one is (D-871). */
  #refusalNow(): ApiError | null {
    const { deps, call } = this.#context;
    if (deps.pauses.isPaused("search")) {
      return new ApiError("search_unavailable", "Search is paused");
    }
    const left = this.#maxCostLeft;
    const last = this.#ended.at(-1)?.settlement.charged ?? ZERO;
    const { bound } = this.plan.searches;
    // The answer probably costs as much as the round before.
    if (this.#searches !== null || left === null || add(bound, last) <= left) return null;
    const cap = `The ${dollars(call.maxCost ?? ZERO)} of x-svc-max-cost-usd`;
    const message = `${cap} leave ${dollars(left)}, too little for searches and an answer`;
    return new ApiError("max_cost_exceeded", message);
  }

  #checkPauses(): void {
    const { pauses } = this.#context.deps;
    const [model] = this.#chat.models;
    if (!this.#chat.models.every(({ id }) => isPaused(pauses, id))) return;
    throw new ApiError("model_unavailable", `The model ${model.id} is paused`);
  }

  get #roundsMax(): number {
    return this.plan.searches.most + ROUNDS_BESIDES;
  }

  /** A new call of the same caller, with an id of its own in the log. */
  #newCall(maxCost: NanoUsd | null): Call {
    const { deps, call } = this.#context;
    const { clock } = deps.calls;
    return {
      ...call,
      requestId: newTimedId("request", deps.random, clock.now()),
      arrivedMs: clock.monotonicMs(),
      signal: this.signal,
      upstreamFromMs: null,
      upstreamMs: 0,
      maxCost,
      ahead: null,
      // `signal` aborts only after the grace period, so no call adds another one.
      ...(this.#hasGrace && { graceMs: 0 }),
    };
  }

  get #maxCostLeft(): NanoUsd | null {
    const { maxCost } = this.#context.call;
    if (maxCost === null) return null;
    const charged = this.#ended.map(({ settlement }) => settlement.charged);
    const held = this.#searches === null ? ZERO : this.plan.searches.bound;
    const ofSearches = this.#searchPaid?.charged ?? held;
    return leftOf({ amount: maxCost }, { spent: add(...charged), held: ofSearches });
  }

  get #hasOutputLeft(): boolean {
    const { max_output_tokens: most } = this.plan.fields;
    return this.#outputLeft >= Math.min(USEFUL_TOKENS, most ?? USEFUL_TOKENS);
  }

  get #outputLeft(): number {
    const { max_output_tokens: most } = this.plan.fields;
    if (!most) return Number.POSITIVE_INFINITY;
    return this.#ended.reduce((left, { usage }) => left - usage.completionTokens, most);
  }
}

/** The response as its calls name it; null without an idempotency key. */
function wholeOf({ deps, call }: ChatContext, lastsMs: number): WholeResponse | null {
  if (call.markers === null) return null;
  return { requestId: call.requestId, untilMs: deps.calls.clock.now() + lastsMs };
}

function whenAborted(signal: AbortSignal, then: () => void): void {
  if (signal.aborted) then();
  else signal.addEventListener("abort", then, { once: true });
}

function thoughtsIn(usages: readonly ChatUsage[]): number {
  return usages.reduce((sum, { outputDetails }) => sum + (outputDetails?.reasoning_tokens ?? 0), 0);
}
