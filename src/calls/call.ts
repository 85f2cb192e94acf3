// A call of a key: its terms, and how metrics and traces learn of it.

import type {
  AccountActors,
  Asking,
  AskingCall,
  CallTerms,
  Hold,
  KeyIdentity,
  Outcome,
  RateLimits,
} from "../../actors/account.ts";
import type { ModelPatterns } from "../core/access/key-limits.ts";
import type { Clock } from "../core/clock.ts";
import type { ApiError } from "../core/errors.ts";
import { NOTHING_COUNTED } from "../core/journal/journal.ts";
import type { Log } from "../core/log.ts";
import { type NanoUsd, ZERO } from "../core/money/money.ts";

/** The parts of the program that every use case needs; a service adds its provider. */
export interface CallDeps {
  readonly accounts: AccountActors;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: CallMeter | undefined;
  readonly tracer?: CallTracer | undefined;
  /** Set for a call that is only quoted. */
  readonly quote?: QuoteListener | undefined;
  /** Without this part, no reply has a receipt. */
  readonly receipts?: ReceiptSource | undefined;
}

/** Gives the signed receipts of calls that are settled. */
export interface ReceiptSource {
  /** Waits until the call is final. Null if that takes too long, or the caller is gone. */
  whenFinal(call: Pick<Call, "requestId" | "identity" | "signal">): Promise<string | null>;
}

export interface Call extends AskingCall {
  readonly identity: KeyIdentity;
  /** Monotonic time of arrival. */
  readonly arrivedMs: number;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  /**
   * The time for which a request without streaming goes on after `signal` was aborted; has a
   * default.
   */
  readonly graceMs?: number;
  /** The context of the caller's trace; null if this call is not traced. */
  readonly traceparent: string | null;
  /** The time when the call first waited for a provider; the next field is the sum of its waits. */
  upstreamFromMs: number | null;
  upstreamMs: number;
  /** The rate limits that admission returned, for the headers of the response. */
  rate: RateLimits | null;
  /** The models that the key of the call may call; null before admission, and for every model. */
  models: ModelPatterns;
  /** The highest cost that the caller allows the call; null without a cap. */
  maxCost: NanoUsd | null;
  /** True if the caller wants the signed receipt in the reply. */
  wantsReceipt: boolean;
  // Set once the headers and the body are read.
  run: AskingCall["run"];
  endUser: AskingCall["endUser"];
  markers: AskingCall["markers"];
  partOf?: AskingCall["partOf"];
  askedModel: AskingCall["askedModel"];
  /**
   * The monotonic time at which the stream of the call ends; left out for the usual time after the
   * start of the stream.
   */
  endsAtMs?: number;
  ahead: AskingCall["ahead"];
}

/** The terms of a call that costs nothing and uses no upstream. */
export const NO_COST = { bound: ZERO, freeEligible: true, stream: false, isBrief: true } as const;

/** Whole milliseconds since the request arrived. */
export function elapsedMs(deps: CallDeps, call: Call): number {
  return Math.round(deps.clock.monotonicMs() - call.arrivedMs);
}

/** The log row of a call that counted nothing. */
export function outcomeOf(
  deps: CallDeps,
  call: Call,
  end: { readonly status: number; readonly errorCode: string | null },
): Outcome {
  const { status, errorCode } = end;
  return { status, errorCode, latencyMs: elapsedMs(deps, call), ...NOTHING_COUNTED };
}

/** Receives the terms on which a call asks for its admission, from a call that is only quoted. */
export interface QuoteListener {
  asked(asking: Asking): void;
  /** Called with the additional hold that the call would take for searches of its model. */
  heldBesides(searches: HeldBesides): void;
  /**
   * A check that the call makes with its hold in hand; a quote is refused with the error that the
   * check throws.
   */
  checkedAfterHold(check: () => unknown): Promise<void>;
}

/** The hold for the searches of a model. */
export interface HeldBesides {
  /** The most searches. */
  readonly searches: number;
  readonly bound: NanoUsd;
}

/** Counts the ends of calls. */
export interface CallMeter {
  /** Records the seconds of an answered call, without its waits for providers. */
  own(seconds: number): void;
  /** A request was answered with an error of this code. */
  refused(code: string): void;
  /** A request with an idempotency key was answered with the kept answer of an earlier one. */
  replayed(): void;
  /** A stream was ended because it used up its hold, which the caller's cap may have lowered. */
  streamCut(by: "cap" | "hold"): void;
}

/** Makes spans of calls that ended. */
export interface CallTracer {
  /** The header `traceparent` of a request, if its calls are traced. */
  contextOf(headers: Headers): string | null;
  admitted(call: Call, terms: CallTerms, hold: Hold): void;
  refused(call: Call, terms: CallTerms, error: ApiError): void;
  ended(hold: Hold, outcome: Outcome, charged: NanoUsd): void;
}
