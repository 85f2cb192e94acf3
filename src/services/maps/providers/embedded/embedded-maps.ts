// Serves maps actions that need no configuration: places, countries, airports, stations and maps,
// from data in npm packages.

import { Atlas, type AtlasOptions } from "../../../../annexes/atlas/atlas.ts";
import type { Position } from "../../../../annexes/atlas/geography.ts";
import { metresPerPixel } from "../../../../annexes/atlas/map-drawing.ts";
import { countryName, placeFile } from "../../../../annexes/atlas/place-file.ts";
import { PlaceIndex } from "../../../../annexes/atlas/place-index.ts";
import { throwIfCancelled } from "../../../../core/cancellation.ts";
import type { Clock } from "../../../../core/clock.ts";
import { type DataFile, isBuilt, openDataFile } from "../../../../upstream/data-file.ts";
import type { ParametersOf } from "../../actions.ts";
import type { SitePicture } from "../../place-answers.ts";
import type { EMBEDDED_ACTIONS } from "../../servers.ts";
import type { Service, Unable } from "../provider.ts";
import { territoryAt, timezoneAt, utcOffset } from "../territory.ts";
import { Lookups } from "./lookups.ts";

export interface EmbeddedOptions extends AtlasOptions {
  readonly clock: Clock;
}

export interface EmbeddedMaps extends Disposable {
  readonly services: { readonly [A in (typeof EMBEDDED_ACTIONS)[number]]: Service<A> };
  /** Resolves when the data file exists; calls wait for it. */
  readonly ready: Promise<unknown>;
}

const GEONAMES = "Places: GeoNames, CC BY 4.0, https://www.geonames.org";
const NATURAL_EARTH = "Map: made with Natural Earth";
const OPENFLIGHTS = "Airports: OpenFlights, ODbL 1.0, https://openflights.org";
const DEUTSCHE_BAHN = "Stations: DB Station&Service AG, CC BY 4.0";
const OPENSTREETMAP = "Time zones: © OpenStreetMap contributors, ODbL 1.0";

/** The coast data are precise enough up to this zoom. */
const ZOOM_MAX = 10;
/** The zooms of a site's maps, in order, as many as requested. */
const SITE_ZOOMS = [10, 8, 6, 4, 2, 9, 7, 5, 3, 1];
const SITE_WIDTH = 480;
const SITE_HEIGHT = 320;
/** Web Mercator ends here. */
const MAP_LATITUDE_MAX = 85;

/** Starts to build or open the data file in its own thread; only calls wait for it. */
export function openEmbeddedMaps(options: EmbeddedOptions): EmbeddedMaps {
  const { directory, clock, log } = options;
  const atlas = new Atlas(options);
  const opened = placesIn(atlas, placeFile(directory, log));
  const places = lookUpIn(opened, clock);
  const ready = opened();
  // Each call receives the error; this only avoids an unhandled rejection before the first one.
  ready.catch(() => {});
  return {
    services: {
      geocode: geocode(places),
      reverse: reverse(places),
      place_at: placeAt(places, clock.now),
      poi: poi(places),
      site_image: siteImage(atlas),
      site_images: siteImages(atlas),
    },
    ready,
    [Symbol.dispose]: () => atlas.close(),
  };
}

/** Runs a look-up of places when the account's turn comes. */
type Places = <T>(account: string, look: (index: PlaceIndex) => T) => Promise<T>;

/**
 * Opens the places once. If that failed, the next call tries again, as often as the atlas permits.
 */
function placesIn(atlas: Atlas, file: DataFile): () => Promise<PlaceIndex> {
  let places: Promise<PlaceIndex> | null = null;
  return () => {
    places ??= openPlaces(atlas, file).catch((error: unknown) => {
      places = null;
      throw error;
    });
    return places;
  };
}

function lookUpIn(opened: () => Promise<PlaceIndex>, clock: Clock): Places {
  const lookups = new Lookups(clock);
  return async (account, look) => {
    const index = await opened();
    return await lookups.run(account, () => look(index));
  };
}

/** Building takes seconds and would block this thread, so the atlas's thread does it. */
async function openPlaces(atlas: Atlas, file: DataFile): Promise<PlaceIndex> {
  if (!isBuilt(file)) await atlas.build();
  return new PlaceIndex(await openDataFile(file));
}

function geocode(places: Places): Service<"geocode"> {
  return {
    unable: unableByLanguage,
    ask: async ({ query, limit, country, lat, lon }, { account }) => {
      const near = lat === null || lon === null ? null : { lat, lon };
      const found = await places(account, (index) => index.find({ query, limit, country, near }));
      return { data: { places: found }, attribution: [GEONAMES] };
    },
  };
}

