// Defines and reads maps in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import {
  apiKeyEnv,
  closed,
  name,
  usdAmount,
  webAddress,
  whole,
} from "../../core/configuration/fields.ts";
import { pointerTo } from "../../core/configuration/located-json.ts";
import {
  baseUrlOf,
  pricePerThousand,
  type SectionContext,
  urlOf,
} from "../../core/configuration/section.ts";
import type { PicoUsd } from "../../core/money/money.ts";
import { ACTIONS, type MapsAction } from "./actions.ts";
import { MAPS_PRICES } from "./prices.ts";
import {
  canServe,
  DEFAULT_MAPS,
  EMBEDDED,
  MAPS_KINDS,
  MAPS_SERVER_DEFAULTS,
  type MapsConfig,
  type MapsServer,
} from "./servers.ts";

/** An entry of `maps.providers`. */
const MapsServerFile = Type.Object(
  {
    kind: Type.Union(
      MAPS_KINDS.map((kind) => Type.Literal(kind)),
      {
        description: "How the server is asked",
        errorMessage: `must be one of ${MAPS_KINDS.join(", ")}`,
      },
    ),
    base_url: webAddress("Address of the API; of a static-map a template: see docs/maps.md"),
    api_key_env: Type.Optional(apiKeyEnv("Environment variable that holds the API key")),
    timeout_ms: Type.Optional(whole(10, 60_000, "For a whole reply; default 10000")),
    buying_usd_per_k: Type.Optional(
      usdAmount("What you pay there for 1,000 calls; left out: not known"),
    ),
    concurrency: Type.Optional(
      whole(1, 10_000, "Requests under way at once; more go to the next provider; default 32"),
    ),
  },
  { ...closed, description: "A server that serves maps" },
);

const mapsProviders = (action: string) =>
  Type.Optional(
    Type.Array(name(`A name under maps.providers, or ${EMBEDDED}`), {
      maxItems: 16,
      description: `Asked in order for ${action}; empty: the action is not offered`,
      errorMessage: "must be a list of at most 16 names of maps providers",
    }),
  );

/** The section `maps`. */
const Maps = Type.Object(
  {
    providers: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }), MapsServerFile, {
        ...closed,
        description: "Maps servers by name",
      }),
    ),
    actions: Type.Optional(
      Type.Object(
        Object.fromEntries(Object.keys(ACTIONS).map((action) => [action, mapsProviders(action)])),
        { ...closed, description: "Who serves each action; left out: what is built in, if it can" },
      ),
    ),
    standard_usd_per_k: Type.Optional(
      usdAmount("USD per 1,000 calls of the standard actions; default 0.05"),
    ),
    tiles_usd_per_k: Type.Optional(
      usdAmount("USD per 1,000 calls of site_image and site_images; default 0.005"),
    ),
  },
  { ...closed, description: "Maps; left out: what is built in" },
);

export const MAPS_SECTION = { maps: Type.Optional(Maps) };

/** Returns the offer of the section `maps`; without the section, the built-in offer. */
export function readMaps(
  file: Static<typeof Maps> | undefined,
  context: SectionContext,
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
  context: SectionContext,
): PicoUsd | null {
  const value = file[field];
  return value === undefined ? null : pricePerThousand(value, `/maps/${field}`, context);
}

function toServer(
  name: string,
  file: Static<typeof MapsServerFile>,
  context: SectionContext,
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
  const url = urlOf(text, refuse);
  for (const placeholder of ["{lat}", "{lon}", "{zoom}", "{width}", "{height}"]) {
    if (!text.includes(placeholder)) return refuse(`must have the placeholder ${placeholder}`);
  }
  if (/[{}]/.test(url.host)) return refuse("must name its host without placeholders");
  return text;
}
