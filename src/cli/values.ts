// Reads the values of options and arguments. Every error names the wrong option or argument.

import { type ModelPatterns, RATE_MAX } from "../core/access/key-limits.ts";
import type { Scope } from "../core/access/services.ts";
import { type IdKind, isId } from "../core/ids.ts";
import { type NanoUsd, usd } from "../core/money/money.ts";
import { instantMs, isMonth, monthText } from "../core/money/months.ts";
import {
  addressesFrom,
  amountFrom,
  futureFrom,
  isUsualYear,
  lineFrom,
  modelsFrom,
  positiveAmountFrom,
  scopesFrom,
  tagsFrom,
  USUAL_YEARS,
  wrongField,
} from "../core/text/field-rules.ts";
import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { parseAddress, parseSignInAddress } from "../core/text/mail-address.ts";
import { type Input, UsageError } from "./command.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const EMAIL_LENGTH_MAX = 254;
const REFERENCE_LENGTH_MAX = 255;
const REASON_LENGTH_MAX = 500;

/** The positional argument at an index, as an id of this kind. */
export function idOf({ positionals }: Input, kind: IdKind, index = 0): string {
  const word = positionals[index] ?? "";
  if (!isId(kind, word)) throw new UsageError(`'${word}' is not the id of ${ARTICLES[kind]}`);
  return word;
}

const ARTICLES: Readonly<Record<IdKind, string>> = {
  account: "an account (acct_…)",
  key: "a key (key_…)",
  payment: "a payment (pay_…)",
  topUp: "a top-up (topup_…)",
  card: "a saved card (card_…)",
  request: "a request (req_…)",
  completion: "a completion",
  search: "a search",

  message: "a message (msg_…)",
  response: "a response (resp_…)",
  person: "a person (person_…)",
  session: "a session (session_…)",
  passkey: "a passkey (passkey_…)",
  invitation: "an invitation (invite_…)",
  receiver: "a webhook (hook_…)",
  event: "an event (evt_…)",
  process: "a process (proc_…)",
};

/** An amount of zero or more, with up to nine decimals. */
export function amountOf(input: Input, option: string): NanoUsd {
  return checked(option, () => amountFrom(input.values.get(option) ?? ""));
}

/** An amount of zero or more; null for the word "none". */
export function amountOrNoneOf(input: Input, option: string): NanoUsd | null {
  const isNone = nameAmong(["none"], input.values.get(option)) !== undefined;
  return isNone ? null : amountOf(input, option);
}

/** An amount above or below zero. */
export function signedAmountOf(input: Input, option: string): NanoUsd {
  const amount = checked(option, () => usd(input.values.get(option) ?? ""));
  if (amount !== 0n) return amount;
  throw new UsageError(`--${option} must not be zero`);
}

/** An amount above zero. */
export function positiveAmountOf(input: Input, option: string): NanoUsd {
  return checked(option, () => positiveAmountFrom(input.values.get(option) ?? ""));
}

/** An ISO date or time; a time without a zone is UTC. Null if the option is not given. */
export function timeOf(input: Input, option: string): Date | null {
  const text = input.values.get(option);
  if (text === undefined) return null;
  const match = TIME.exec(text);
  const [, day, minutes, seconds = ":00", zone = "Z"] = match ?? [];
  const iso = DATE.test(text) ? `${text}T00:00:00Z` : `${day}T${minutes}${seconds}${zone}`;
  const ms = match === null && !DATE.test(text) ? null : instantMs(iso);
  if (ms === null) {
    throw new UsageError(
      `--${option} must be a date or a time such as 2026-11-21 or 2026-11-21T14:30:00Z, ` +
        `but is '${text}'`,
    );
  }
  const time = new Date(ms);
  if (!isUsualYear(time)) {
    throw new UsageError(`--${option} ${USUAL_YEARS}, but is '${text}'`);
  }
  return time;
}

/** A UTC month, such as `2026-11`; `fallback` if the option is not given. */
export function monthOf({ values }: Input, option: string, fallback = ""): string {
  const month = values.get(option) ?? fallback;
  if (isMonth(month)) return month;
  throw new UsageError(`--${option} must be a month such as 2026-11, but is '${month}'`);
}

/** A UTC month that has begun. */
export function begunMonthOf(input: Input, option: string): string {
  const month = monthOf(input, option);
  if (month <= monthText(input.nowMs)) return month;
  throw new UsageError(`--${option} ${month} has not begun`);
}

/** The name that equals the word, ignoring case; undefined if there is none. */
export function nameAmong<T extends string>(
  names: readonly T[],
  word: string | undefined,
): T | undefined {
  const lower = word?.toLowerCase();
  return names.find((name) => name === lower);
}

