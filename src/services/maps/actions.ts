// The one table of maps actions (SPEC 4.5): each with its category and its parameters. Prices are
// set by category in prices.ts; maps-replies.ts has the shapes of answers.

import type { Area, Box } from "../../annexes/atlas/geography.ts";
import {
  box,
  choice,
  country,
  defaulted,
  language,
  latitude,
  line,
  longitude,
  optional,
  type Parameter,
  place,
  position,
  required,
  stopId,
  time,
  truth,
  whole,
} from "./parameters.ts";
import { POI_CATEGORIES } from "./vocabulary.ts";

export { POI_CATEGORIES };

const CATEGORIES = ["standard", "tiles"] as const;
export type Category = (typeof CATEGORIES)[number];

/** Rules for several parameters together. */
export type Together =
  /** The call has all of them, or none of them. */
  | { readonly rule: "all_or_none"; readonly names: readonly string[] }
  /** An area: either `bbox`, or `lat` and `lon`, with or without `radius`. */
  | { readonly rule: "area" };

interface Action {
  readonly category: Category;
  /** The answer of the action, in half a sentence. */
  readonly about: string;
  readonly parameters: Readonly<Record<string, Parameter<unknown>>>;
  readonly together?: Together;
}

const RADIUS = "in metres";
const NOW = "a time; now if left out";
const at = {
  lat: required(latitude, "latitude"),
  lon: required(longitude, "longitude"),
};
const lang = optional(language, "language of names and texts");
const limit = (fallback: number, most: number) =>
  defaulted(whole(1, most), fallback, "the most results");
const around = (fallback: number, most: number) => ({
  ...at,
  radius: defaulted(whole(1, most), fallback, RADIUS),
});
const area = {
  bbox: optional(box, "the area; or lat, lon and radius"),
  lat: optional(latitude, "latitude of the area's centre, with lon"),
  lon: optional(longitude, "longitude of the area's centre, with lat"),
  radius: optional(whole(1, 50_000), "metres around lat and lon; 1000 if left out"),
};
const journey = {
  from: required(place, "where it begins"),
  to: required(place, "where it ends"),
  time: optional(time, NOW),
  arrive_by: defaulted(truth, false, "whether time is that of arrival"),
  limit: limit(3, 10),
  lang,
};
const ends = {
  from: required(position, "where it begins"),
  to: required(position, "where it ends"),
};

