// Has the account decide on a call: admit it, or refuse and log it.

import type { Asking, CallTerms, Decision, Hold } from "../../actors/account.ts";
import { ApiError } from "../core/errors.ts";
import { dollars, min, type NanoUsd, ZERO } from "../core/money/money.ts";
import { type Call, type CallDeps, elapsedMs, NO_COST } from "./call.ts";

/**
 * One request for admission. Admission takes two steps, because every function that waits costs a
 * call objects and time (D-541): the caller awaits `asked`, and passes the decision to `decide`.
 */
export class Admission<
  Deps extends CallDeps = CallDeps,
  Terms extends Readonly<CallTerms> = CallTerms,
> implements Asking
{
  readonly terms: Terms;
  readonly elapsedMs: number;
  readonly asked: Promise<Decision>;

  constructor(
    protected readonly deps: Deps,
    readonly call: Call,
    given: Terms,
  ) {
    const isMade = given.refusal === undefined && given.isAhead !== true;
    const refusal = isMade ? aboveMaxCost(call, given) : undefined;
    const cap = given.tentative === true && refusal !== undefined ? call.maxCost : null;
    this.terms = refusal === undefined || cap !== null ? given : { ...given, refusal };
    this.elapsedMs = elapsedMs(deps, call);
    if (isMade) deps.quote?.asked(this);
    this.asked = cap === null ? this.#ask(this.terms) : this.#shortOf(cap);
  }

  #ask(terms: Readonly<CallTerms>): Promise<Decision> {
    const { call, elapsedMs } = this;
    const { accountId, bucket } = call.identity;
    return this.deps.accounts.of(accountId, bucket).admit({ call, terms, elapsedMs });
  }

  /**
   * A bound above the caller's cap is short, like a bound above the funds: the next attempt has a
   * tighter bound (D-781). Until that attempt, the account only counts the request, if it has not
   * done so.
   */
  async #shortOf(cap: NanoUsd): Promise<Decision> {
    const isCounted = this.call.ahead === "counted" || this.deps.quote !== undefined;
    if (isCounted) return { verdict: "short", funds: { spendable: cap } };
    const terms = { ...this.terms, bound: ZERO, tokens: undefined, isAhead: true };
    const decision = await this.#ask(terms);
    if (decision.verdict !== "short") return decision;
    return { verdict: "short", funds: { spendable: min(decision.funds.spendable, cap) } };
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
  const message = `The call can cost up to ${dollars(bound)}, and x-svc-max-cost-usd allows`;
  return new ApiError("max_cost_exceeded", `${message} ${dollars(maxCost)}`);
}

/** Takes both steps in one. */
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
