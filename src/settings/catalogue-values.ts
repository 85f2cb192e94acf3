// Checks values that several parts of the configuration file have, beyond the rules of its schema.

import { type PicoUsd, price } from "../core/money/money.ts";
import { type Environment, secretOf } from "./environment.ts";
import type { LocatedJson } from "./located-json.ts";
import { ALL_VARIABLES } from "./server-variables.ts";

/** Refuses the value at a JSON pointer, and with it the file. */
export type Refuse = (pointer: string, problem: string) => never;

type RefuseValue = (problem: string) => never;

/** The values of these variables must never be sent anywhere, even if the configuration says so. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(Object.keys(ALL_VARIABLES));

const PRICE = /^\d+(\.\d{1,6})?$/;

/** The address of a server, without a slash at its end. */
export function baseUrlOf(text: string, refuse: RefuseValue): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return refuse("must be an http or https URL");
  if (url.username !== "" || url.password !== "") {
    return refuse("must hold no credentials: use api_key_env");
  }
  if (url.search !== "" || url.hash !== "") return refuse("must hold no query and no fragment");
  return url.href.replace(/\/+$/, "");
}

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
  /** Does the same for a text of several lines, such as a file of credentials. */
  textOf(server: string, variable: string | undefined, field: string): string | null;
}

/** The means of reading the values of an entry. */
export interface ValueContext {
  readonly keys: ApiKeys;
  readonly refuse: Refuse;
}

/** Returns the keys of one file, as this environment has them. */
export function apiKeysIn(env: Environment): ApiKeys {
  const faults: Fault[] = [];
  const read = (
    pointer: string,
    variable: string | undefined,
    of: (variable: string, env: Environment) => string,
  ) => {
    if (variable === undefined) return null;
    try {
      return of(variable, env);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      faults.push({ pointer, problem: error.message });
      return null;
    }
  };
  return {
    faults,
    of: (server, variable, field = "api_key_env") => read(`${server}/${field}`, variable, apiKeyOf),
    textOf: (server, variable, field) => read(`${server}/${field}`, variable, secretTextOf),
  };
}

/**
 * Returns the key in a variable, or in the file of `NAME_FILE`. Throws a RangeError without a key.
 */
function apiKeyOf(variable: string, env: Environment): string {
  const key = secretTextOf(variable, env);
  // The message never repeats the key itself.
  if (!/^[\x21-\x7e]{1,4096}$/.test(key)) {
    throw new RangeError(`names '${variable}', whose value cannot be sent as a key`);
  }
  return key;
}

function secretTextOf(variable: string, env: Environment): string {
  if (OWN_VARIABLES.has(variable)) {
    throw new RangeError(`names '${variable}', a setting of Farebox itself`);
  }
  const key = keyText(variable, env).trim();
  if (key === "") {
    // An operator may have written the key itself in this place: it must not get into a log.
    const shown = /^[A-Z_][A-Z0-9_]*$/.test(variable) ? ` '${variable}'` : "";
    throw new RangeError(`names an environment variable${shown} that is not set`);
  }
  return key;
}

function keyText(variable: string, env: Environment): string {
  try {
    return secretOf(variable, env).text ?? "";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`cannot be read: ${error.message}`, { cause: error });
  }
}

/** Sanity limit in USD for 1,000 calls: a higher price is rejected as a typo. */
const PER_THOUSAND_MAX = 10_000;

/** A price for 1,000 calls at a JSON pointer, read digit by digit. */
export function pricePerThousand(
  value: unknown,
  pointer: string,
  { json, refuse }: { readonly json: LocatedJson; readonly refuse: Refuse },
): PicoUsd {
  const digits = typeof value === "string" ? value : json.numberAt(pointer);
  return price(
    priceDigits(digits, PER_THOUSAND_MAX, (problem) => refuse(pointer, problem)),
    1_000,
  );
}

/** Returns the digits of a USD price, as they are written in the file. */
export function priceDigits(digits: string | undefined, most: number, refuse: RefuseValue): string {
  if (digits === undefined || !PRICE.test(digits) || Number(digits) > most) {
    refuse(`must be a decimal USD amount from 0 to ${most}, with at most 6 decimals`);
  }
  return digits ?? "";
}