export const ACTIONS = {
  geocode: {
    category: "standard",
    about: "places of this name or address",
    parameters: {
      query: required(line(200), "a name or an address"),
      limit: limit(5, 20),
      country: optional(country, "only places in this country"),
      lang,
      lat: optional(latitude, "prefer places near here, with lon"),
      lon: optional(longitude, "prefer places near here, with lat"),
    },
    together: { rule: "all_or_none", names: ["lat", "lon"] },
  },
  reverse: {
    category: "standard",
    about: "the place or address at a position",
    parameters: { ...at, lang },
  },
  place_at: {
    category: "standard",
    about: "country, region, time zone and nearest place of a position",
    parameters: { ...at, lang },
  },
  poi: {
    category: "standard",
    about: "points of interest of a category, the nearest first",
    parameters: {
      ...around(1_000, 50_000),
      category: required(choice(...POI_CATEGORIES), "the category"),
      limit: limit(20, 100),
      lang,
    },
  },
  stops: {
    category: "standard",
    about: "stops of public transport, the nearest first",
    parameters: { ...around(500, 10_000), limit: limit(20, 100), lang },
  },
  departures: {
    category: "standard",
    about: "the next departures from a stop",
    parameters: {
      stop_id: required(stopId, "the stop, as stops answers it"),
      time: optional(time, NOW),
      limit: limit(10, 50),
      lang,
    },
  },
  journey: {
    category: "standard",
    about: "journeys by public transport",
    parameters: journey,
  },
  rail: {
    category: "standard",
    about: "journeys by rail alone",
    parameters: journey,
  },
  transit: {
    category: "standard",
    about: "the lines of public transport that serve a surrounding",
    parameters: { ...around(1_000, 10_000), limit: limit(50, 200), lang },
  },
  route: {
    category: "standard",
    about: "the way by car, bicycle or foot",
    parameters: {
      ...ends,
      mode: defaulted(choice("car", "bicycle", "foot"), "car", "the means of travel"),
      steps: defaulted(truth, false, "whether to list the turns"),
      lang,
    },
  },
  route_traffic: {
    category: "standard",
    about: "the way by car, with the traffic",
    parameters: { ...ends, depart_at: optional(time, NOW) },
  },
  road_classes: {
    category: "standard",
    about: "the roads of an area with their class and limits",
    parameters: { ...area, limit: limit(50, 500) },
    together: { rule: "area" },
  },
  closures: {
    category: "standard",
    about: "closed roads",
    parameters: { ...area, limit: limit(50, 200), lang },
    together: { rule: "area" },
  },
  incidents: {
    category: "standard",
    about: "accidents, jams, works and the like",
    parameters: { ...area, limit: limit(50, 200), lang },
    together: { rule: "area" },
  },
  traffic_status: {
    category: "standard",
    about: "how fast the traffic of the nearest road flows",
    parameters: at,
  },
  speed_cameras: {
    category: "standard",
    about: "fixed speed cameras",
    parameters: { ...area, limit: limit(50, 200) },
    together: { rule: "area" },
  },
  fuel_prices: {
    category: "standard",
    about: "filling stations with their prices, the nearest first",
    parameters: {
      ...around(5_000, 25_000),
      fuel: optional(choice("diesel", "e5", "e10"), "only stations that sell it; all if left out"),
      limit: limit(20, 100),
    },
  },
  weather: {
    category: "standard",
    about: "the weather now and the forecast by day",
    parameters: { ...at, days: defaulted(whole(1, 14), 3, "days of forecast, today included") },
  },
  site_image: {
    category: "tiles",
    about: "a map of a site",
    parameters: {
      ...at,
      zoom: defaulted(whole(0, 18), 8, "of Web Mercator: each step doubles the scale"),
      width: defaulted(whole(64, 1024), 600, "in pixels"),
      height: defaulted(whole(64, 1024), 400, "in pixels"),
      style: defaulted(choice("light", "dark"), "light", "the colours"),
      marker: defaulted(truth, true, "whether the site is marked"),
      format: defaulted(choice("json", "png"), "json", "png answers the picture itself"),
    },
  },
  site_images: {
    category: "tiles",
    about: "pictures of a site, maps or photographs",
    parameters: { ...around(500, 5_000), limit: limit(4, 10) },
  },
} as const satisfies Record<string, Action>;

export type MapsAction = keyof typeof ACTIONS;

/** SPEC 4.5: only sessions can use these; no API key can call them. */
export const SESSION_ACTIONS: readonly string[] = [
  "flights",
  "live_flights",
  "ip_geolocation",
  "geoip",
];

type Value<P> = P extends Parameter<infer V> ? V : never;

/**
 * The checked parameters of an action; null only if a parameter may be absent and has no default.
 */
export type ParametersOf<A extends MapsAction> = {
  readonly [N in keyof (typeof ACTIONS)[A]["parameters"]]: Value<
    (typeof ACTIONS)[A]["parameters"][N]
  >;
};

/** True for the name of an action. */
export function isMapsAction(name: string): name is MapsAction {
  return Object.hasOwn(ACTIONS, name);
}

const AREA_RADIUS = 1_000;

/** The area that the checked parameters of an action describe. */
export function areaOf(parameters: {
  readonly bbox: Box | null;
  readonly lat: number | null;
  readonly lon: number | null;
  readonly radius: number | null;
}): Area {
  const { bbox, lat, lon, radius } = parameters;
  if (bbox !== null) return { around: null, radius: null, box: bbox };
  if (lat === null || lon === null) throw new Error("An area was not checked");
  return { around: { lat, lon }, radius: radius ?? AREA_RADIUS, box: null };
}
