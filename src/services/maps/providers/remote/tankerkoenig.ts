// Tankerkoenig: prices of fuel in Germany. The base URL is the one before `/json/list.php`.

import { distance, type Position } from "../../../../annexes/atlas/geography.ts";
import { isObject, type Json } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import type { FuelStationAnswer } from "../../road-answers.ts";
import type { Services } from "../provider.ts";
import {
  joined,
  nearestFirst,
  numberOf,
  positionOf,
  requiredList,
  textOrNull,
  truthOf,
} from "./read.ts";
import { degrees, jsonService, type Upstream } from "./upstream.ts";

const ATTRIBUTION = ["Fuel prices: Tankerkönig (MTS-K), CC BY 4.0, https://www.tankerkoenig.de"];

export function tankerkoenig(upstream: Upstream): Services {
  const keyed = { ...upstream, keyParameter: "apikey" };
  return {
    fuel_prices: jsonService(keyed, {
      request: ({ lat, lon, radius }) => ({
        path: "/json/list.php",
        query: {
          lat: degrees(lat),
          lng: degrees(lon),
          rad: radius / 1_000,
          sort: "dist",
          type: "all",
        },
      }),
      answer: (reply, { fuel, limit, ...at }) => {
        // A wrong key also gets status 200.
        if (!isObject(reply) || reply.ok !== true) throw new RouteFailure("The reply is an error");
        const all = requiredList(reply.stations, "stations", (item) => toStation(item, at));
        const selling = fuel === null ? all : all.flatMap((one) => sellingOnly(one, fuel) ?? []);
        const stations = nearestFirst(selling, (one) => one.distance_m, limit);
        return { data: { stations }, attribution: ATTRIBUTION };
      },
    }),
  };
}

function sellingOnly(
  station: FuelStationAnswer,
  fuel: keyof FuelStationAnswer["prices"],
): FuelStationAnswer | null {
  const price = station.prices[fuel];
  if (price === null) return null;
  return { ...station, prices: { diesel: null, e5: null, e10: null, [fuel]: price } };
}

function toStation(item: Json, from: Position): FuelStationAnswer | null {
  const at = positionOf(item.lat, item.lng);
  const id = textOrNull(item.id, 60);
  const name = textOrNull(item.name) ?? textOrNull(item.brand);
  if (at === null || id === null || name === null) return null;
  const kilometres = numberOf(item.dist, 0, 1_000);
  const street = joined(" ", textOrNull(item.street), textOrNull(item.houseNumber, 40));
  const city = joined(" ", postcodeOf(item.postCode), textOrNull(item.place));
  return {
    id,
    name,
    brand: textOrNull(item.brand),
    address: joined(", ", street, city),
    ...at,
    distance_m: Math.round(kilometres === null ? distance(from, at) : kilometres * 1_000),
    is_open: truthOf(item.isOpen),
    currency: "EUR",
    prices: { diesel: priceOf(item.diesel), e5: priceOf(item.e5), e10: priceOf(item.e10) },
  };
}

/** The service sends the postcode as a number, which has lost its leading zero. */
function postcodeOf(value: unknown): string | null {
  const number = numberOf(value, 1, 99_999);
  return number === null ? null : String(number).padStart(5, "0");
}

/** Euros per litre; a fuel that is not sold there is null or false. */
function priceOf(value: unknown): number | null {
  return numberOf(value, 0.001, 100);
}
