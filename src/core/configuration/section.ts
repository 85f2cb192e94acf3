// Gives the sections of the configuration file their shared parts: a context, and checks of values
// that go beyond a schema.

import { type PicoUsd, price } from "../money/money.ts";
import type { LocatedJson } from "./located-json.ts";

/** Refuses the value at a JSON pointer, and with it the file. */
export type Refuse = (pointer: string, problem: string) => never;

type RefuseValue = (problem: string) => never;

/** A fault at a JSON pointer. */
export interface Fault {
  readonly pointer: string;
  readonly problem: string;
}

/** The keys that a file names. */
export interface ApiKeys {
  /** The faults of all keys read so far: reported together, since each is one step to set up. */
  readonly faults: readonly Fault[];
  /**
   * Returns the key of the server at a pointer, by the field that names its variable; null if it
   * names none, or if its key is a fault.
   */
  of(server: string, variable: string | undefined, field?: string): string | null;
  /** Returns a text of several lines in the same way, such as a file of credentials. */
  textOf(server: string, variable: string | undefined, field: string): string | null;
}

/** The means of reading a section. */
export interface SectionContext {
  readonly keys: ApiKeys;
  /** The whole file. */
  readonly json: LocatedJson;
  readonly refuse: Refuse;
}

const PERCENT = /^\d{1,4}(\.\d{1,4})?$/;
const PRICE = /^\d+(\.\d{1,6})?$/;

/** Reads an address without credentials. */
export function urlOf(text: string, refuse: RefuseValue): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return refuse("must be an http or https URL");
  if (url.username !== "" || url.password !== "") {
    return refuse("must hold no credentials: use api_key_env");
  }
  return url;
}

/** The address of a server, without a slash at its end. */
export function baseUrlOf(text: string, refuse: RefuseValue): string {
  const url = urlOf(text, refuse);
  if (url.search !== "" || url.hash !== "") return refuse("must hold no query and no fragment");
  return url.href.replace(/\/+$/, "");
}

/** Sanity limit in USD for 1,000 calls: a higher price is rejected as a typo. */
const PER_THOUSAND_MAX = 10_000;

/** A price for 1,000 calls at a JSON pointer, read digit by digit. */
export function pricePerThousand(
  value: unknown,
  pointer: string,
  { json, refuse }: Pick<SectionContext, "json" | "refuse">,
): PicoUsd {
  const digits = typeof value === "string" ? value : json.numberAt(pointer);
  return price(
    priceDigits(digits, PER_THOUSAND_MAX, (problem) => refuse(pointer, problem)),
    1_000,
  );
}

/** The digits of a percentage at a JSON pointer, as they are written; undefined without one. */
export function percentAt(
  value: unknown,
  pointer: string,
  { json, refuse }: Pick<SectionContext, "json" | "refuse">,
): string | undefined {
  if (value === undefined) return undefined;
  const digits = typeof value === "string" ? value : json.numberAt(pointer);
  if (digits !== undefined && PERCENT.test(digits)) return digits;
  return refuse(pointer, "must be a percentage from 0 to 9999, with at most 4 decimals");
}

/** Returns the digits of a USD price, as they are written in the file. */
export function priceDigits(digits: string | undefined, most: number, refuse: RefuseValue): string {
  if (digits === undefined || !PRICE.test(digits) || Number(digits) > most) {
    refuse(`must be a decimal USD amount from 0 to ${most}, with at most 6 decimals`);
  }
  return digits ?? "";
}
