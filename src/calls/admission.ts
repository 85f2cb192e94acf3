// Has the account decide on a call: admit it, or refuse and log it.

import type { Decision, Hold } from "../../actors/account.ts";
import { ApiError } from "../core/errors.ts";
import { toDecimal, ZERO } from "../core/money/money.ts";
import { type Call, type CallDeps, type CallTerms, elapsedMs, NO_COST } from "./call.ts";

/**
 * One request for admission. It takes two steps, because every function that waits costs a call
 * objects and time (D-541): the caller awaits `asked`, and passes the decision to `decide`.
 */
export class Admission<
  Deps extends CallDeps = CallDeps,
  Terms extends Readonly<CallTerms> = CallTerms,
> {
  readonly asked: Promise<Decision>;

  constructor(
    protected readonly deps: Deps,
    protected readonly call: Call,
    readonly terms: Terms,
  ) {
    const { identity } = call;
    // A call that cannot be charged may be repeated.
    const markers = terms.bound > ZERO ? call.markers : null;
    if (terms.refusal === undefined && terms.isAhead !== true) deps.quote?.asked(this);
    // The account may keep its request for a while: it must not know the body of the call.
    this.asked = deps.accounts.of(identity.accountId, identity.bucket).admit({
      requestId: call.requestId,
      keyId: identity.keyId,
      scope: terms.scope,
      clientIp: call.clientIp,
      standIns: terms.standIns,
      chosenFor: terms.chosenFor,
      metadata: {
        endpoint: call.endpoint,
        service: terms.service,
        model: terms.model,
        country: call.country,
        ipHash: call.ipHash,
        priceVersion: terms.priceVersion ?? null,
        marker: markers?.[0],
        run: call.run?.id,
        step: call.run?.step,
      },
      run: call.run,
      markers: markers ?? undefined,
      bound: terms.bound,
      tokens: terms.tokens,
      freeEligible: terms.freeEligible,
      stream: terms.stream,
      isBrief: terms.isBrief,
      limits: terms.limits,
      isDetached: terms.isDetached,
      elapsedMs: elapsedMs(deps, call),
      tentative: terms.tentative,
      counted: terms.counted ?? call.ahead === "counted",
      isAhead: terms.isAhead,
      refusal: terms.refusal ?? aboveMaxCost(call, terms),
      isOpen: terms.isOpen,
    });
  }

  /** The call keeps the rate limits of the decision, and its trace the decision itself. */
  decide(decision: Decision): Decision {
    const { call, terms } = this;
    const { tracer } = this.deps;
    if (decision.verdict !== "short") call.rate = decision.rate;
    if (decision.verdict === "admitted") {
      call.models = decision.models;
      tracer?.admitted(call, terms, decision.hold);
    }
    if (decision.verdict === "refused") tracer?.refused(call, terms, decision.error);
    return decision;
  }

  /** The hold of a call that does not ask again. Throws the refusal. */
  holdOf(final: Decision): Hold {
    const decision = this.decide(final);
    if (decision.verdict === "admitted") return decision.hold;
    if (decision.verdict === "refused") throw decision.error;
    throw new Error("A final admission was answered 'short'");
  }
}

/** The refusal of a call that can cost more than its caller lets it. */
function aboveMaxCost({ maxCost }: Call, { bound }: CallTerms): ApiError | undefined {
  if (maxCost === null || bound <= maxCost) return undefined;
  const message = `The call can cost up to $${toDecimal(bound)}, and x-svc-max-cost-usd allows`;
  return new ApiError("max_cost_exceeded", `${message} $${toDecimal(maxCost)}`);
}

/** Both steps in one. */
export async function admit(deps: CallDeps, call: Call, terms: CallTerms): Promise<Decision> {
  const admission = new Admission(deps, call, terms);
  return admission.decide(await admission.asked);
}

/** Admits a call in one try and returns its hold. Throws the refusal. */
export async function takeHold(deps: CallDeps, call: Call, terms: CallTerms): Promise<Hold> {
  const admission = new Admission(deps, call, terms);
  return admission.holdOf(await admission.asked);
}

/**
 * Refuses a request for a known reason. The account counts and logs it. Throws this refusal, or one
 * that comes before it in the error table.
 */
export async function refuse(
  deps: CallDeps,
  call: Call,
  terms: Pick<CallTerms, "scope" | "service" | "model" | "chosenFor"> & {
    readonly refusal: ApiError;
  },
): Promise<never> {
  const decision = await admit(deps, call, { ...terms, ...NO_COST });
  if (decision.verdict === "refused") throw decision.error;
  const { code } = terms.refusal;
  throw new Error(`A call that had to be refused with '${code}' was '${decision.verdict}'`);
}

/**
 * Counts a call ahead of its body. Throws the refusal that needs no body: then the call is counted
 * and logged, and must not be refused again.
 */
export async function countAhead(
  deps: CallDeps,
  call: Call,
  terms: Pick<CallTerms, "scope" | "service">,
): Promise<void> {
  const decision = await admit(deps, call, { ...terms, model: null, ...NO_COST, isAhead: true });
  call.ahead = decision.verdict === "refused" ? "refused" : "counted";
  if (decision.verdict === "refused") throw decision.error;
}
