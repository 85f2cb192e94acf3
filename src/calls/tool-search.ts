// Defines the search that a door offers to a model as a tool. The searches of a response are one
// call of their own, with one hold for all of them; the service of search makes them (D-870).

import type { Settlement } from "../../actors/account.ts";
import type { ApiError } from "../core/errors.ts";
import type { NanoUsd } from "../core/money/money.ts";
import type { Call, CallDeps } from "./call.ts";

/** The part of a request that limits its searches. */
export interface ToolSearchRules {
  /** The most searches; null for the operator's most. */
  readonly most: number | null;
  /** Only pages of these domains; empty for all. */
  readonly includeDomains: readonly string[];
  readonly excludeDomains: readonly string[];
  /** ISO 3166-1 alpha-2; null for any. */
  readonly country: string | null;
}

/** A page that a search found. */
export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** The day of publication, as `2026-11-21`; null if unknown. */
  readonly date: string | null;
}

/** The searches that one request may make. */
export interface ToolSearch {
  readonly most: number;
  /** The highest cost of the searches, which their hold takes from paid credit. */
  readonly bound: NanoUsd;
  /** True if no server can search for a country, so that the country has no effect. */
  readonly isOfAnyCountry: boolean;
  /** Takes the hold. Throws the refusal. */
  open(deps: CallDeps, call: Call): Promise<OpenToolSearch>;
}

/** Searches that have their hold. */
export interface OpenToolSearch {
  readonly requestId: string;
  /** Throws an ApiError for a search that found no answer; it costs nothing. */
  find(query: string): Promise<readonly FoundPage[]>;
  /** Charges the pages that were found, and returns the rest of the hold. */
  end(): Promise<Settlement>;
}

/** The searches that these rules allow now, or why there are none; null if the tool is off. */
export type OfferToolSearch = (rules: ToolSearchRules) => ToolSearch | ApiError | null;
