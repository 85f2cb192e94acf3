// Nominatim: names and addresses of OpenStreetMap. The base URL is the one before `/search`.

import { distance, type Position } from "../../../../annexes/atlas/geography.ts";
import { isObject, type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import type { ParametersOf } from "../../actions.ts";
import type { NearbyPlace, PlaceAnswer } from "../../place-answers.ts";
import type { MapsAnswer, Services } from "../provider.ts";
import { POI_KEYS, placeAt } from "./geocoder-place.ts";
import { OPENSTREETMAP } from "./openstreetmap.ts";
import { joined, lookUp, positionOf, requiredList, textOrNull } from "./read.ts";
import {
  degrees,
  jsonService,
  type Query,
  type Upstream,
  type UpstreamRequest,
} from "./upstream.ts";

const FORMAT = { format: "jsonv2", addressdetails: 1 } as const;
/** Places within about a degree of the position are preferred. */
const NEAR_DEGREES = 1;
const ATTRIBUTION = [OPENSTREETMAP];

const KINDS: Readonly<Record<string, PlaceAnswer["kind"]>> = {
  house: "address",
  house_number: "address",
  building: "address",
  place: "address",
  road: "street",
  street: "street",
  neighbourhood: "district",
  quarter: "district",
  suburb: "district",
  borough: "district",
  city_district: "district",
  district: "district",
  city: "city",
  town: "city",
  village: "city",
  hamlet: "city",
  municipality: "city",
  county: "county",
  state_district: "county",
  state: "state",
  region: "state",
  province: "state",
  country: "country",
};
const CITY_FIELDS = ["city", "town", "village", "municipality", "hamlet"] as const;

export function nominatim(upstream: Upstream, now: () => number): Services {
  return {
    geocode: jsonService(upstream, {
      request: ({ query, limit, country, lang, lat, lon }) => ({
        path: "/search",
        query: {
          q: query,
          ...FORMAT,
          limit,
          countrycodes: country?.toLowerCase() ?? null,
          viewbox: lat === null || lon === null ? null : viewboxAround({ lat, lon }),
          "accept-language": lang,
        },
      }),
      answer: (reply, { limit }) => ({
        data: { places: requiredList(reply, "places", toPlace).slice(0, limit) },
        attribution: ATTRIBUTION,
      }),
    }),
    reverse: jsonService<"reverse">(upstream, {
      request: reverseRequest,
      answer: (reply, at) => nearby(toNearbyPlace(reply, at)),
      nothing: (refusal) => (isNothing(refusal) ? nearby(null) : null),
    }),
    place_at: jsonService<"place_at">(upstream, {
      request: reverseRequest,
      answer: (reply, at) => located(toNearbyPlace(reply, at), at, now()),
      nothing: (refusal, _, at) => (isNothing(refusal) ? located(null, at, now()) : null),
    }),
  };
}

function reverseRequest({ lat, lon, lang }: ParametersOf<"reverse">): UpstreamRequest {
  const query: Query = { lat: degrees(lat), lon: degrees(lon), ...FORMAT, "accept-language": lang };
  return { path: "/reverse", query };
}

function viewboxAround({ lat, lon }: Position): string {
  const [west, east] = [Math.max(-180, lon - NEAR_DEGREES), Math.min(180, lon + NEAR_DEGREES)];
  const [south, north] = [Math.max(-90, lat - NEAR_DEGREES), Math.min(90, lat + NEAR_DEGREES)];
  return [west, south, east, north].map(degrees).join(",");
}

function nearby(place: NearbyPlace | null): MapsAnswer<"reverse"> {
  return { data: { place }, attribution: ATTRIBUTION };
}

function located(place: NearbyPlace | null, at: Position, nowMs: number): MapsAnswer<"place_at"> {
  return { data: placeAt(place, at, nowMs), attribution: ATTRIBUTION };
}

/** True if Nominatim found nothing, as at sea; its reply then has status 200. */
function isNothing(refusal: unknown): boolean {
  return objectOrEmpty(refusal).error === "Unable to geocode";
}

function toNearbyPlace(reply: unknown, at: Position): NearbyPlace {
  if (!isObject(reply)) throw new RouteFailure("The reply has no place");
  const place = toPlace(reply);
  if (place === null) throw new RouteFailure("The reply has no place that can be read");
  return { ...place, distance_m: Math.round(distance(at, place)) };
}

function toPlace(item: Json): PlaceAnswer | null {
  const at = positionOf(item.lat, item.lon);
  const address = objectOrEmpty(item.address);
  const name = textOrNull(item.name);
  const label = textOrNull(item.display_name) ?? joined(", ", name, textOrNull(address.country));
  if (at === null || label === null) return null;
  const code = textOrNull(address.country_code, 2)?.toUpperCase() ?? null;
  const street = textOrNull(address.road);
  const houseNumber = textOrNull(address.house_number, 40);
  return {
    name: name ?? label.split(",")[0] ?? label,
    label,
    kind: placeKindOf(item),
    ...at,
    country_code: code,
    country: textOrNull(address.country),
    state: textOrNull(address.state),
    county: textOrNull(address.county) ?? textOrNull(address.state_district),
    city:
      CITY_FIELDS.map((field) => textOrNull(address[field])).find((one) => one !== null) ?? null,
    postcode: textOrNull(address.postcode, 40),
    street,
    house_number: houseNumber,
    population: null,
    timezone: null,
  };
}

function placeKindOf({ addresstype, category }: Json): PlaceAnswer["kind"] {
  const isPoi = typeof category === "string" && POI_KEYS.has(category);
  return lookUp(KINDS, addresstype) ?? (isPoi ? "poi" : "other");
}