function reverse(places: Places): Service<"reverse"> {
  return {
    unable: unableByLanguage,
    ask: async (position, { account }) => {
      const place = await places(account, (index) => index.nearest(position));
      return { data: { place }, attribution: [GEONAMES] };
    },
  };
}

function placeAt(places: Places, now: () => number): Service<"place_at"> {
  return {
    unable: unableByLanguage,
    ask: async (position, { account }) => {
      const nearest = await places(account, (index) => index.nearest(position));
      const territory = territoryAt(position);
      const code = territory?.countryCode ?? null;
      // The nearest place may be across the border; then it does not give the region.
      const region = nearest?.country_code === code ? nearest : null;
      const timezone = timezoneAt(position);
      const data = {
        country_code: code,
        country: code === null ? null : countryName(code),
        state: region?.state ?? null,
        county: region?.county ?? null,
        timezone,
        utc_offset_s: utcOffset(timezone, now()),
        drives_on: territory?.drivesOn ?? null,
        calling_code: territory?.callingCode ?? null,
        nearest_place: nearest,
      };
      return { data, attribution: [GEONAMES, OPENSTREETMAP] };
    },
  };
}

function poi(places: Places): Service<"poi"> {
  return {
    unable: (parameters) => unableByLanguage(parameters) ?? unableByCategory(parameters),
    ask: async ({ lat, lon, radius, category, limit }, { account }) => {
      const pois = await places(account, (index) =>
        index.pois({ lat, lon }, { metres: radius, category, limit }),
      );
      const source = category === "airport" ? OPENFLIGHTS : DEUTSCHE_BAHN;
      return { data: { pois }, attribution: [source] };
    },
  };
}

function siteImage(atlas: Atlas): Service<"site_image"> {
  return {
    unable: (parameters) =>
      parameters.zoom > ZOOM_MAX
        ? { parameter: "zoom", problem: `must be at most ${ZOOM_MAX} on the built-in map` }
        : unableByLatitude(parameters),
    ask: async ({ lat, lon, zoom, width, height, style, marker }, { account }) => {
      const map = { lat, lon, zoom, width, height, style, marker };
      const url = await atlas.draw(map, account);
      const metres = metresPerPixel(lat, zoom);
      const scale = { zoom, metres_per_pixel: Number(metres.toPrecision(4)) };
      const image = { lat, lon, width, height, ...scale, url };
      return { data: { image }, attribution: [NATURAL_EARTH, GEONAMES] };
    },
  };
}

function siteImages(atlas: Atlas): Service<"site_images"> {
  return {
    unable: unableByLatitude,
    ask: async ({ lat, lon, limit }, { account, signal }) => {
      const size = { width: SITE_WIDTH, height: SITE_HEIGHT };
      const images: SitePicture[] = [];
      // Draws one map after the other, so that no call takes more of the atlas's queue than
      // another.
      for (const zoom of SITE_ZOOMS.slice(0, limit)) {
        throwIfCancelled(signal);
        const map = { lat, lon, zoom, ...size, style: "light", marker: true } as const;
        images.push({
          kind: "map",
          lat,
          lon,
          url: await atlas.draw(map, account),
          ...size,
          distance_m: 0,
          captured_at: null,
          heading_deg: null,
          caption: `Map at zoom ${zoom}`,
        });
      }
      return { data: { images }, attribution: [NATURAL_EARTH, GEONAMES] };
    },
  };
}

/** GeoNames does not record the language of a name. */
function unableByLanguage({ lang }: { readonly lang: string | null }): Unable | null {
  if (lang === null) return null;
  return { parameter: "lang", problem: "must be left out: the built-in names have no language" };
}

function unableByCategory({ lat, lon, category }: ParametersOf<"poi">): Unable | null {
  if (category === "airport") return null;
  if (category === "train_station" && territoryAt({ lat, lon })?.countryCode === "DE") return null;
  const known = "airport, or in Germany train_station, for what is built in";
  return { parameter: "category", problem: `must be ${known}` };
}

function unableByLatitude({ lat }: Position): Unable | null {
  if (Math.abs(lat) <= MAP_LATITUDE_MAX) return null;
  const range = `-${MAP_LATITUDE_MAX} to ${MAP_LATITUDE_MAX}`;
  return { parameter: "lat", problem: `must be from ${range}, where the built-in map ends` };
}
