// Handles requests that need no key. With a valid key, a request counts in the window of the key,
// not in that of its address, which many callers may share.

import type { CallTerms, RateLimits } from "../../actors/account.ts";
import { admit } from "../calls/admission.ts";
import { type Call, NO_COST, outcomeOf } from "../calls/call.ts";
import { release } from "../calls/settling.ts";
import { ApiError, OK } from "../core/errors.ts";
import { type FrameDeps, forgetKey, identify, type RequestContext } from "./frame.ts";

const ANSWERED = { status: OK, code: null } as const;

/** The name of the endpoint in the log. */
export interface OpenRequest {
  readonly endpoint: string;
  readonly service: CallTerms["service"];
  /** The error of the request, if it is refused whoever sends it. */
  readonly refusal: ApiError | null;
  /**
   * The answer to a key that may call only these models; omitted if every caller gets the same
   * answer.
   */
  readonly answerTo?: (models: readonly string[]) => string | ApiError;
}

export interface KeyedCount {
  readonly rate: RateLimits;
  /** The refusal, if the window is full. */
  readonly tooMany: ApiError | null;
  /** The answer to this key; null if every caller gets the same answer. */
  readonly own: string | ApiError | null;
}

/**
 * Counts and logs a request by its key. Only a full window refuses it; a debt or the state of the
 * account does not. Null if there is no valid key, or if the account cannot be read.
 */
export async function countByKey(
  deps: FrameDeps,
  arrival: RequestContext,
  request: OpenRequest,
): Promise<KeyedCount | null> {
  try {
    const call = await identify(deps, arrival, request.endpoint);
    return await count(deps, call, request);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "invalid_api_key") forgetKey(deps, arrival);
    if (error.code === "service_unavailable") {
      const { requestId } = arrival;
      deps.calls.log.warn({ requestId, err: error }, "A request was not counted by its key");
    }
    return null;
  }
}

async function count(
  deps: FrameDeps,
  call: Call,
  { service, refusal, answerTo }: OpenRequest,
): Promise<KeyedCount | null> {
  const terms = { scope: null, service, model: null, ...NO_COST, isOpen: true } as const;
  const decision = await admit(deps.calls, call, { ...terms, refusal: refusal ?? undefined });
  if (decision.verdict === "short") throw new Error("A request that costs nothing is 'short'");
  if (decision.verdict === "admitted") {
    const { hold, rate, models } = decision;
    const own = models === null ? null : (answerTo?.(models) ?? null);
    const { status, code: errorCode } = own instanceof ApiError ? own : ANSWERED;
    await release(deps.calls, hold, outcomeOf(deps.calls, call, { status, errorCode }));
    return { rate, tooMany: null, own };
  }
  const { error, rate } = decision;
  // The key was revoked a moment ago, is disabled or has ended: its caller counts by address.
  if (error.code === "invalid_api_key") return null;
  return { rate, tooMany: error.code === "rate_limit_exceeded" ? error : null, own: null };
}
