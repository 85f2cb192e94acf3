// Reads the section `maps` of the configuration file.

import type { Static } from "@sinclair/typebox";
import type { PicoUsd } from "../core/money/money.ts";
import type { MapsAction } from "../services/maps/actions.ts";
import { MAPS_PRICES } from "../services/maps/prices.ts";
import {
  canServe,
  DEFAULT_MAPS,
  EMBEDDED,
  MAPS_SERVER_DEFAULTS,
  type MapsConfig,
  type MapsServer,
} from "../services/maps/servers.ts";
import type { Maps, MapsServerFile } from "./catalogue-schema.ts";
import { type ApiKeys, baseUrlOf, pricePerThousand, type Refuse } from "./catalogue-values.ts";
import { type LocatedJson, pointerTo } from "./located-json.ts";

interface FileContext {
  readonly keys: ApiKeys;
  readonly json: LocatedJson;
  readonly refuse: Refuse;
}

/** Returns the offer of the section `maps`; without the section, the built-in offer. */
export function toMapsConfig(
  file: Static<typeof Maps> | undefined,
  context: FileContext,
): MapsConfig {
  if (file === undefined) return DEFAULT_MAPS;
  const servers = new Map(
    Object.entries(file.providers ?? {}).map(([name, one]) => [name, toServer(name, one, context)]),
  );
  const providers = new Map<MapsAction, readonly string[]>();
  // The schema allows actions alone, but is too dynamic for its type to say so.
  const lists = Object.entries(file.actions ?? {}) as [MapsAction, readonly string[]][];
  for (const [action, names] of lists) {
    for (const [index, name] of names.entries()) {
      const pointer = pointerTo(pointerTo("/maps/actions", action), index);
      const kind = name === EMBEDDED ? EMBEDDED : servers.get(name)?.kind;
      if (kind === undefined) context.refuse(pointer, `'${name}' is not under maps.providers`);
      else if (!canServe(kind, action)) {
        context.refuse(pointer, `'${name}' (${kind}) does not serve ${action}`);
      }
      if (names.indexOf(name) !== index) context.refuse(pointer, `'${name}' stands twice`);
    }
    providers.set(action, names);
  }
  return {
    servers,
    providers,
    prices: {
      standard: priceAt("standard_usd_per_k", file, context) ?? MAPS_PRICES.standard,
      tiles: priceAt("tiles_usd_per_k", file, context) ?? MAPS_PRICES.tiles,
    },
  };
}

function priceAt(
  field: "standard_usd_per_k" | "tiles_usd_per_k",
  file: Static<typeof Maps>,
  context: FileContext,
): PicoUsd | null {
  const value = file[field];
  return value === undefined ? null : pricePerThousand(value, `/maps/${field}`, context);
}

function toServer(
  name: string,
  file: Static<typeof MapsServerFile>,
  context: FileContext,
): MapsServer {
  const { keys, refuse } = context;
  const { buying_usd_per_k: buying } = file;
  const pointer = pointerTo("/maps/providers", name);
  const at = (field: string) => (problem: string) => refuse(`${pointer}/${field}`, problem);
  if (name === EMBEDDED) refuse(pointer, "is reserved for what is built in");
  return {
    name,
    kind: file.kind,
    baseUrl:
      file.kind === "static-map"
        ? templateOf(file.base_url, at("base_url"))
        : baseUrlOf(file.base_url, at("base_url")),
    apiKey: keys.of(pointer, file.api_key_env),
    timeoutMs: file.timeout_ms ?? MAPS_SERVER_DEFAULTS.timeoutMs,
    concurrencyMax: file.concurrency ?? MAPS_SERVER_DEFAULTS.concurrencyMax,
    ...(buying !== undefined && {
      buying: pricePerThousand(buying, `${pointer}/buying_usd_per_k`, context),
    }),
  };
}

/** Returns the address of a static map, which has placeholders in its path or its query. */
function templateOf(text: string, refuse: (problem: string) => never): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return refuse("must be an http or https URL");
  if (url.username !== "" || url.password !== "") {
    return refuse("must hold no credentials: use api_key_env");
  }
  for (const placeholder of ["{lat}", "{lon}", "{zoom}", "{width}", "{height}"]) {
    if (!text.includes(placeholder)) return refuse(`must have the placeholder ${placeholder}`);
  }
  if (/[{}]/.test(url.host)) return refuse("must name its host without placeholders");
  return text;
}
