// Who serves maps: the configured servers, and which of them each action asks, in order.

import type { MapsAction } from "./actions.ts";
import { MAPS_PRICES, type MapsPrices } from "./prices.ts";

/** The kinds of servers that the configuration file can name. */
export const MAPS_KINDS = [
  "nominatim",
  "photon",
  "overpass",
  "osrm",
  "valhalla",
  "motis",
  "open-meteo",
  "tomtom",
  "tankerkoenig",
  "panoramax",
  "tileserver-gl",
  "static-map",
] as const;
export type MapsKind = (typeof MAPS_KINDS)[number];

export interface MapsServer {
  readonly name: string;
  readonly kind: MapsKind;
  /** Without a slash at its end; of a static map a template with {lat}, {lon} and so on. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** For a whole reply. */
  readonly timeoutMs: number;
  /** Requests under way at once; more fall to the next server. */
  readonly concurrencyMax: number;
}

/** What a server has where nothing else is said. */
export const MAPS_SERVER_DEFAULTS = { timeoutMs: 10_000, concurrencyMax: 32 } as const;

/** The name under which what is built in can stand in an action's list. */
export const EMBEDDED = "embedded";

export interface MapsConfig {
  readonly servers: ReadonlyMap<string, MapsServer>;
  /**
   * Names of servers, or `embedded`, in the order they are asked; an action that is not listed is
   * served by what is built in.
   */
  readonly providers: ReadonlyMap<MapsAction, readonly string[]>;
  readonly prices: MapsPrices;
}

/** Where no configuration file says anything of maps. */
export const DEFAULT_MAPS: MapsConfig = {
  servers: new Map(),
  providers: new Map(),
  prices: MAPS_PRICES,
};
