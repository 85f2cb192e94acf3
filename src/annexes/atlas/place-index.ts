// Finds places in the data file: by name, and around a position.

import type { Database, Statement } from "bun:sqlite";
import type { NearbyPlace, PlaceAnswer, PoiAnswer } from "../../services/maps/place-answers.ts";
import { type Box, boxesAround, distance, type Position } from "./geography.ts";
import { countryName } from "./place-file.ts";
import { exactKey, foldName, PLACE_BITS } from "./place-name.ts";

export interface NameQuery {
  readonly query: string;
  readonly limit: number;
  readonly country: string | null;
  /** Places near this position are preferred. */
  readonly near: Position | null;
}

export interface PlaceLabel extends Position {
  readonly name: string;
  readonly population: number;
  /** True for the capital of a country. */
  readonly isCapital: boolean;
}

export interface LabelOptions {
  readonly limit: number;
  /**
   * Limits the search to this number of the world's largest places, which is faster in a box with
   * more places.
   */
  readonly rank: number | null;
  /** True if parts of cities get labels too; always false with a rank. */
  readonly districts: boolean;
}

interface PlaceRow {
  readonly id: number;
  readonly name: string;
  readonly lat: number;
  readonly lon: number;
  readonly feature: string;
  readonly country: string;
  readonly state: string | null;
  readonly county: string | null;
  readonly population: number;
  readonly timezone: string;
}

interface PoiRow {
  readonly category: string;
  readonly source_id: string;
  readonly code: string | null;
  readonly name: string;
  readonly address: string | null;
  readonly lat: number;
  readonly lon: number;
}

type Bindings = Record<string, string | number | bigint | null>;

const COLUMNS = `p.id, p.name, p.lat, p.lon, f.text AS feature, p.country, s.text AS state,
  c.text AS county, p.population, t.text AS timezone`;
const LABELS = `JOIN label f ON f.id = p.feature JOIN label t ON t.id = p.timezone
  LEFT JOIN label s ON s.id = p.state LEFT JOIN label c ON c.id = p.county`;
const IN_BOX = `n.min_lat <= $maxLat AND n.max_lat >= $minLat
  AND n.min_lon <= $maxLon AND n.max_lon >= $minLon`;

/** GeoNames' code for a part of a city. */
const DISTRICT = "PPLX";
const WORDS_MAX = 12;
/**
 * The best places are chosen among this many with most inhabitants; among more if near places are
 * preferred.
 */
const CANDIDATES = 30;
const NEAR_CANDIDATES = 100;
/** The weight of a place for which the name is only an alternate name. */
const ALTERNATE_WEIGHT = 0.1;
/** At this distance, half of the preference for near places is gone. */
const NEAR_METRES = 50_000;
/** The distances to search for the nearest place; the first with a result ends the search. */
const REVERSE_METRES = [15_000, 100_000] as const;
/** The density of a large city's centre. With less density, a city would cover its suburbs. */
const INHABITANTS_PER_SQUARE_METRE = 0.015;

interface PoiQuery {
  readonly metres: number;
  readonly category: string;
  readonly limit: number;
}

export class PlaceIndex {
  readonly #exact: Statement<PlaceRow, [Bindings]>;
  readonly #matching: Statement<PlaceRow, [Bindings]>;
  readonly #inBox: Statement<Pick<PlaceRow, "id" | "lat" | "lon" | "population">, [Bindings]>;
  readonly #byId: Statement<PlaceRow, [Bindings]>;
  readonly #labels: Statement<PlaceLabel & { feature: string }, [Bindings]>;
  readonly #largest: Statement<PlaceLabel & { feature: string }, [Bindings]>;
  readonly #pois: Statement<PoiRow, [Bindings]>;

