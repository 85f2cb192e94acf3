// Who serves maps: the configured servers, and which of them each action asks, in order.

import type { MapsAction } from "./actions.ts";
import { MAPS_PRICES, type MapsPrices } from "./prices.ts";

/** The kinds of servers that the configuration file can name, and what each can serve. */
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

/** The name under which what is built in can stand in an action's list. */
export const EMBEDDED = "embedded";

/** What is built in, and needs no configuration. */
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

/** True when a kind of server, or what is built in, has the action. */
export function canServe(kind: MapsKind | typeof EMBEDDED, action: MapsAction): boolean {
  const actions: readonly MapsAction[] = kind === EMBEDDED ? EMBEDDED_ACTIONS : KIND_ACTIONS[kind];
  return actions.includes(action);
}
