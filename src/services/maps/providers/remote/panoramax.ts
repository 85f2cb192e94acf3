// Panoramax: photographs of streets, as a STAC API. The base URL is the one before `/api/search`.

import { distance, type Position } from "../../../../annexes/atlas/geography.ts";
import { isObject, type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import type { SitePicture } from "../../place-answers.ts";
import type { Services } from "../provider.ts";
import {
  nearestFirst,
  numberOf,
  offsetTime,
  pointOf,
  readItems,
  requiredList,
  textOrNull,
  webAddress,
} from "./read.ts";
import { degrees, jsonService, type Upstream } from "./upstream.ts";

interface FoundPicture {
  readonly picture: SitePicture;
  readonly attribution: string;
}

export function panoramax(upstream: Upstream): Services {
  return {
    site_images: jsonService(upstream, {
      request: ({ lat, lon, radius, limit }) => ({
        path: "/api/search",
        query: {
          // Pictures that show the position, the nearest first.
          place_position: `${degrees(lon)},${degrees(lat)}`,
          place_distance: `0-${radius}`,
          limit,
        },
      }),
      answer: (reply, at) => {
        const { features } = objectOrEmpty(reply);
        const all = requiredList(features, "features", (item) => toPicture(item, at));
        const within = all.filter(({ picture }) => picture.distance_m <= at.radius);
        const found = nearestFirst(within, ({ picture }) => picture.distance_m, at.limit);
        return {
          data: { images: found.map(({ picture }) => picture) },
          attribution: [...new Set(found.map(({ attribution }) => attribution))],
        };
      },
    }),
  };
}

/** A picture with a known licence; others must not be shown. */
function toPicture(item: Json, from: Position): FoundPicture | null {
  const at = pointOf(objectOrEmpty(item.geometry).coordinates);
  const properties = objectOrEmpty(item.properties);
  const url = webAddress(objectOrEmpty(objectOrEmpty(item.assets).sd).href, ["https:"]);
  const licence = textOrNull(properties.license, 60);
  if (at === null || url === null || licence === null) return null;
  const producer = producerOf(item, properties);
  return {
    attribution: `Photographs: ${producer === null ? "" : `${producer}, `}Panoramax, ${licence}`,
    picture: {
      kind: "photo",
      url,
      ...at,
      // The size in the reply is that of the original, not of this rendition.
      width: null,
      height: null,
      distance_m: Math.round(distance(from, at)),
      captured_at: offsetTime(properties.datetimetz) ?? offsetTime(properties.datetime),
      heading_deg: numberOf(properties["view:azimuth"], 0, 360),
      caption: producer === null ? licence : `${producer}, ${licence}`,
    },
  };
}

function producerOf(item: Json, properties: Json): string | null {
  const isProducer = ({ roles }: Json) => Array.isArray(roles) && roles.includes("producer");
  const [named] = readItems(item.providers, (one) =>
    isProducer(one) ? textOrNull(one.name, 80) : null,
  );
  if (named !== undefined) return named;
  const producer = properties["geovisio:producer"];
  return isObject(producer) ? textOrNull(producer.name, 80) : textOrNull(producer, 80);
}
