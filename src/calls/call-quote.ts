// Learns the hold of a call, and whether the call would be admitted, without making it: the call
// runs as always, up to its admission, at an account that only quotes.

import type {
  AccountActors,
  Asking,
  CallTerms,
  Decision,
  QuotedDecision,
} from "../../actors/account.ts";
import { ApiError, toApiError } from "../core/errors.ts";
import { ZERO } from "../core/money/money.ts";
import type { HeldBesides, QuoteListener } from "./call.ts";

/** The decision on a call, and the terms that it asked for. */
export interface Quoted {
  /** The first attempt, which knows how its bound was made. */
  readonly first: Asking;
  /** The terms of the last attempt. */
  readonly terms: Readonly<CallTerms>;
  readonly decision: QuotedDecision;
  /** Null if the model cannot search. */
  readonly besides: HeldBesides | null;
}

/** The quote of one call. Nothing is counted, held, logged or topped up. */
export class CallQuote implements QuoteListener {
  /** Accounts to give to the call in place of the real ones. */
  readonly accounts: AccountActors;
  readonly #asked: Asking[] = [];
  #decision: QuotedDecision | null = null;
  #refusal: ApiError | null = null;
  #besides: HeldBesides | null = null;

  constructor(actors: Pick<AccountActors, "of">) {
    this.accounts = {
      of: (id, bucket) => {
        const account = actors.of(id, bucket);
        return {
          admit: async (asking) => this.#answer(asking, () => account.quote(asking)),
          quote: (asking) => account.quote(asking),
          endResponse: () => Promise.resolve(),
          view: (keyId) => account.view(keyId),
          viewFor: (call) => account.viewFor(call),
          modelsOf: (keyId) => account.modelsOf(keyId),
        };
      },
      refusesUnread: () => false,
    };
  }

  /** The call asks for its admission. */
  asked(asking: Asking): void {
    this.#asked.push(asking);
  }

  heldBesides(searches: HeldBesides): void {
    this.#besides = searches;
  }

  async checkedAfterHold(check: () => unknown): Promise<void> {
    const decision = this.#decision;
    if (decision === null || decision.refusal !== null) return;
    try {
      await check();
    } catch (error) {
      this.#decision = { ...decision, refusal: toApiError(error), mayFit: false };
    }
  }

  /** The refusal for the call's body, which precedes any decision; null if the body is in order. */
  get refusal(): ApiError | null {
    return this.#refusal;
  }

  /** Null if the call ended before it asked for a hold. */
  get quoted(): Quoted | null {
    const [first] = this.#asked;
    const last = this.#asked.at(-1);
    if (first === undefined || last === undefined || this.#decision === null) return null;
    return { first, terms: last.terms, decision: this.#decision, besides: this.#besides };
  }

  async #answer(
    { terms: { isAhead, refusal, tentative } }: Asking,
    quote: () => Promise<QuotedDecision>,
  ): Promise<Decision> {
    if (isAhead === true) return { verdict: "short", funds: { spendable: ZERO } };
    // A cap that the hold exceeds is no fault of the body, and refuses like a budget.
    if (refusal !== undefined && refusal.code !== "max_cost_exceeded") {
      this.#refusal = refusal;
      const rate = { limit: 1, remaining: 1, resetSeconds: 1 };
      return { verdict: "refused", error: refusal, rate, funds: null };
    }
    const decision = await quote();
    this.#decision = decision;
    // The call then counts its prompt, and asks again.
    if (tentative === true && decision.mayFit) return { verdict: "short", funds: decision };
    const error = new ApiError("service_unavailable", "This is a quote");
    return { verdict: "refused", error, rate: decision.rate, funds: null };
  }
}
