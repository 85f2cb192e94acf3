// Makes the searches of a model that has search as a tool: one call with one hold for all of them,
// charged by the results that were found.

import type { Hold, Settlement } from "../../../actors/account.ts";
import { takeHold } from "../../calls/admission.ts";
import { type Call, type CallDeps, outcomeOf } from "../../calls/call.ts";
import { waitForProvider } from "../../calls/first-answer.ts";
import { clientLeft, settle } from "../../calls/settling.ts";
import type {
  FoundPage,
  OfferToolSearch,
  OpenToolSearch,
  ToolSearchRules,
} from "../../calls/tool-search.ts";
import { SEARCH } from "../../core/access/limits.ts";
import { throwIfCancelled } from "../../core/cancellation.ts";
import { ApiError, DISCONNECTED, OK, toApiError } from "../../core/errors.ts";
import { charge, type NanoUsd, type PicoUsd, ZERO } from "../../core/money/money.ts";
import { priceVersionOfUnit } from "../../core/money/price-version.ts";
import type { SearchProvider, SearchReply, SearchRequest } from "./providers/provider.ts";
import { lanesOf, SEARCH_TERMS, upstreamCost } from "./search.ts";
import type { SearchOffer } from "./search-catalogue.ts";
import { toSearchRequest } from "./search-request.ts";

/** The parts of the program that the tool needs. */
export interface ToolSearchDeps {
  readonly search: SearchProvider;
  readonly offer: () => SearchOffer;
}

/** The searches of a request, by the settings of the operator. */
export function toolSearches({ search, offer }: ToolSearchDeps): OfferToolSearch {
  return (rules) => {
    const { tool, pricePerResult } = offer();
    if (tool === null) return null;
    const wanted = requestOf(rules, tool.resultsEach);
    if (wanted instanceof ApiError) return wanted;
    // The place of a user is a hint.
    const isOfAnyCountry = wanted.country !== null && search.unsupportedError(wanted) !== null;
    const asked = isOfAnyCountry ? { ...wanted, country: null } : wanted;
    const unserved = search.unsupportedError(asked);
    if (unserved !== null) return unserved;
    const most = Math.min(rules.most ?? tool.searchesMax, tool.searchesMax);
    const bound = charge([[most * tool.resultsEach, pricePerResult]]);
    return {
      most,
      bound,
      isOfAnyCountry,
      async open(deps, call) {
        const hold = await takeHold(deps, call, {
          ...SEARCH_TERMS,
          bound,
          priceVersion: priceVersionOfUnit(pricePerResult),
        });
        return new HeldSearches({ deps, call, hold, search, asked, pricePerResult });
      },
    };
  };
}

/** The request of each search, whose words are still to come. */
function requestOf(rules: ToolSearchRules, max_results: number): SearchRequest | ApiError {
  const { country, includeDomains: include_domains, excludeDomains: exclude_domains } = rules;
  if (include_domains.length + exclude_domains.length > SEARCH.domainsMax) {
    const most = `A search takes at most ${SEARCH.domainsMax} domains`;
    return new ApiError("invalid_parameter", most);
  }
  try {
    const fields = { query: "any", max_results, country, include_domains, exclude_domains };
    return toSearchRequest(fields, "filters.");
  } catch (error) {
    return toApiError(error);
  }
}

interface HeldParts {
  readonly deps: CallDeps;
  readonly call: Call;
  readonly hold: Hold;
  readonly search: SearchProvider;
  readonly asked: SearchRequest;
  readonly pricePerResult: PicoUsd;
}

class HeldSearches implements OpenToolSearch {
  readonly #parts: HeldParts;
  readonly #replies: SearchReply[] = [];
  #ended: Promise<Settlement> | null = null;

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  get requestId(): string {
    return this.#parts.call.requestId;
  }

  async find(words: string): Promise<readonly FoundPage[]> {
    const { deps, call, hold, search, asked } = this.#parts;
    // The signal of the hold aborts if the key was revoked, or if Redis lost the hold.
    throwIfCancelled(hold.signal);
    const query = words.slice(0, SEARCH.queryCharactersMax);
    const options = { account: call.identity.accountId, signal: call.signal };
    const reply = await waitForProvider(deps, call, () =>
      search.search({ ...asked, query }, options),
    );
    if (call.signal.aborted) throw clientLeft();
    this.#replies.push(reply);
    // If this process dies, the sweep charges the searches until now.
    hold.checkpoint(this.#cost);
    hold.saveCost();
    return reply.results.map(({ title, url, snippet, date }) => ({ title, url, snippet, date }));
  }

  end(): Promise<Settlement> {
    this.#ended ??= this.#settle();
    return this.#ended;
  }

  #settle(): Promise<Settlement> {
    const { deps, call, hold } = this.#parts;
    const { status, code: errorCode } = DISCONNECTED;
    const end = call.signal.aborted ? { status, errorCode } : { status: OK, errorCode: null };
    const replies = this.#replies;
    const outcome = {
      ...outcomeOf(deps, call, end),
      requests: replies.length,
      ...lanesOf(replies),
      ...upstreamCost(replies),
    };
    return settle(deps, { hold, cost: this.#cost, outcome });
  }

  get #cost(): NanoUsd {
    const results = this.#replies.reduce((sum, reply) => sum + reply.results.length, 0);
    return results === 0 ? ZERO : charge([[results, this.#parts.pricePerResult]]);
  }
}
