// Reads the data of an upstream field by field. Each field is checked and bounded; unknown fields
// are dropped.

import type { LineString, Position } from "../../../../annexes/atlas/geography.ts";
import { isObject, type Json } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";

const ITEMS_MAX = 20_000;
const POINTS_MAX = 100_000;
const TEXT_MAX = 300;
// biome-ignore lint/suspicious/noControlCharactersInRegex: each becomes a space in a text
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Converts the items of a list with `read`; items for which it returns null are omitted. */
export function readItems<T>(value: unknown, read: (item: Json) => T | null): T[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, ITEMS_MAX).flatMap((item) => {
    const result = isObject(item) ? read(item) : null;
    return result === null ? [] : [result];
  });
}

/**
 * A list that a reply must have. Throws a RouteFailure if it is missing, or if no item in it can be
 * read: a reply of another form must not look like "nothing found".
 */
export function requiredList<T>(value: unknown, name: string, read: (item: Json) => T | null): T[] {
  if (!Array.isArray(value)) throw new RouteFailure(`The reply has no ${name}`);
  const list = readItems(value, read);
  if (value.length > 0 && list.length === 0) throw unreadable(name);
  return list;
}

export function unreadable(name: string): RouteFailure {
  return new RouteFailure(`The reply has no ${name} that can be read`);
}

/** The value; throws a RouteFailure if it is null. */
export function required<T>(value: T | null, name: string): T {
  if (value === null) throw unreadable(name);
  return value;
}

/** One line of at most `charactersMax`, or null. */
export function textOrNull(value: unknown, charactersMax = TEXT_MAX): string | null {
  if (typeof value !== "string") return null;
  const line = value
    .slice(0, charactersMax * 2 + 64)
    .replace(CONTROL, " ")
    .trim();
  const text = line.length > charactersMax ? [...line].slice(0, charactersMax).join("") : line;
  return text === "" ? null : text.toWellFormed();
}

/** The texts that are not null, joined; null if there is none. */
export function joined(separator: string, ...texts: readonly (string | null)[]): string | null {
  return texts.filter((text) => text !== null).join(separator) || null;
}

export function numberOf(value: unknown, least: number, most: number): number | null {
  return typeof value === "number" && value >= least && value <= most ? value : null;
}

/** A number of at least zero, and below an upper limit for meaningful values. */
export function countOf(value: unknown): number | null {
  return numberOf(value, 0, 1e9);
}

/** The same, rounded to a whole number. */
export function wholeOf(value: unknown): number | null {
  const count = countOf(value);
  return count === null ? null : Math.round(count);
}

/** A number that may be written as text. */
export function numeral(value: unknown, least: number, most: number): number | null {
  const isText = typeof value === "string" && /^-?\d{1,9}(?:\.\d{1,20})?$/.test(value);
  return numberOf(isText ? Number(value) : value, least, most);
}

export function truthOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/**
 * The position from two numbers, which some servers write as text. A longitude beyond the
 * antimeridian, as in a line across the antimeridian, becomes that of the other side.
 */
export function positionOf(lat: unknown, lon: unknown): Position | null {
  const [y, x] = [numeral(lat, -90, 90), numeral(lon, -360, 360)];
  if (y === null || x === null) return null;
  return { lat: y, lon: x > 180 ? x - 360 : x < -180 ? x + 360 : x };
}

/** A GeoJSON position: longitude first. */
export function pointOf(value: unknown): Position | null {
  return Array.isArray(value) ? positionOf(value[1], value[0]) : null;
}

/** A line of the valid positions of a list; null if fewer than two are valid. */
export function lineStringOf(
  value: unknown,
  read: (point: unknown) => Position | null = pointOf,
): LineString | null {
  if (!Array.isArray(value) || value.length < 2 || value.length > POINTS_MAX) return null;
  const coordinates: [number, number][] = [];
  for (const point of value) {
    const at = read(point);
    if (at !== null) coordinates.push([at.lon, at.lat]);
  }
  return coordinates.length < 2 ? null : { type: "LineString", coordinates };
}

/** An RFC 3339 time with its offset; missing seconds are added. */
export function offsetTime(value: unknown): string | null {
  const match = typeof value === "string" ? TIME.exec(value) : null;
  if (match === null || Number.isNaN(Date.parse(match[0]))) return null;
  const [time, seconds] = match;
  return seconds === undefined ? time.replace(/^(.{16})/, "$1:00") : time;
}

/** The RFC 3339 time of an instant, for a place `offsetSeconds` ahead of UTC. */
export function localTime(ms: number, offsetSeconds: number): string {
  const minutes = Math.round(Math.abs(offsetSeconds) / 60);
  const digits = (value: number) => String(value).padStart(2, "0");
  const sign = offsetSeconds < 0 ? "-" : "+";
  const offset = `${sign}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`;
  return new Date(ms + offsetSeconds * 1_000).toISOString().slice(0, 19) + offset;
}

/** A web address without credentials, safe for a caller to follow. */
export function webAddress(value: unknown, protocols: readonly string[]): string | null {
  const text = textOrNull(value, 2_000);
  if (text === null || !URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  return protocols.includes(protocol) && username === "" && password === "" ? href : null;
}

/**
 * One of the values of a table; with `Object.hasOwn`, because a reply may contain `constructor`.
 */
export function lookUp<T>(table: Readonly<Record<string, T>>, key: unknown): T | null {
  if (typeof key !== "string" || !Object.hasOwn(table, key)) return null;
  return table[key] ?? null;
}

/** The `most` items with the smallest `measure`, the smallest first. */
export function nearestFirst<T>(
  items: readonly T[],
  measure: (item: T) => number,
  most: number,
): T[] {
  return items.toSorted((a, b) => measure(a) - measure(b)).slice(0, most);
}
