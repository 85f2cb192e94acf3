// Converts elements of OpenStreetMap, as Overpass sends them, into answers.

import { distance, type LineString, type Position } from "../../../../annexes/atlas/geography.ts";
import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import type { ParametersOf } from "../../actions.ts";
import type { PoiAnswer } from "../../place-answers.ts";
import type { ClosureAnswer, RoadAnswer, SpeedCameraAnswer } from "../../road-answers.ts";
import type { LineAnswer } from "../../transit-answers.ts";
import type { TransitMode } from "../../vocabulary.ts";
import { lengthOf, middleOf, roadClassOf } from "./openstreetmap.ts";
import {
  joined,
  lineStringOf,
  lookUp,
  numeral,
  positionOf,
  textOrNull,
  webAddress,
} from "./read.ts";

export interface OsmElement {
  /** The id, such as `node/123`. */
  readonly id: string;
  readonly tags: Json;
  /** The position of a node, or the centre of another element that has one. */
  readonly at: Position | null;
  readonly line: LineString | null;
}

const KILOMETRES_PER_MILE = 1.609344;

/** An element, or null if it is invalid. */
export function element(item: Json): OsmElement | null {
  const { type, id } = item;
  if (type !== "node" && type !== "way" && type !== "relation") return null;
  if (!Number.isSafeInteger(id)) return null;
  const place = type === "node" ? item : objectOrEmpty(item.center);
  return {
    id: `${type}/${id}`,
    tags: objectOrEmpty(item.tags),
    at: positionOf(place.lat, place.lon),
    line: lineStringOf(item.geometry, (point) => {
      const { lat, lon } = objectOrEmpty(point);
      return positionOf(lat, lon);
    }),
  };
}

export function toPoi(
  { id, tags, at }: OsmElement,
  parameters: Pick<ParametersOf<"poi">, "lat" | "lon" | "category" | "lang">,
): PoiAnswer | null {
  if (at === null) return null;
  const street = joined(
    " ",
    textOrNull(tags["addr:street"]),
    textOrNull(tags["addr:housenumber"], 40),
  );
  const city = joined(" ", textOrNull(tags["addr:postcode"], 40), textOrNull(tags["addr:city"]));
  return {
    id,
    name: named(tags, "name", parameters.lang),
    category: parameters.category,
    ...at,
    distance_m: Math.round(distance(parameters, at)),
    address: joined(", ", street, city),
    phone: textOrNull(tags.phone, 60) ?? textOrNull(tags["contact:phone"], 60),
    website: webAddress(tags.website ?? tags["contact:website"], ["https:", "http:"]),
    opening_hours: textOrNull(tags.opening_hours),
    code: textOrNull(tags.iata, 20) ?? textOrNull(tags["railway:ref"], 20),
  };
}

export function toCamera({ id, tags, at }: OsmElement): SpeedCameraAnswer | null {
  if (at === null) return null;
  return {
    id,
    ...at,
    speed_limit_kmh: speedOf(tags.maxspeed),
    direction_deg: directionOf(tags.direction ?? tags["camera:direction"]),
  };
}

export function toRoad({ tags, line }: OsmElement): RoadAnswer {
  return {
    road_class: roadClassOf(tags.highway),
    name: textOrNull(tags.name),
    ref: textOrNull(tags.ref, 60),
    speed_limit_kmh: speedOf(tags.maxspeed),
    oneway: lookUp({ yes: true, "-1": true, no: false }, tags.oneway),
    surface: textOrNull(tags.surface, 60),
    lanes: numeral(tags.lanes, 1, 30),
    geometry: line,
  };
}

export function toClosure(
  { id, tags, line }: OsmElement,
  lang: string | null,
): ClosureAnswer | null {
  if (line === null) return null;
  const roads = [textOrNull(tags.ref, 60), named(tags, "name", lang)];
  return {
    id,
    reason: tags.highway === "construction" ? "construction" : "access",
    description: named(tags, "description", lang),
    roads: roads.filter((road) => road !== null),
    ...middleOf(line),
    // Tags have days at best, no times.
    starts_at: null,
    ends_at: null,
    length_m: Math.round(lengthOf(line)),
    geometry: line,
  };
}

const MODES: Readonly<Record<string, TransitMode>> = {
  bus: "bus",
  trolleybus: "bus",
  tram: "tram",
  light_rail: "suburban",
  subway: "subway",
  train: "regional_rail",
  ferry: "ferry",
  monorail: "other",
  funicular: "cable",
  aerialway: "cable",
};
/** The values of the tag `service` for trains. */
const TRAINS: Readonly<Record<string, TransitMode>> = {
  commuter: "suburban",
  long_distance: "long_distance_rail",
  high_speed: "long_distance_rail",
  night: "long_distance_rail",
  car_shuttle: "other",
};

export function toLine({ tags }: OsmElement, lang: string | null): LineAnswer | null {
  const mode = lookUp(MODES, tags.route);
  const name = named(tags, "name", lang);
  const line = textOrNull(tags.ref, 60) ?? name;
  if (mode === null || line === null) return null;
  return {
    line,
    mode: (tags.route === "train" ? lookUp(TRAINS, tags.service) : null) ?? mode,
    name,
    operator: textOrNull(tags.operator) ?? textOrNull(tags.network),
    from: named(tags, "from", lang),
    to: named(tags, "to", lang),
    colour: colourOf(tags.colour),
  };
}

/** A name in a language, in its base language, or in the local one. */
function named(tags: Json, key: string, lang: string | null): string | null {
  const inLanguage = lang === null ? null : textOrNull(tags[`${key}:${lang}`]);
  const inBase = lang === null ? null : textOrNull(tags[`${key}:${lang.split("-")[0]}`]);
  return inLanguage ?? inBase ?? textOrNull(tags[key]);
}

/** Kilometres per hour from `50` or `30 mph`; null if it depends on a country, as `DE:urban`. */
function speedOf(value: unknown): number | null {
  const [, digits, unit] = /^(\d{1,3})( ?mph)?$/.exec(textOrNull(value, 20) ?? "") ?? [];
  if (digits === undefined) return null;
  const speed = Number(digits);
  return unit === undefined ? speed : Math.round(speed * KILOMETRES_PER_MILE);
}

const COMPASS = "N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW".split(" ");

function directionOf(value: unknown): number | null {
  const text = textOrNull(value, 20);
  const point = COMPASS.indexOf(text ?? "");
  return point >= 0 ? (point * 360) / COMPASS.length : numeral(text, 0, 360);
}

/** `#` and six digits for a colour of three or six digits; null for a name. */
export function colourOf(value: unknown): string | null {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(textOrNull(value, 20) ?? "") ?? [];
  if (digits === undefined) return null;
  const six = digits.length === 6 ? digits : digits.replace(/./g, "$&$&");
  return `#${six.toLowerCase()}`;
}
