// What the gateway sells: models with prices and routes, and the upstream servers that serve them.

import type { PriceBand } from "./pricing.ts";

/** One way to serve a model: an upstream server and the model's name there. */
export interface Route {
  readonly provider: string;
  readonly model: string;
}

export interface ModelEntry {
  readonly id: string;
  readonly label: string;
  readonly family: string;
  readonly ownedBy: string;
  /** Ascending by `promptTokensMax`; the last band has none. */
  readonly bands: readonly PriceBand[];
  readonly contextTokens: number;
  readonly freeCreditEligible: boolean;
  /** Tried in order. */
  readonly routes: readonly Route[];
}

export interface ProviderEntry {
  readonly name: string;
  readonly kind: "openai" | "guide";
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Until the response headers arrive. */
  readonly firstByteTimeoutMs: number;
  /** Requests under way at once; more fall to the next route. */
  readonly concurrencyMax: number;
}

export interface Catalogue {
  readonly models: ReadonlyMap<string, ModelEntry>;
  readonly providers: ReadonlyMap<string, ProviderEntry>;
}
