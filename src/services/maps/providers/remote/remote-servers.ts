// The kinds of maps servers that the configuration can name.

import type { MapsKind } from "../../servers.ts";
import type { ConnectServer, Services } from "../provider.ts";
import { motis } from "./motis.ts";
import { nominatim } from "./nominatim.ts";
import { openMeteo } from "./open-meteo.ts";
import { osrm } from "./osrm.ts";
import { overpass } from "./overpass.ts";
import { panoramax } from "./panoramax.ts";
import { photon } from "./photon.ts";
import { staticMap, tileServerGl } from "./static-map.ts";
import { tankerkoenig } from "./tankerkoenig.ts";
import { tomtom } from "./tomtom.ts";
import type { Upstream } from "./upstream.ts";
import { valhalla } from "./valhalla.ts";

type Connect = (upstream: Upstream, now: () => number) => Services;

const KINDS: Readonly<Record<MapsKind, Connect>> = {
  nominatim,
  photon,
  overpass,
  osrm,
  valhalla,
  motis,
  "open-meteo": openMeteo,
  tomtom,
  tankerkoenig,
  panoramax,
  "tileserver-gl": tileServerGl,
  "static-map": staticMap,
};

/** Creates the services of a configured server; `now` is Unix time in milliseconds. */
export function remoteServers({ now }: { readonly now: () => number }): ConnectServer {
  return (server, { fetch }) => KINDS[server.kind]({ server, fetch }, now);
}
