// Runs a search from admission to settlement: it admits with the upper bound, asks the providers,
// and settles to the results.

import type { CallTerms, Outcome } from "../../../actors/account.ts";
import { Admission, takeHold } from "../../calls/admission.ts";
import { type Call, type CallDeps, outcomeOf } from "../../calls/call.ts";
import { CallerWatch } from "../../calls/caller-watch.ts";
import { waitForProvider } from "../../calls/first-answer.ts";
import { clientLeft, giveBack, type Settled, settleWith } from "../../calls/settling.ts";
import { SEARCH, TIERS } from "../../core/access/limits.ts";
import { ApiError, DISCONNECTED, OK, toApiError } from "../../core/errors.ts";
import { charge, type NanoUsd, type PicoUsd, subtract, ZERO } from "../../core/money/money.ts";
import { priceVersionOfUnit } from "../../core/money/price-version.ts";
import type { Paid } from "../../http/svc.ts";
import type { SearchProvider, SearchReply, SearchRequest } from "./providers/provider.ts";

/** The dependencies of the search use cases. */
export interface SearchCallDeps extends CallDeps {
  readonly search: SearchProvider;
}

/** The terms of every search request to an account; free credit never pays for it (SPEC 8.7.2). */
export const SEARCH_TERMS = {
  scope: "search",
  service: "search",
  model: null,
  freeEligible: false,
  stream: false,
} as const satisfies Partial<CallTerms>;

/** The result of one query: its results and their cost, or the error that stopped it. */
export type QueryResult =
  | { readonly reply: SearchReply; readonly cost: NanoUsd }
  | { readonly error: ApiError };

/** One query, with its price and the function that writes its reply. */
export interface OneSearch {
  readonly request: SearchRequest;
  readonly pricePerResult: PicoUsd;
  /** Writes a reply for the caller. */
  readonly write: (reply: SearchReply, paid: Paid) => string;
}

/** Several queries, with their price and the function that writes their reply. */
export interface SearchBatch {
  readonly requests: readonly SearchRequest[];
  readonly pricePerResult: PicoUsd;
  readonly write: (found: readonly QueryResult[]) => string;
}

/**
 * Runs one query. Zero results cost nothing. If the caller disconnects before the results are
 * there, the call costs nothing; after that it is charged, delivered or not.
 */
export async function searchOnce(
  deps: SearchCallDeps,
  call: Call,
  { request, pricePerResult, write }: OneSearch,
): Promise<Settled<string>> {
  const { maxResults } = request;
  const bound = charge([[maxResults, pricePerResult]]);
  const admission = new Admission(deps, call, {
    ...SEARCH_TERMS,
    bound,
    priceVersion: priceVersionOfUnit(pricePerResult),
  });
  const hold = admission.holdOf(await admission.asked);
  const caller = new CallerWatch(deps.clock, call.signal);
  try {
    const options = { account: call.identity.accountId, signal: caller, watch: caller };
    const reply = await waitForProvider(deps, call, () => deps.search.search(request, options));
    if (call.signal.aborted) throw clientLeft();
    const { results, provider, buying } = reply;
    const isFull = results.length === maxResults;
    const cost = isFull ? bound : charge([[results.length, pricePerResult]]);
    const outcome = {
      ...outcomeOf(deps, call, { status: OK, errorCode: null }),
      lane: provider,
      upstreamCost: buying === undefined ? undefined : charge([[1, buying]]),
    };
    return await settleWith(
      deps,
      { hold, cost, outcome, call },
      { write: (paid) => write(reply, paid) },
    );
  } catch (error) {
    return await giveBack(deps, call, { hold, failure: error });
  } finally {
    caller.close();
  }
}

/**
 * Runs several queries under one hold, a few at a time, with the replies in their order. A query
 * that fails costs nothing and does not affect the others. The costs add up exactly to the charge.
 * If the caller disconnects, the queries answered by then are charged.
 */
