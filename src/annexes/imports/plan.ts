// Describes an import before it runs: accounts with their credit and keys, models, and notes on
// data that cannot be carried over.

import type { Span, StandingSpan } from "../../core/access/budgets.ts";
import type { KeyRates, ModelPatterns } from "../../core/access/key-limits.ts";
import { decimal, quotient } from "../../core/money/decimal.ts";
import { type NanoUsd, usd } from "../../core/money/money.ts";
import { addressesFrom, CONTROL_CHARACTERS } from "../../core/text/field-rules.ts";
import { FORM_FIELDS } from "../../core/text/form-fields.ts";
import { type Json, jsonOrNull, objectOrEmpty } from "../../core/text/json.ts";
import { parseAddress } from "../../core/text/mail-address.ts";

export interface PlannedBudget {
  readonly span: StandingSpan;
  readonly amount: NanoUsd;
}

/** The most that a new account or key may spend. */
export interface PlannedSpending {
  readonly monthlyLimit: NanoUsd | null;
  /** At most one of each span. */
  readonly budgets: readonly PlannedBudget[];
}

/** The spending of an account or key that has no limit of its own. */
export const ANY_SPENDING: PlannedSpending = { monthlyLimit: null, budgets: [] };

/** The limits of a new key beside its monthly limit and its addresses. */
export interface PlannedLimits extends Pick<KeyRates, "requestsPerMinute" | "tokensPerMinute"> {
  readonly endsAt: Date | null;
  readonly models: ModelPatterns;
  /** The tags: no limit, but words by which the calls of the key are found. */
  readonly tags: readonly string[];
  /** The budgets, at most one of each span. */
  readonly budgets: readonly PlannedBudget[];
}

/** The limits of a key that has none. */
export const NO_LIMITS: PlannedLimits = {
  endsAt: null,
  models: null,
  tags: [],
  requestsPerMinute: null,
  tokensPerMinute: null,
  budgets: [],
};

/** An imported key, for which its holder gets a new one. */
export interface PlannedKey extends PlannedLimits {
  /** The key's identity, unique in its source. */
  readonly origin: string;
  readonly name: string;
  /** The last four characters of the old key; "" if they are not known. */
  readonly lastFour: string;
  readonly monthlyLimit: NanoUsd | null;
  readonly ipAllowlist: readonly string[];
}

/** A user, a team, or a key that pays for itself. */
export interface PlannedAccount extends PlannedSpending {
  readonly origin: string;
  readonly name: string;
  readonly email: string | null;
  readonly balance: NanoUsd;
  readonly suspended: boolean;
  readonly keys: readonly PlannedKey[];
}

/** A budget of one end user, by the id that calls name it with. */
export interface PlannedEndUser {
  readonly id: string;
  readonly span: Span;
  readonly amount: NanoUsd;
}

/** The budgets of the end users whose calls come from one account. */
export interface PlannedEndUsers {
  /** The origin of the account. */
  readonly origin: string;
  readonly budgets: readonly PlannedEndUser[];
}

/** A model in the form of the configuration file. */
export interface PlannedModel {
  readonly id: string;
  readonly label: string;
  readonly family: string;
  readonly owned_by: string;
  readonly context_length: number;
  readonly pricing: readonly [
    {
      readonly input_usd_per_m: string;
      readonly output_usd_per_m: string;
      readonly cached_input_usd_per_m?: string;
    },
  ];
  readonly routes: readonly { readonly provider: string; readonly model: string }[];
}

/** A provider in the form of the configuration file. */
export interface PlannedProvider {
  readonly base_url: string;
  readonly api_key_env?: string;
}

/** The sections of the configuration file that an import fills. */
export interface PlannedCatalogue {
  readonly providers: Readonly<Record<string, PlannedProvider>>;
  readonly models: readonly PlannedModel[];
}

export interface ImportPlan {
  /** The product's usual name. */
  readonly product: string;
  readonly accounts: readonly PlannedAccount[];
  /** Null for a source that has no models at all. */
  readonly catalogue: PlannedCatalogue | null;
  /** Null for a source without end users. */
  readonly endUsers: PlannedEndUsers | null;
  /** Differences from the old product, one sentence each; each begins with its subject. */
  readonly notes: readonly string[];
}

/** The plan of an import from a product that has models. */
export interface ProductPlan extends ImportPlan {
  readonly catalogue: PlannedCatalogue;
}

/** Terms of a plan that the database does not hold. */
export interface PlanTerms {
  readonly nowMs: number;
  /** The context length of models for which the database has none. */
  readonly contextLength: number;
}

/** The limits of the configuration file. */
export const CONTEXT_LENGTHS = { from: 256, to: 100_000_000 } as const;
export const ROUTES_MAX = 16;
const LINE_MAX = 200;
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/;
const PRICE_MAX_DECIMALS = 6;
const NANO_DECIMALS = 9;
const ONE = { digits: 1n, scale: 0 };

