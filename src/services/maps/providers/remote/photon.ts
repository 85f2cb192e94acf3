// Photon: names and addresses of OpenStreetMap. The base URL is the one before `/api`.

import { distance, type Position } from "../../../../annexes/atlas/geography.ts";
import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import type { ParametersOf } from "../../actions.ts";
import type { NearbyPlace, PlaceAnswer } from "../../place-answers.ts";
import type { Services, Unable } from "../provider.ts";
import { POI_KEYS, placeAt } from "./geocoder-place.ts";
import { OPENSTREETMAP } from "./openstreetmap.ts";
import { joined, lookUp, pointOf, requiredList, textOrNull } from "./read.ts";
import { degrees, jsonService, type Upstream, type UpstreamRequest } from "./upstream.ts";

const ATTRIBUTION = [OPENSTREETMAP];

const KINDS: Readonly<Record<string, PlaceAnswer["kind"]>> = {
  house: "address",
  street: "street",
  locality: "district",
  district: "district",
  city: "city",
  county: "county",
  state: "state",
  country: "country",
};
/** A server of an older release does not send the type of a place; its tag then gives it. */
const PLACE_KINDS: Readonly<Record<string, PlaceAnswer["kind"]>> = {
  city: "city",
  town: "city",
  village: "city",
  hamlet: "city",
  suburb: "district",
  quarter: "district",
  county: "county",
  state: "state",
  country: "country",
};

export function photon(upstream: Upstream, now: () => number): Services {
  return {
    geocode: jsonService(upstream, {
      request: ({ query, limit, country, lang, lat, lon }) => ({
        path: "/api",
        query: {
          q: query,
          limit,
          countrycode: country,
          lang: languageOf(lang),
          lat: lat === null ? null : degrees(lat),
          lon: lon === null ? null : degrees(lon),
        },
      }),
      answer: (reply, { limit, country }) => {
        const places = toPlaces(reply);
        // Releases before the country filter ignore the parameter.
        const within = places.filter((one) => country === null || one.country_code === country);
        return { data: { places: within.slice(0, limit) }, attribution: ATTRIBUTION };
      },
      unableBy: unableLanguage,
    }),
    reverse: jsonService<"reverse">(upstream, {
      request: reverseRequest,
      answer: (reply, at) => ({ data: { place: nearest(reply, at) }, attribution: ATTRIBUTION }),
      unableBy: unableLanguage,
    }),
    place_at: jsonService<"place_at">(upstream, {
      request: reverseRequest,
      answer: (reply, at) => ({
        data: placeAt(nearest(reply, at), at, now()),
        attribution: ATTRIBUTION,
      }),
      unableBy: unableLanguage,
    }),
  };
}

function reverseRequest({ lat, lon, lang }: ParametersOf<"reverse">): UpstreamRequest {
  const query = { lat: degrees(lat), lon: degrees(lon), limit: 1, lang: languageOf(lang) };
  return { path: "/reverse", query };
}

/** Photon supports languages without their regions, and refuses languages that its index lacks. */
function languageOf(lang: string | null): string | null {
  return lang?.split("-")[0] ?? null;
}

/** A server names the languages of its index only in its refusal. */
function unableLanguage(
  refusal: unknown,
  { lang }: Pick<ParametersOf<"reverse">, "lang">,
): Unable | null {
  if (lang === null || !/\blanguage\b/i.test(textOrNull(objectOrEmpty(refusal).message) ?? ""))
    return null;
  return { parameter: "lang", problem: "must be a language of the names here" };
}

function nearest(reply: unknown, at: Position): NearbyPlace | null {
  const [place] = toPlaces(reply);
  if (place === undefined) return null;
  return { ...place, distance_m: Math.round(distance(at, place)) };
}

function toPlaces(reply: unknown): PlaceAnswer[] {
  return requiredList(objectOrEmpty(reply).features, "features", toPlace);
}

function toPlace(feature: Json): PlaceAnswer | null {
  const at = pointOf(objectOrEmpty(feature.geometry).coordinates);
  const found = objectOrEmpty(feature.properties);
  const street =
    textOrNull(found.street) ?? (found.type === "street" ? textOrNull(found.name) : null);
  const houseNumber = textOrNull(found.housenumber, 40);
  const address = joined(" ", street, houseNumber);
  const own = textOrNull(found.name) ?? address;
  const country = textOrNull(found.country);
  const city = textOrNull(found.city) ?? (found.type === "city" ? own : null);
  const state = textOrNull(found.state);
  const postcode = textOrNull(found.postcode, 40);
  // A place without a name gets the name of the area around it.
  const name = own ?? textOrNull(found.district) ?? city ?? state ?? country;
  if (at === null || name === null) return null;
  const parts = [name, address, joined(" ", postcode, city), state, country];
  const line = parts.filter((part, index) => part !== null && parts.indexOf(part) === index);
  return {
    name,
    label: line.join(", "),
    kind: placeKindOf(found),
    ...at,
    country_code: textOrNull(found.countrycode, 2)?.toUpperCase() ?? null,
    country,
    state,
    county: textOrNull(found.county),
    city,
    postcode,
    street,
    house_number: houseNumber,
    population: null,
    timezone: null,
  };
}

function placeKindOf(found: Json): PlaceAnswer["kind"] {
  const { type, osm_key: key, osm_value: value } = found;
  if (typeof key === "string" && POI_KEYS.has(key)) return "poi";
  return (key === "place" ? lookUp(PLACE_KINDS, value) : null) ?? lookUp(KINDS, type) ?? "other";
}
