// Builds the data file of places: names in FTS5, positions in R*Trees, whole names by their hash.
// Places are numbered by inhabitants, most first, so every index returns the best known places
// first.

import type { Database } from "bun:sqlite";
import type { Log } from "../../core/log.ts";
import type { DataFile, Progress } from "../../upstream/data-file.ts";
import { exactKey, foldName, PLACE_BITS } from "./place-name.ts";
import {
  readPlaces,
  readPois,
  readRegions,
  type SourcePlace,
  sourcesVersion,
} from "./place-sources.ts";

/** Raise this with every change of the tables. */
const SCHEMA = 1;

/** About the number of places; used only for the progress. */
const PLACES = 200_000;
const HASH_BYTES = 8 * 1024 * 1024;

const TABLES = `
  CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
  CREATE TABLE place (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, lat REAL NOT NULL, lon REAL NOT NULL,
    feature INTEGER NOT NULL, country TEXT NOT NULL, state INTEGER, county INTEGER,
    population INTEGER NOT NULL, timezone INTEGER NOT NULL
  );
  CREATE TABLE exact (key INTEGER PRIMARY KEY);
  CREATE TABLE poi (
    id INTEGER PRIMARY KEY, category TEXT NOT NULL, source_id TEXT NOT NULL, code TEXT,
    name TEXT NOT NULL, address TEXT, lat REAL NOT NULL, lon REAL NOT NULL
  );
  CREATE VIRTUAL TABLE place_text USING fts5(
    names, context, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2'
  );
  CREATE VIRTUAL TABLE place_near USING rtree(id, min_lat, max_lat, min_lon, max_lon);
  CREATE VIRTUAL TABLE poi_near USING rtree(id, min_lat, max_lat, min_lon, max_lon);
`;

/** Describes the data file for `openDataFile`, which builds or opens it. */
export function placeFile(directory: string, log: Log): DataFile {
  return { directory, name: "places", version: `${SCHEMA}.${sourcesVersion()}`, build, log };
}

const countryNames = new Intl.DisplayNames("en", { type: "region" });

/** The English name of a country. */
export function countryName(code: string): string {
  return countryNames.of(code) ?? code;
}

function build(db: Database, progress: Progress): void {
  db.run("PRAGMA cache_size = -200000");
  db.run(TABLES);
  // Makes SQLite write the text index in few, large segments.
  db.run(`INSERT INTO place_text (place_text, rank) VALUES ('hashsize', ${HASH_BYTES})`);
  db.transaction(() => {
    const keys = writePlaces(db, progress);
    writeExact(db, keys);
    writePois(db);
  })();
}

/** Writes all places, and returns the exact keys of all their names. */
function writePlaces(db: Database, progress: Progress): readonly bigint[] {
  const keys: bigint[] = [];
  const regionOf = regionFinder();
  const labels = labelWriter(db);
  const place = db.query("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const text = db.query("INSERT INTO place_text (rowid, names, context) VALUES (?, ?, ?)");
  const near = db.query("INSERT INTO place_near VALUES (?, ?, ?, ?, ?)");
  let id = 0;
  for (const source of readPlaces()) {
    const { name, lat, lon, country, population } = source;
    const { state, county, context } = regionOf(source);
    const feature = labels(source.feature) ?? 0;
    const timezone = labels(source.timezone) ?? 0;
    const regions = [labels(state), labels(county)] as const;
    place.run(id, name, lat, lon, feature, country, ...regions, population, timezone);
    const names = foldedNames(source);
    text.run(id, [...names].join(" / "), context);
    for (const folded of names) keys.push(exactKey(folded) | BigInt(id));
    near.run(id, lat, lat, lon, lon);
    if (id % 10_000 === 0) progress(id, PLACES);
    id += 1;
  }
  if (id >= 1 << Number(PLACE_BITS)) throw new Error("An exact key cannot number so many places");
  return keys;
}

/** All names of a place, each once; most spellings differ only before they are folded. */
function foldedNames({ name, ascii, alternates }: SourcePlace): Set<string> {
  const written = new Set(alternates.split(","));
  written.add(name).add(ascii);
  const folded = new Set<string>();
  for (const name of written) folded.add(foldName(name));
  folded.delete("");
  return folded;
}

interface Region {
  readonly state: string | null;
  readonly county: string | null;
  /** Further words that find a place besides its name. */
  readonly context: string;
}

function regionFinder(): (place: SourcePlace) => Region {
  const names = readRegions();
  const contexts = new Map<string, string>();
  return ({ country, admin1, admin2 }) => {
    const code = `${country}.${admin1}`;
    const state = names.get(code) ?? null;
    const county = names.get(`${code}.${admin2}`) ?? null;
    let context = contexts.get(code);
    if (context === undefined) {
      // In other countries these codes are numbers, which are not used as names.
      const short = /^[A-Z]{2,3}$/.test(admin1) ? admin1 : "";
      context = [state ?? "", short, countryName(country), country].join(" / ");
      contexts.set(code, context);
    }
    return { state, county, context };
  };
}

/** Gives each text a number once; null gets no number. */
function labelWriter(db: Database): (text: string | null) => number | null {
  const known = new Map<string, number>();
  const insert = db.query("INSERT INTO label VALUES (?, ?)");
  return (text) => {
    if (text === null) return null;
    const found = known.get(text);
    if (found !== undefined) return found;
    const id = known.size + 1;
    insert.run(id, text);
    known.set(text, id);
    return id;
  };
}

/**
 * Sorts the keys first, because a table that grows only at its end is written several times as
 * fast.
 */
function writeExact(db: Database, keys: readonly bigint[]): void {
  const insert = db.query("INSERT OR IGNORE INTO exact VALUES (?)");
  for (const key of BigInt64Array.from(keys).sort()) insert.run(key);
}

function writePois(db: Database): void {
  const poi = db.query("INSERT INTO poi VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const near = db.query("INSERT INTO poi_near VALUES (?, ?, ?, ?, ?)");
  for (const [id, source] of readPois().entries()) {
    const { category, code, name, address, lat, lon } = source;
    poi.run(id, category, source.id, code, name, address, lat, lon);
    near.run(id, lat, lat, lon, lon);
  }
}