/** An option that must be one of these words; `fallback` if it is not given. */
export function wordOf<T extends string>(
  input: Input,
  option: string,
  { words, fallback }: { readonly words: readonly T[]; readonly fallback: T },
): T {
  const text = input.values.get(option);
  if (text === undefined) return fallback;
  const word = nameAmong(words, text);
  if (word !== undefined) return word;
  throw new UsageError(`--${option} must be one of ${words.join(", ")}, but is '${text}'`);
}

export function scopesOf(input: Input, option: string): readonly Scope[] {
  const words = listOf(input, option);
  return checked(option, () => scopesFrom(words));
}

/** Addresses and CIDR blocks; none if the option is not given. */
export function addressesOf(input: Input, option: string): readonly string[] {
  if (!input.values.has(option)) return [];
  const entries = listOf(input, option);
  return checked(option, () => addressesFrom(entries));
}

/** Patterns of models; null for the word `any`, undefined if the option is not given. */
export function modelsOf(input: Input, option: string): ModelPatterns | undefined {
  if (!input.values.has(option)) return undefined;
  if (nameAmong(["any"], input.values.get(option)) !== undefined) return null;
  const patterns = listOf(input, option);
  return checked(option, () => modelsFrom(patterns));
}

/** A whole number above zero; null for the word `any`, undefined if the option is not given. */
export function rateOf({ values }: Input, option: string): number | null | undefined {
  const text = values.get(option);
  if (text === undefined) return undefined;
  if (nameAmong(["any"], text) !== undefined) return null;
  const rate = Number(text);
  if (/^[1-9]\d*$/.test(text) && rate <= RATE_MAX) return rate;
  throw new UsageError(
    `--${option} must be a whole number from 1 to ${RATE_MAX}, but is '${text}'`,
  );
}

/** Tags of a key; none for the word `none`, undefined if the option is not given. */
export function tagsOf(input: Input, option: string): readonly string[] | undefined {
  if (!input.values.has(option)) return undefined;
  if (nameAmong(["none"], input.values.get(option)) !== undefined) return [];
  const tags = listOf(input, option);
  return checked(option, () => tagsFrom(tags));
}

/** A time to come; null for the word `none`, undefined if the option is not given. */
export function endOf(input: Input, option: string): Date | null | undefined {
  if (nameAmong(["none"], input.values.get(option)) !== undefined) return null;
  const time = timeOf(input, option);
  return time === null ? undefined : checked(option, () => futureFrom(time, input.nowMs));
}

/** A name in one line. */
export function nameOf(input: Input, option: string, fallback: string): string {
  return checkedLine(option, input.values.get(option) ?? fallback, FORM_FIELDS.name.charactersMax);
}

/** A reason in one line. */
export function reasonOf(input: Input, option: string): string {
  return checkedLine(option, input.values.get(option) ?? "", REASON_LENGTH_MAX);
}

/** The operator's own id of an operation; null if the option is not given. */
export function referenceOf(input: Input, option: string): string | null {
  const reference = input.values.get(option);
  return reference === undefined ? null : checkedLine(option, reference, REFERENCE_LENGTH_MAX);
}

function checkedLine(option: string, text: string, charactersMax: number): string {
  return checked(option, () => lineFrom(text, charactersMax));
}

export function emailOf(input: Input, option: string): string | null {
  const email = input.values.get(option);
  if (email === undefined) return null;
  if (EMAIL.test(email) && email.length <= EMAIL_LENGTH_MAX) return email;
  throw new UsageError(`--${option} must be an email address, but is '${email}'`);
}

/** The positional argument at an index, as an email address in lower case. */
export function emailArgumentOf(input: Input, index = 0): string {
  return addressOf(input, index, parseAddress);
}

/** The same for an address that becomes a person's: it must be able to sign in. */
export function newEmailArgumentOf(input: Input, index = 0): string {
  return addressOf(input, index, parseSignInAddress);
}

function addressOf({ positionals }: Input, index: number, parse: typeof parseAddress): string {
  const email = positionals[index] ?? "";
  const parsed = parse(email);
  if (typeof parsed !== "string") return parsed.address.toLowerCase();
  throw new UsageError(`'${email}' is no email address: it ${parsed}`);
}

function listOf({ values }: Input, option: string): string[] {
  const entries = (values.get(option) ?? "").split(",").map((entry) => entry.trim());
  if (!entries.includes("")) return entries;
  throw new UsageError(`--${option} must be a list without empty entries, such as a,b`);
}

function checked<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(wrongField(`--${option}`, error));
  }
}

/**
 * The id of a saved card; null if the option is not given.
 * @throws UsageError
 */
export function cardOption({ values }: Input, option: string): string | null {
  const id = values.get(option);
  if (id === undefined) return null;
  if (isId("card", id)) return id;
  throw new UsageError(`--${option} must be the id of a saved card (card_…), but is '${id}'`);
}