export async function searchBatch(
  deps: SearchCallDeps,
  call: Call,
  { requests, pricePerResult, write }: SearchBatch,
): Promise<Settled<string>> {
  const resultsMax = requests.reduce((sum, { maxResults }) => sum + maxResults, 0);
  const hold = await takeHold(deps, call, {
    ...SEARCH_TERMS,
    bound: charge([[resultsMax, pricePerResult]]),
    priceVersion: priceVersionOfUnit(pricePerResult),
  });
  let settled: Settled<string>;
  try {
    const replies = await waitForProvider(deps, call, () => askAll(deps, call, requests));
    const { found, cost } = foundIn(replies, pricePerResult);
    const answered = replies.flatMap((reply) => (reply instanceof ApiError ? [] : [reply]));
    const { status, code: errorCode } = DISCONNECTED;
    const end = call.signal.aborted ? { status, errorCode } : { status: OK, errorCode: null };
    const outcome = {
      ...outcomeOf(deps, call, end),
      requests: requests.length,
      ...lanesOf(answered),
      ...upstreamCost(answered),
    };
    settled = await settleWith(deps, { hold, cost, outcome }, { write: () => write(found) });
  } catch (error) {
    return await giveBack(deps, call, { hold, failure: error });
  }
  if (call.signal.aborted) throw clientLeft();
  return settled;
}

/**
 * The results of all replies, and their cost: each part to the digit, and their sum in one charge.
 */
function foundIn(replies: readonly (SearchReply | ApiError)[], pricePerResult: PicoUsd) {
  let results = 0;
  let cost = ZERO;
  const found = replies.map((reply): QueryResult => {
    if (reply instanceof ApiError) return { error: reply };
    results += reply.results.length;
    const before = cost;
    cost = charge([[results, pricePerResult]]);
    return { reply, cost: subtract(cost, before) };
  });
  return { found, cost };
}

/** The providers that served a batch. */
export function lanesOf(replies: readonly SearchReply[]): { readonly lane?: string } {
  const providers = replies.map(({ provider }) => provider);
  return providers.length === 0 ? {} : { lane: [...new Set(providers)].join(",") };
}

/**
 * The price that the operator pays for the queries; unknown if the price of any query is unknown.
 */
export function upstreamCost(replies: readonly SearchReply[]): Pick<Outcome, "upstreamCost"> {
  const prices = replies.flatMap(({ buying }) => buying ?? []);
  if (prices.length === 0 || prices.length < replies.length) return {};
  return { upstreamCost: charge(prices.map((price) => [1, price])) };
}

/**
 * Throws `batch_too_large` if the batch is too large for the account's tier. The tier is read only
 * if it matters: every tier with search allows the smallest size.
 */
export async function checkBatchSize(
  deps: SearchCallDeps,
  call: Call,
  size: number,
): Promise<void> {
  const sizes = TIERS.map((tier) => tier.batchSearches).filter((most) => most > 0);
  if (size <= Math.min(...sizes)) return;
  const { accountId, bucket, keyId } = call.identity;
  const { tier } = await deps.accounts.of(accountId, bucket).view(keyId);
  if (size <= tier.batchSearches) return;
  const most = `The ${tier.name} tier takes at most ${tier.batchSearches} searches in a batch`;
  throw new ApiError("batch_too_large", `${most}, and this one has ${size}`);
}

async function askAll(
  deps: SearchCallDeps,
  call: Call,
  requests: readonly SearchRequest[],
): Promise<(SearchReply | ApiError)[]> {
  const replies: (SearchReply | ApiError)[] = requests.map(() => clientLeft());
  const left = requests.entries();
  const work = async () => {
    for (const [index, request] of left) {
      if (call.signal.aborted) return;
      const options = { account: call.identity.accountId, signal: call.signal };
      // An error that the search throws at once also concerns only this query.
      try {
        replies[index] = await deps.search.search(request, options);
      } catch (error) {
        replies[index] = reported(deps, call, error);
      }
    }
  };
  await Promise.all(Array.from({ length: SEARCH.batchAtOnce }, work));
  return replies;
}

/** The error of one query of a batch, for the caller; its cause is only logged. */
function reported(deps: SearchCallDeps, { requestId, signal }: Call, thrown: unknown): ApiError {
  const error = toApiError(thrown);
  if (error.cause !== undefined && !signal.aborted) {
    const { code, cause: err } = error;
    deps.log.error({ requestId, code, err }, "A query of a batch failed");
  }
  return error;
}