/** Returns a text of a foreign database; null for an empty text and any other value. */
export function foreignText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

/** Returns a whole number of a foreign database; null for any other value. */
export function wholeOf(value: unknown): bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : null;
  return typeof value === "string" && /^-?\d{1,30}$/.test(value) ? BigInt(value) : null;
}

/** True for a flag that is set: `true`, or 1 in a database without booleans. */
export function isSet(value: unknown): boolean {
  return value === true || value === 1 || value === "1" || value === "t";
}

const CONTROLS = new RegExp(`[${CONTROL_CHARACTERS}]+`, "g");

/** A name as Farebox stores it: one line without control characters, not too long. */
export function nameFrom(
  text: string | null,
  fallback: string,
  most: number = FORM_FIELDS.name.charactersMax,
) {
  const line = (text ?? "").replaceAll(CONTROLS, " ").trim();
  return [...(line === "" ? fallback : line)].slice(0, most).join("").trim();
}

/** The label of a model. */
export function labelFrom(text: string): string {
  return nameFrom(text, "model", LINE_MAX);
}

/**
 * Returns a USD amount, cut off after the nano-USD; null if it is not an amount that Redis can
 * count.
 */
export function foreignUsd(value: unknown): NanoUsd | null {
  const number = decimal(value);
  return number === null ? null : usdOrNull(quotient(number, ONE, cut));
}

/**
 * Returns the worth of a count of units, of which `perUsd` are one USD; null if it is too large.
 */
export function worthOf(units: bigint, perUsd: string): NanoUsd | null {
  const divisor = decimal(perUsd);
  if (divisor === null || divisor.digits <= 0n) return null;
  return usdOrNull(quotient({ digits: units, scale: 0 }, divisor, cut));
}

const cut = { decimals: NANO_DECIMALS, rounding: "down" } as const;

function usdOrNull(text: string): NanoUsd | null {
  try {
    return usd(text);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Returns the price of a million tokens in USD; digits beyond the last decimal are rounded up. Null
 * for a value that is no price.
 */
export function pricePerMillion(perToken: unknown): string | null {
  const number = decimal(perToken);
  if (number === null || number.digits < 0n) return null;
  const million = { digits: number.digits * 1_000_000n, scale: number.scale };
  return quotient(million, ONE, { decimals: PRICE_MAX_DECIMALS, rounding: "up" });
}

/** Returns an address that mail can be sent to, or its problem. */
export function emailFrom(text: string | null): { email: string | null; problem: string | null } {
  if (text === null) return { email: null, problem: null };
  const parsed = parseAddress(text);
  return typeof parsed === "string"
    ? { email: null, problem: `the e-mail address '${text}' ${parsed}: the account has none` }
    : { email: parsed.address, problem: null };
}

/** Returns the addresses and CIDR blocks, or the error that names the first wrong entry. */
export function allowlistFrom(entries: readonly string[]): readonly string[] | RangeError {
  try {
    return addressesFrom(entries.map((entry) => entry.trim()).filter((entry) => entry !== ""));
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

/** True for an id that our models may have. */
export function isModelId(id: string): boolean {
  return MODEL_ID.test(id);
}

/** The family of a model, from its name: `gpt` of `openai/gpt-5-mini`. */
export function familyOf(model: string): string {
  const name = model.slice(model.lastIndexOf("/") + 1);
  return labelFrom(/^[^-_.:\d]+/.exec(name)?.[0] ?? name);
}

/** Returns the address of a server, or why the configuration file cannot hold it. */
export function serverAddress(text: string): { readonly url: string } | string {
  if (!/^https?:\/\/\S{1,500}$/.test(text) || !URL.canParse(text)) return "it has no address";
  const { username, password, search, hash } = new URL(text);
  return [username, password, search, hash].some((part) => part !== "")
    ? "its address has credentials, a query or a fragment"
    : { url: text.replace(/\/+$/, "") };
}

/** The name of a provider in the configuration file, from any text. */
export function providerNameOf(text: string): string {
  const name = text
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "");
  return name.slice(0, 48).replace(/-+$/, "") || "provider";
}

/** The environment variable for a provider's API key: `MAIN_2_API_KEY` of `main-2`. */
export function keyVariableOf(provider: string): string {
  return `${provider
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_")}_API_KEY`;
}

/** Adds a note for each e-mail address that several accounts share. */
export function sharedEmails(accounts: readonly PlannedAccount[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { email, origin } of accounts) {
    if (email === null) continue;
    const key = email.toLowerCase();
    owners.set(key, [...(owners.get(key) ?? []), origin]);
  }
  return [...owners]
    .filter(([, origins]) => origins.length > 1)
    .map(([email, origins]) => `${email}: ${origins.join(", ")} share it, and stay apart accounts`);
}

/** The object in a JSON text; an empty one for anything else. */
export function jsonObject(text: string | null | undefined): Json {
  return objectOrEmpty(jsonOrNull(text ?? "{}"));
}
