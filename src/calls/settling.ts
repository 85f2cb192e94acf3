// Ends a hold. A failure of Redis is logged and does not change the caller's reply.

import type { Hold, Outcome, Settlement } from "../../actors/account.ts";
import { ApiError, DISCONNECTED, toApiError } from "../core/errors.ts";
import { type NanoUsd, ZERO } from "../core/money/money.ts";
import { type Call, type CallDeps, outcomeOf } from "./call.ts";

export interface SettleRequest {
  readonly hold: Hold;
  readonly cost: NanoUsd;
  readonly outcome: Outcome;
  /** The call, if its reply can have a receipt. */
  readonly call?: Call;
}

/**
 * Settles a hold. If Redis is away, Postgres keeps the settlement, this process and the workers
 * retry the delivery, and the caller receives this cost in any case (D-614). If Postgres is away
 * too and this process dies, the settlement is lost: the sweep then settles the hold to its last
 * checkpoint.
 */
export function settle(deps: CallDeps, request: SettleRequest): Promise<Settlement> {
  const settling = request.hold.settle(request.cost, request.outcome);
  const settled = deps.tracer === undefined ? settling : traced(deps, request, settling);
  const { call } = request;
  return call?.wantsReceipt === true ? withReceipt(deps, call, settled) : settled;
}

/** The settlement with the receipt of the call, which no longer holds anything (D-960). */
async function withReceipt(
  { receipts }: CallDeps,
  call: Call,
  settled: Promise<Settlement>,
): Promise<Settlement> {
  const settlement = await settled;
  return { ...settlement, receipt: (await receipts?.whenFinal(call)) ?? null };
}

async function traced(
  deps: CallDeps,
  request: SettleRequest,
  settling: Promise<Settlement>,
): Promise<Settlement> {
  const settlement = await settling;
  trace(deps, request, settlement.charged);
  return settlement;
}

/** The caller's part of a settled call. */
export interface Settled<Reply> {
  readonly reply: Reply;
  readonly charged: NanoUsd;
}

/** Writes a reply for the caller. */
export interface ReplyWriter<Reply> {
  /** The function may run again, if the call is settled otherwise than expected. */
  readonly write: (settlement: Settlement) => Reply;
  /** True if the reply contains the remaining balance, which only the settlement returns. */
  readonly saysWhatIsLeft?: boolean;
}

/**
 * Settles a hold and writes the reply. The reply is written before the call is charged, because a
 * reply that cannot be written must cost nothing, and because the settlement is waited for (D-541).
 */
export async function settleWith<Reply>(
  deps: CallDeps,
  request: SettleRequest,
  { write, saysWhatIsLeft = false }: ReplyWriter<Reply>,
): Promise<Settled<Reply>> {
  const expected = request.hold.expected(request.cost);
  const reply = write(expected);
  const settlement = await settle(deps, request);
  const { charged, free, receipt } = settlement;
  const isSame = charged === expected.charged && free === expected.free && receipt === undefined;
  const isExpected = isSame && !saysWhatIsLeft;
  return { reply: isExpected ? reply : write(settlement), charged };
}

function trace(
  { tracer, log }: CallDeps,
  { hold, outcome }: Pick<SettleRequest, "hold" | "outcome">,
  charged: NanoUsd,
): void {
  try {
    tracer?.ended(hold, outcome, charged);
  } catch (error) {
    log.error({ requestId: hold.id, err: error }, "A call could not be traced");
  }
}

/** Gives a hold back whole: nothing is charged. */
export async function release(deps: CallDeps, hold: Hold, outcome: Outcome): Promise<void> {
  await hold.release(outcome);
  trace(deps, { hold, outcome }, ZERO);
}

/** A call that failed after its hold was taken. */
export interface FailedCall {
  readonly hold: Hold;
  readonly failure: unknown;
}

const CONTENT_REFUSED = { isContentRefused: true } as const;

/** Releases the hold of a failed call, and throws the error of the failure. */
export async function giveBack(
  deps: CallDeps,
  call: Call,
  { hold, failure }: FailedCall,
): Promise<never> {
  const hasLeft = call.signal.aborted;
  const error = hasLeft ? clientLeft() : toApiError(failure);
  const end = hasLeft
    ? { status: DISCONNECTED.status, errorCode: DISCONNECTED.code }
    : { status: error.status, errorCode: error.code };
  const outcome = outcomeOf(deps, call, end);
  const isRefused = !hasLeft && error.isContentRefusal;
  await release(deps, hold, isRefused ? { ...outcome, usageDetails: CONTENT_REFUSED } : outcome);
  throw error;
}

/** The error that ends the handling of a request after its caller left; no client receives it. */
export function clientLeft(): ApiError {
  return new ApiError("upstream_unreachable", "The caller left before the answer was there");
}
