// Defines the servers of maps: the configured ones, and the servers of each action, in order.

import type { PicoUsd } from "../../core/money/money.ts";
import type { MapsAction } from "./actions.ts";
import { MAPS_PRICES, type MapsPrices } from "./prices.ts";

/** The kinds of servers for the configuration file, with the actions that each can serve. */
export const KIND_ACTIONS = {
  nominatim: ["geocode", "reverse", "place_at"],
  photon: ["geocode", "reverse", "place_at"],
  overpass: ["poi", "speed_cameras", "road_classes", "closures", "transit"],
  osrm: ["route"],
  valhalla: ["route", "road_classes"],
  motis: ["stops", "departures", "journey", "rail", "transit"],
  "open-meteo": ["weather"],
  tomtom: ["incidents", "closures", "traffic_status", "route_traffic"],
  tankerkoenig: ["fuel_prices"],
  panoramax: ["site_images"],
  "tileserver-gl": ["site_image"],
  "static-map": ["site_image"],
} as const satisfies Record<string, readonly MapsAction[]>;
export type MapsKind = keyof typeof KIND_ACTIONS;
export const MAPS_KINDS = Object.keys(KIND_ACTIONS) as readonly MapsKind[];

/** The name of the built-in provider in an action's list. */
export const EMBEDDED = "embedded";

/** The built-in actions, which need no configuration. */
export const EMBEDDED_ACTIONS = [
  "geocode",
  "reverse",
  "place_at",
  "poi",
  "site_image",
  "site_images",
] as const satisfies readonly MapsAction[];

export interface MapsServer {
  readonly name: string;
  readonly kind: MapsKind;
  /** Without a slash at the end; for a static map a template with {lat}, {lon} and so on. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The time limit for a whole reply. */
  readonly timeoutMs: number;
  /** The maximum of simultaneous requests; further ones go to the next server. */
  readonly concurrencyMax: number;
  /** The price that the operator pays for one call; omitted if the operator did not say. */
  readonly buying?: PicoUsd;
}

/** Defaults of a server. */
export const MAPS_SERVER_DEFAULTS = { timeoutMs: 10_000, concurrencyMax: 32 } as const;

export interface MapsConfig {
  readonly servers: ReadonlyMap<string, MapsServer>;
  /**
   * Names of servers, or `embedded`, in the order in which they are tried. An action without a list
   * uses the built-in provider.
   */
  readonly providers: ReadonlyMap<MapsAction, readonly string[]>;
  readonly prices: MapsPrices;
}

/** The configuration if the file has no section for maps. */
export const DEFAULT_MAPS: MapsConfig = {
  servers: new Map(),
  providers: new Map(),
  prices: MAPS_PRICES,
};

/** True if a kind of server, or the built-in provider, has the action. */
export function canServe(kind: MapsKind | typeof EMBEDDED, action: MapsAction): boolean {
  const actions: readonly MapsAction[] = kind === EMBEDDED ? EMBEDDED_ACTIONS : KIND_ACTIONS[kind];
  return actions.includes(action);
}