  constructor(db: Database) {
    const inCountry = "($country IS NULL OR p.country = $country)";
    this.#exact = db.query(`SELECT ${COLUMNS} FROM exact e
      JOIN place p ON p.id = e.key & ${(1n << PLACE_BITS) - 1n} ${LABELS}
      WHERE e.key BETWEEN $low AND $high AND ${inCountry} ORDER BY e.key LIMIT $limit`);
    this.#matching = db.query(`SELECT ${COLUMNS} FROM place_text x
      CROSS JOIN place p ON p.id = x.rowid ${LABELS}
      WHERE place_text MATCH $words AND ${inCountry} ORDER BY x.rowid LIMIT $limit`);
    this.#inBox = db.query(`SELECT p.id, p.lat, p.lon, p.population FROM place_near n
      CROSS JOIN place p ON p.id = n.id WHERE ${IN_BOX}`);
    this.#byId = db.query(`SELECT ${COLUMNS} FROM place p ${LABELS} WHERE p.id = $id`);
    this.#labels = db.query(`SELECT p.name, p.lat, p.lon, p.population, f.text AS feature
      FROM place_near n CROSS JOIN place p ON p.id = n.id JOIN label f ON f.id = p.feature
      WHERE ${IN_BOX} AND ($districts OR f.text <> '${DISTRICT}') ORDER BY p.id LIMIT $limit`);
    this.#largest = db.query(`SELECT p.name, p.lat, p.lon, p.population, f.text AS feature
      FROM place p JOIN label f ON f.id = p.feature
      WHERE p.id < $rank AND p.lat BETWEEN $minLat AND $maxLat
      AND p.lon BETWEEN $minLon AND $maxLon AND f.text <> '${DISTRICT}'
      ORDER BY p.id LIMIT $limit`);
    this.#pois = db.query(`SELECT q.category, q.source_id, q.code, q.name, q.address, q.lat, q.lon
      FROM poi_near n CROSS JOIN poi q ON q.id = n.id WHERE ${IN_BOX} AND q.category = $category`);
  }

  /**
   * Finds first places of exactly this name, then those with all its words in their names, then
   * those with the remaining words in the names of their state or country. Each group is ordered by
   * weight: inhabitants, main or alternate name, and distance.
   */
  find({ query, limit, country, near }: NameQuery): PlaceAnswer[] {
    const folded = foldName(query);
    const words = folded.split(" ").filter((word) => word !== "");
    if (words.length === 0 || words.length > WORDS_MAX) return [];
    const low = exactKey(folded);
    const candidates = near === null ? CANDIDATES : NEAR_CANDIDATES;
    // The context of each place contains the code of its country; reading every match would take
    // long.
    const within = country === null ? "" : ` AND context : "${country}"`;
    const bindings = { country, limit: Math.max(limit, candidates) };
    const steps = [
      () => this.#exact.all({ ...bindings, low, high: low + (1n << PLACE_BITS) - 1n }),
      () => this.#matching.all({ ...bindings, words: `names : (${phrase(words)})${within}` }),
      () => this.#matching.all({ ...bindings, words: `(${phrase(words)})${within}` }),
    ];
    const found = new Map<number, PlaceRow>();
    for (const step of steps) {
      if (found.size >= limit) break;
      const rows = step().map((row) => ({ row, weight: weightOf(row, folded, near) }));
      rows.sort((a, b) => b.weight - a.weight);
      for (const { row } of rows) if (!found.has(row.id)) found.set(row.id, row);
    }
    return [...found.values()].slice(0, limit).map(toPlace);
  }

  /**
   * The place within 100 km with the nearest edge, or null. In the data, places are points: by
   * distance to the points alone, most of a large city would belong to its suburbs.
   */
  nearest(position: Position): NearbyPlace | null {
    for (const metres of REVERSE_METRES) {
      let best: { id: number; away: number; beyondEdge: number } | null = null;
      for (const box of boxesAround(position, metres)) {
        for (const place of this.#inBox.iterate({ ...box })) {
          const away = distance(position, place);
          const beyondEdge = away - radiusOf(place.population);
          if (away > metres || (best !== null && beyondEdge >= best.beyondEdge)) continue;
          best = { id: place.id, away, beyondEdge };
        }
      }
      const row = best === null ? null : this.#byId.get({ id: best.id });
      if (best && row) return { ...toPlace(row), distance_m: Math.round(best.away) };
    }
    return null;
  }

  /** Points of interest within `metres`, the nearest first. */
  pois(around: Position, { metres, category, limit }: PoiQuery): PoiAnswer[] {
    return boxesAround(around, metres)
      .flatMap((box) => this.#pois.all({ ...box, category }))
      .map((row) => ({ row, away: distance(around, row) }))
      .filter(({ away }) => away <= metres)
      .sort((a, b) => a.away - b.away)
      .slice(0, limit)
      .map(({ row, away }) => toPoi(row, Math.round(away)));
  }

  /** The places in a box with most inhabitants, for the labels of a map. */
  labels(box: Box, { limit, rank, districts }: LabelOptions): PlaceLabel[] {
    const rows =
      rank === null
        ? this.#labels.all({ ...box, limit, districts: Number(districts) })
        : this.#largest.all({ ...box, limit, rank });
    return rows.map(({ feature, ...label }) => ({ ...label, isCapital: feature === "PPLC" }));
  }
}

/** The radius in metres of the disc that this number of people needs. */
function radiusOf(population: number): number {
  return Math.sqrt(population / (Math.PI * INHABITANTS_PER_SQUARE_METRE));
}

/** Quotes the words, so that no part of a name is an operator; the last word may be incomplete. */
function phrase(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  // One or two Latin letters are the beginning of half of all names.
  const mayGoOn = last.length > 2 || /[^\p{Script=Latin}\d]/u.test(last);
  return words.map((word) => `"${word}"`).join(" ") + (mayGoOn ? "*" : "");
}

function weightOf(row: PlaceRow, folded: string, near: Position | null): number {
  const isCalledSo = foldName(row.name).startsWith(folded);
  const people = row.population * (isCalledSo ? 1 : ALTERNATE_WEIGHT);
  if (near === null) return people;
  // Right at the position, a place weighs as much as a place with a thousand times the inhabitants.
  const closeness = NEAR_METRES / (NEAR_METRES + distance(row, near));
  return Math.log10(people + 100) + 3 * closeness;
}

function toPlace(row: PlaceRow): PlaceAnswer {
  const country = countryName(row.country);
  const isDistrict = row.feature === DISTRICT;
  const label = [row.name, row.state, country].filter((part, at, all) => all.indexOf(part) === at);
  return {
    name: row.name,
    label: label.filter((part) => part !== null).join(", "),
    lat: row.lat,
    lon: row.lon,
    kind: isDistrict ? "district" : "city",
    country_code: row.country,
    country,
    state: row.state,
    county: row.county,
    city: isDistrict ? null : row.name,
    postcode: null,
    street: null,
    house_number: null,
    population: row.population === 0 ? null : row.population,
    timezone: row.timezone,
  };
}

function toPoi(row: PoiRow, metres: number): PoiAnswer {
  return {
    id: row.source_id,
    name: row.name,
    category: row.category,
    lat: row.lat,
    lon: row.lon,
    distance_m: metres,
    address: row.address,
    phone: null,
    website: null,
    opening_hours: null,
    code: row.code,
  };
}
