// Defines the kinds of parameters of maps actions, each with its check and its unit. Values arrive
// as text in the query string.

import type { Box, Position } from "../../annexes/atlas/geography.ts";
import { instantMs } from "../../core/money/months.ts";
import {
  isLonger,
  numberFrom,
  oneOf,
  shortText,
  type TSchema,
  Type,
  text as textSchema,
  whole as wholeSchema,
} from "../../http/schema.ts";

/** A kind of value. */
export interface Kind<T> {
  /** The rule in refusals, after the parameter's name, and in the documentation. */
  readonly rule: string;
  /** The schema for the documentation; `read` does the actual check. */
  readonly schema: TSchema;
  /** The value of the text; undefined if it is invalid. */
  readonly read: (text: string) => T | undefined;
}

/**
 * A parameter of an action. `Value` is the type for providers: null only if the parameter may be
 * absent.
 */
export interface Parameter<Value> {
  readonly kind: Kind<Exclude<Value, null>>;
  readonly about: string;
  readonly required: boolean;
  /** Used if an optional parameter is absent. */
  readonly fallback: Value | null;
}

/** A parameter that must be present. */
export function required<T>(kind: Kind<T>, about: string): Parameter<T> {
  return { kind: kind as Kind<Exclude<T, null>>, about, required: true, fallback: null };
}

/** A parameter that is null if it is absent. */
export function optional<T>(kind: Kind<T>, about: string): Parameter<T | null> {
  return { kind: kind as Kind<Exclude<T, null>>, about, required: false, fallback: null };
}

/** A parameter with a default value. */
export function defaulted<T>(kind: Kind<T>, fallback: T, about: string): Parameter<T> {
  return { kind: kind as Kind<Exclude<T, null>>, about, required: false, fallback };
}

const DECIMAL = /^-?\d{1,9}(?:\.\d{1,15})?$/;
const WHOLE = /^-?\d{1,9}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a text with one is refused
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
// RFC 5646: language, script, region and a few variants; neither extensions nor private use.
const LANGUAGE =
  /^[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|\d{3}))?(?:-[A-Za-z0-9]{5,8}){0,4}$/;
const STOP_ID = /^[A-Za-z0-9][A-Za-z0-9_.:\-/~]{0,127}$/;

/** A decimal number without an exponent, as coordinates are written. */
export function decimal(least: number, most: number): Kind<number> {
  return {
    schema: numberFrom(least, most),
    rule: `must be a decimal number from ${least} to ${most}`,
    read: (text) => within(DECIMAL.test(text) ? Number(text) : Number.NaN, least, most),
  };
}

export function whole(least: number, most: number): Kind<number> {
  return {
    schema: wholeSchema(least, most),
    rule: `must be a whole number from ${least} to ${most}`,
    read: (text) => within(WHOLE.test(text) ? Number(text) : Number.NaN, least, most),
  };
}

/** One line of limited length in Unicode code points, without surrounding white space. */
export function line(charactersMax: number): Kind<string> {
  return {
    schema: shortText(charactersMax),
    rule: `must be one line of 1 to ${charactersMax} characters`,
    read: (raw) => {
      const value = raw.trim();
      const isLong = isLonger(value, charactersMax);
      return value === "" || isLong || CONTROL.test(value) ? undefined : value;
    },
  };
}

export function choice<const T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    schema: oneOf(choices),
    rule: `must be one of: ${choices.join(", ")}`,
    read: (text) => choices.find((one) => one === text),
  };
}

export const truth: Kind<boolean> = {
  schema: Type.Boolean(),
  rule: "must be true or false",
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

export const latitude = decimal(-90, 90);
export const longitude = decimal(-180, 180);

/** `lat,lon`. */
export const position: Kind<Position> = {
  schema: textSchema({ examples: ["52.52,13.405"] }),
  rule: "must be latitude,longitude in decimal degrees, such as 52.52,13.405",
  read: (text) => {
    const [lat, lon, more] = text.split(",");
    const value = { lat: latitude.read(lat ?? ""), lon: longitude.read(lon ?? "") };
    if (value.lat === undefined || value.lon === undefined || more !== undefined) return undefined;
    return { lat: value.lat, lon: value.lon };
  },
};

/** The id of a stop, from the action `stops`. */
export const stopId: Kind<string> = {
  schema: textSchema(),
  rule: "must be the stop_id of a stop, as the action stops answers it",
  read: (text) => (STOP_ID.test(text) ? text : undefined),
};

/** The start or end of a journey. */
export type Place = { readonly at: Position } | { readonly stopId: string };

/** `lat,lon`, or the id of a stop. */
export const place: Kind<Place> = {
  schema: textSchema({ examples: ["52.52,13.405"] }),
  rule: "must be latitude,longitude in decimal degrees or the stop_id of a stop",
  read: (text) => {
    const at = position.read(text);
    if (at !== undefined) return { at };
    return stopId.read(text) === undefined ? undefined : { stopId: text };
  },
};

/** `min_lon,min_lat,max_lon,max_lat`. */
export const box: Kind<Box> = {
  schema: textSchema({ examples: ["13.3,52.4,13.5,52.6"] }),
  rule: "must be min_lon,min_lat,max_lon,max_lat in degrees, each minimum below its maximum",
  read: (text) => {
    const parts = text.split(",");
    if (parts.length !== 4) return undefined;
    const [minLon, maxLon] = [parts[0], parts[2]].map((one) => longitude.read(one ?? ""));
    const [minLat, maxLat] = [parts[1], parts[3]].map((one) => latitude.read(one ?? ""));
    if (minLon === undefined || minLat === undefined) return undefined;
    if (maxLon === undefined || maxLat === undefined) return undefined;
    return minLon < maxLon && minLat < maxLat ? { minLon, minLat, maxLon, maxLat } : undefined;
  },
};

/** An instant, as milliseconds of Unix time. */
export const time: Kind<number> = {
  schema: textSchema({ format: "date-time" }),
  rule: "must be an RFC 3339 time with its offset, such as 2026-11-21T08:00:00+01:00",
  read: (text) => {
    const ms = TIME.test(text) ? instantMs(text) : null;
    return ms ?? undefined;
  },
};

/** An ISO 3166-1 alpha-2 code; accepted in either case, returned in upper case. */
export const country: Kind<string> = {
  schema: textSchema({ pattern: "^[A-Za-z]{2}$" }),
  rule: "must be an ISO 3166-1 alpha-2 code, such as DE",
  read: (text) => (/^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : undefined),
};

/** A BCP 47 tag in its canonical case, such as de or pt-BR. */
export const language: Kind<string> = {
  schema: textSchema({ examples: ["de", "pt-BR"] }),
  rule: "must be a BCP 47 language tag, such as de or pt-BR",
  read: (text) => {
    if (!LANGUAGE.test(text)) return undefined;
    try {
      return Intl.getCanonicalLocales(text)[0];
    } catch (error) {
      // The language tag names a variant twice.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  },
};

function within(value: number, least: number, most: number): number | undefined {
  // Adding zero turns minus zero into zero.
  return value >= least && value <= most ? value + 0 : undefined;
}
