// Lists a call of every action to every kind of server that serves it, with its documented reply.

import type { CancelSignal } from "../../../src/core/cancellation.ts";
import type { MapsAction, ParametersOf } from "../../../src/services/maps/actions.ts";
import type { DataByAction } from "../../../src/services/maps/maps-replies.ts";
import type { MapsAnswer } from "../../../src/services/maps/providers/provider.ts";
import { remoteServers } from "../../../src/services/maps/providers/remote/remote-servers.ts";
import { readParameters } from "../../../src/services/maps/read-parameters.ts";
import {
  MAPS_SERVER_DEFAULTS,
  type MapsKind,
  type MapsServer,
} from "../../../src/services/maps/servers.ts";
import type { Fetch } from "../../../src/upstream/upstream-http.ts";
import * as geocoders from "./maps-fixtures/geocoders.ts";
import * as live from "./maps-fixtures/live.ts";
import * as motis from "./maps-fixtures/motis.ts";
import * as osm from "./maps-fixtures/openstreetmap.ts";
import { png } from "./maps-fixtures/picture.ts";
import { upstreamFetch } from "./upstream-fetch.ts";

export interface Case {
  readonly kind: MapsKind;
  readonly action: MapsAction;
  /** The parameters, as a caller writes them. */
  readonly query: string;
  /** An object is sent as JSON. */
  readonly reply: object | Uint8Array;
}

const at = "lat=52.5&lon=13.4";
const row = (kind: MapsKind, action: MapsAction, query: string, reply: Case["reply"]): Case => ({
  kind,
  action,
  query,
  reply,
});

export const CASES: readonly Case[] = [
  row("nominatim", "geocode", "query=Museum&limit=2&country=DE&lang=de&lat=52.5&lon=13.4", [
    geocoders.NOMINATIM_PLACE,
    geocoders.NOMINATIM_TOWN,
  ]),
  row("nominatim", "reverse", `${at}&lang=de`, geocoders.NOMINATIM_PLACE),
  row("nominatim", "place_at", at, geocoders.NOMINATIM_PLACE),
  row("photon", "geocode", "query=b&lang=pt-BR&lat=52.5&lon=13.4", geocoders.PHOTON_PLACES),
  row("photon", "reverse", at, geocoders.PHOTON_PLACES),
  row("photon", "place_at", at, geocoders.PHOTON_PLACES),
  row("overpass", "poi", `${at}&category=cafe&radius=5000&lang=en`, osm.OVERPASS_POIS),
  row("overpass", "speed_cameras", `${at}&limit=5`, osm.OVERPASS_CAMERAS),
  row("overpass", "road_classes", "bbox=13.3,52.4,13.5,52.6", osm.OVERPASS_ROADS),
  row("overpass", "closures", `${at}&lang=en`, osm.OVERPASS_CLOSURES),
  row("overpass", "transit", at, osm.OVERPASS_LINES),
  row("osrm", "route", "from=52.5,13.4&to=52.52,13.42&steps=true", osm.OSRM_ROUTE),
  row("valhalla", "route", "from=52.5,13.4&to=52.52,13.42&steps=true&mode=foot&lang=pt-BR", {
    ...osm.VALHALLA_ROUTE,
  }),
  row("valhalla", "road_classes", `${at}&radius=100`, osm.VALHALLA_ROADS),
  row("motis", "stops", "lat=48.4&lon=9.982&radius=300", motis.MOTIS_STOPS),
  row(
    "motis",
    "departures",
    "stop_id=x_Rathaus~20~28S~C3~BCd~29&time=2026-11-21T08:00:00%2B01:00&lang=de",
    motis.MOTIS_DEPARTURES,
  ),
  row("motis", "journey", "from=48.4,9.98&to=x_1&arrive_by=true", motis.MOTIS_PLAN),
  row("motis", "rail", "from=x_1&to=48.4,9.98", motis.MOTIS_PLAN),
  row("motis", "transit", "lat=48.4&lon=9.98", motis.MOTIS_ROUTES),
  row("open-meteo", "weather", "lat=52.52&lon=13.42&days=2", live.OPEN_METEO),
  row("tomtom", "incidents", `${at}&radius=800&lang=de`, live.TOMTOM_INCIDENTS),
  row("tomtom", "closures", "bbox=13.3,52.4,13.5,52.6", live.TOMTOM_CLOSURES),
  row("tomtom", "traffic_status", "lat=52.41&lon=4.84", live.TOMTOM_FLOW),
  row(
    "tomtom",
    "route_traffic",
    "from=52.5,13.4&to=52.52,13.42&depart_at=2099-11-21T08:00:00%2B01:00",
    live.TOMTOM_ROUTE,
  ),
  row(
    "tankerkoenig",
    "fuel_prices",
    "lat=52.521&lon=13.438&radius=1500",
    live.TANKERKOENIG_STATIONS,
  ),
  row("panoramax", "site_images", "lat=48.85&lon=2.35&limit=2", live.PANORAMAX_PICTURES),
  row("tileserver-gl", "site_image", `${at}&zoom=12&width=320&height=200`, png(320, 200)),
  row("static-map", "site_image", `${at}&zoom=12&width=320&height=200`, png(320, 200)),
];

