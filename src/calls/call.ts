// Admits and refuses the calls of a key, and describes a call to metrics and traces.

import type {
  AccountActors,
  Admission,
  AdmissionRequest,
  CallMetadata,
  Hold,
  KeyIdentity,
  Outcome,
  RateLimits,
} from "../../actors/account.ts";
import type { Clock } from "../core/clock.ts";
import type { ApiError } from "../core/errors.ts";
import { NOTHING_COUNTED } from "../core/journal/journal.ts";
import type { Log } from "../core/log.ts";
import { type NanoUsd, ZERO } from "../core/money/money.ts";

/** What every use case needs from the rest of the program; a service adds its provider. */
export interface CallDeps {
  readonly accounts: AccountActors;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: CallMeter | undefined;
  readonly tracer?: CallTracer | undefined;
}

export interface Call {
  readonly requestId: string;
  readonly identity: KeyIdentity;
  readonly endpoint: string;
  readonly clientIp: string;
  readonly country: string | null;
  readonly ipHash: string;
  /** Monotonic time of arrival. */
  readonly arrivedMs: number;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  /** The context of the caller's trace; null if this call is not traced. */
  readonly traceparent: string | null;
  /** When the call first waited for a provider, and how long it waited for providers in all. */
  upstreamFromMs: number | null;
  upstreamMs: number;
  /** The rate limits that admission returned, for the headers of the response. */
  rate: RateLimits | null;
  /** What the account decided ahead of the body; null if it was not asked. */
  ahead: "counted" | "refused" | null;
}

/** What a call requests from the account. */
export interface CallTerms
  extends Pick<
    AdmissionRequest,
    "scope" | "bound" | "freeEligible" | "stream" | "isBrief" | "limits" | "isDetached"
  > {
  readonly service: CallMetadata["service"];
  readonly model: string | null;
  /** The version of the prices that the call is charged by; omitted if it has no price. */
  readonly priceVersion?: string;
}

/** The terms of a call that costs nothing and uses no upstream. */
export const NO_COST = { bound: ZERO, freeEligible: true, stream: false, isBrief: true } as const;

export type AdmitOptions = Pick<
  AdmissionRequest,
  "tentative" | "counted" | "refusal" | "isOpen" | "isAhead"
>;

/** Asks the account's actor for admission, once. The call keeps the rate limits of the reply. */
export async function admit(
  deps: CallDeps,
  call: Call,
  terms: CallTerms,
  options: AdmitOptions = {},
): Promise<Admission> {
  return decided(deps, call, terms, await askForAdmission(deps, call, terms, options));
}

/**
 * The first step of `admit`, for who waits for the answer itself, because each function that waits
 * costs every call objects and time (D-541). The answer must be passed to `decided`.
 */
export function askForAdmission(
  deps: CallDeps,
  call: Call,
  terms: CallTerms,
  options: AdmitOptions = {},
): Promise<Admission> {
  const { identity } = call;
  return deps.accounts.of(identity.accountId, identity.bucket).admit({
    requestId: call.requestId,
    keyId: identity.keyId,
    scope: terms.scope,
    clientIp: call.clientIp,
    metadata: {
      endpoint: call.endpoint,
      service: terms.service,
      model: terms.model,
      country: call.country,
      ipHash: call.ipHash,
      priceVersion: terms.priceVersion ?? null,
    },
    bound: terms.bound,
    freeEligible: terms.freeEligible,
    stream: terms.stream,
    isBrief: terms.isBrief,
    limits: terms.limits,
    isDetached: terms.isDetached,
    elapsedMs: elapsedMs(deps, call),
    tentative: options.tentative,
    counted: options.counted ?? call.ahead === "counted",
    isAhead: options.isAhead,
    refusal: options.refusal,
    isOpen: options.isOpen,
  });
}

/** The second step: the call keeps the rate limits, and its trace learns what was decided. */
export function decided(
  { tracer }: Pick<CallDeps, "tracer">,
  call: Call,
  terms: CallTerms,
  admission: Admission,
): Admission {
  if (admission.verdict !== "short") call.rate = admission.rate;
  if (admission.verdict === "admitted") tracer?.admitted(call, terms, admission.hold);
  if (admission.verdict === "refused") tracer?.refused(call, terms, admission.error);
  return admission;
}

/** Admits a call in one try and returns its hold. Throws the refusal. */
export async function takeHold(deps: CallDeps, call: Call, terms: CallTerms): Promise<Hold> {
  return holdOf(await admit(deps, call, terms));
}

/** The hold of a call that was asked for in one try. Throws the refusal. */
export function holdOf(admission: Admission): Hold {
  if (admission.verdict === "admitted") return admission.hold;
  if (admission.verdict === "refused") throw admission.error;
  throw new Error("A final admission was answered 'short'");
}

/**
 * Refuses a request for a known reason. The account counts and logs it. Throws this refusal, or one
 * that comes before it in the error table.
 */
export async function refuse(
  deps: CallDeps,
  call: Call,
  terms: Pick<CallTerms, "scope" | "service" | "model">,
  refusal: ApiError,
): Promise<never> {
  const freeTerms = { ...terms, ...NO_COST };
  const admission = await admit(deps, call, freeTerms, { refusal });
  if (admission.verdict === "refused") throw admission.error;
  throw new Error(
    `A call that had to be refused with '${refusal.code}' was '${admission.verdict}'`,
  );
}

/**
 * Counts a call ahead of its body. Throws what it is refused for without it: then it is counted and
 * logged, and must not be refused again.
 */
export async function countAhead(
  deps: CallDeps,
  call: Call,
  terms: Pick<CallTerms, "scope" | "service">,
): Promise<void> {
  const admission = await admit(deps, call, { ...terms, model: null, ...NO_COST }, AHEAD);
  call.ahead = admission.verdict === "refused" ? "refused" : "counted";
  if (admission.verdict === "refused") throw admission.error;
}

const AHEAD: AdmitOptions = { isAhead: true };

/** Waits for a provider; this time is not our own. */
export async function waitForProvider<Result>(
  deps: Pick<CallDeps, "clock">,
  call: Call,
  ask: () => Promise<Result>,
): Promise<Result> {
  const startMs = beginWaiting(deps, call);
  try {
    return await ask();
  } finally {
    endWaiting(deps, call, startMs);
  }
}

/** The same in two steps; returns when the waiting began, for `endWaiting`. */
export function beginWaiting({ clock }: Pick<CallDeps, "clock">, call: Call): number {
  const startMs = clock.monotonicMs();
  call.upstreamFromMs ??= startMs;
  return startMs;
}

export function endWaiting({ clock }: Pick<CallDeps, "clock">, call: Call, startMs: number): void {
  call.upstreamMs += clock.monotonicMs() - startMs;
}

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

/** Counts what happens to calls. */
export interface CallMeter {
  /** An answered call took us so long, besides waiting for providers. */
  own(seconds: number): void;
  /** A request was answered with an error of this code. */
  refused(code: string): void;
}

/** Makes spans of calls that ended. */
export interface CallTracer {
  /** The header `traceparent` of a request, if its calls are traced. */
  contextOf(headers: Headers): string | null;
  admitted(call: Call, terms: CallTerms, hold: Hold): void;
  refused(call: Call, terms: CallTerms, error: ApiError): void;
  ended(hold: Hold, outcome: Outcome, charged: NanoUsd): void;
}