/** A moment in the winter of Berlin. */
export const NOW_MS = Date.parse("2026-11-21T07:00:00Z");
export const KEY = "key-7f31-never-to-be-seen";

/** The text after the address of a server, for kinds that need one. */
const BEHIND: Readonly<Partial<Record<MapsKind, string>>> = {
  "static-map":
    "/map?c={lat},{lon}&z={zoom}&s={width}x{height}&t={style}{marker:&m={lat},{lon}}&key={key}",
};

export function serverOf(
  kind: MapsKind,
  baseUrl: string,
  more: Partial<MapsServer> = {},
): MapsServer {
  const address = `${baseUrl}${BEHIND[kind] ?? ""}`;
  return { ...MAPS_SERVER_DEFAULTS, name: kind, kind, baseUrl: address, apiKey: KEY, ...more };
}

/** The checked parameters of a query string. */
export function parametersOf<A extends MapsAction>(action: A, query: string): ParametersOf<A> {
  return readParameters(action, new Map(new URLSearchParams(query)));
}

export interface AskOfServer {
  readonly server: MapsServer;
  readonly action: MapsAction;
  readonly query: string;
  readonly signal?: AbortSignal;
  readonly fetch?: Fetch;
}

/** Asks one server as the provider of maps would. */
export async function askServer(
  ask: AskOfServer,
): Promise<MapsAnswer<MapsAction> & { readonly data: DataByAction[MapsAction] }> {
  const { server, action, query, signal = new AbortController().signal } = ask;
  const service = serviceOf(server, action, ask.fetch);
  const parameters = parametersOf(action, query);
  const unable = service.unable?.(parameters) ?? null;
  if (unable !== null) throw new Error(`It cannot: ${unable.parameter} ${unable.problem}`);
  return await service.ask(parameters, { signal });
}

/** The service of any action; its parameters were checked for just that action. */
export function serviceOf(
  server: MapsServer,
  action: MapsAction,
  fetchWith: Fetch = upstreamFetch,
) {
  const services = remoteServers({ now: () => NOW_MS })(server, { fetch: fetchWith });
  const service = services[action];
  if (service === undefined) throw new Error(`${server.kind} does not serve ${action}`);
  return service as {
    readonly unable?: (parameters: object) => { parameter: string; problem: string } | null;
    readonly ask: (
      parameters: object,
      options: { readonly signal: CancelSignal },
    ) => Promise<MapsAnswer<MapsAction>>;
  };
}

/** The bytes of a case's reply. */
export function bytesOf(reply: Case["reply"]): string | Uint8Array {
  return reply instanceof Uint8Array ? reply : JSON.stringify(reply);
}
