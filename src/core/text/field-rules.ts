// Checks values that people enter. The command line and the console name the field in front of the
// same rule, so both give the same message.

import {
  MODEL_PATTERN,
  MODEL_PATTERNS_MAX,
  TAG_CHARACTERS_MAX,
  TAGS_MAX,
} from "../access/key-limits.ts";
import { checkNetworks } from "../access/networks.ts";
import { SCOPES, type Scope } from "../access/services.ts";
import { type NanoUsd, usd } from "../money/money.ts";
import { instantMs } from "../money/months.ts";

const YEARS = { from: 2_000, to: 2_999 } as const;

/** The rule that `isUsualYear` checks. */
export const USUAL_YEARS = `must be in a year from ${YEARS.from} to ${YEARS.to}`;

/** Sanity limit: any other year is a slip. */
export function isUsualYear(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= YEARS.from && year <= YEARS.to;
}

const RULE = "BrokenRule";

/** A value that breaks a rule. The message is the rule, without the field: "must not be …". */
export class BrokenRule extends RangeError {
  override readonly name = RULE;
}

/** An amount of zero or more, with up to nine decimals. @throws RangeError */
export function amountFrom(text: string): NanoUsd {
  const amount = usd(text);
  if (amount < 0n) throw new BrokenRule(`must not be negative, but is '${text}'`);
  return amount;
}

/** An amount above zero. @throws RangeError */
export function positiveAmountFrom(text: string): NanoUsd {
  const amount = amountFrom(text);
  if (amount > 0n) return amount;
  throw new BrokenRule("must be above zero");
}

/** Scopes in any case, each once. @throws RangeError */
export function scopesFrom(words: readonly string[]): readonly Scope[] {
  const scopes = words.map((word) => {
    const scope = SCOPES.find((name) => name === word.toLowerCase());
    if (scope !== undefined) return scope;
    throw new BrokenRule(`must contain only ${SCOPES.join(", ")}, but has '${word}'`);
  });
  return [...new Set(scopes)];
}

/** Addresses and CIDR blocks, each once. @throws RangeError */
export function addressesFrom(entries: readonly string[]): readonly string[] {
  const distinct = [...new Set(entries)];
  checkNetworks(distinct);
  return distinct;
}

/** Patterns of models, each once. @throws RangeError */
export function modelsFrom(words: readonly string[]): readonly string[] {
  const patterns = [...new Set(words)];
  if (patterns.length === 0 || patterns.length > MODEL_PATTERNS_MAX) {
    throw new BrokenRule(`must name 1 to ${MODEL_PATTERNS_MAX} models`);
  }
  const wrong = patterns.find((pattern) => !MODEL_PATTERN.test(pattern));
  if (wrong === undefined) return patterns;
  throw new BrokenRule(
    `must contain only ids of models, in which * stands for any characters, but has '${wrong}'`,
  );
}

/** Tags of a key, each once. @throws RangeError */
export function tagsFrom(words: readonly string[]): readonly string[] {
  const tags = [...new Set(words.map((word) => word.trim()))];
  if (tags.length > TAGS_MAX) throw new BrokenRule(`must be at most ${TAGS_MAX} tags`);
  const wrong = tags.find((tag) => !isTag(tag));
  if (wrong === undefined) return tags;
  throw new BrokenRule(
    `must have 1 to ${TAG_CHARACTERS_MAX} characters each, no comma and no control character, ` +
      `but has '${wrong}'`,
  );
}

/** True for a text that a key may have as a tag. */
export function isTag(text: string): boolean {
  return TAG.test(text) && [...text].length <= TAG_CHARACTERS_MAX;
}

/** A time in ISO 8601 with its zone, in a usual year. @throws RangeError */
export function timeFrom(text: string): Date {
  const ms = instantMs(text);
  if (ms === null) {
    throw new BrokenRule(`must be a time such as 2026-11-21T00:00:00Z, but is '${text}'`);
  }
  const time = new Date(ms);
  if (isUsualYear(time)) return time;
  throw new BrokenRule(`${USUAL_YEARS}, but is '${text}'`);
}

/** The time if it is still to come. @throws RangeError */
export function futureFrom(time: Date, nowMs: number): Date {
  if (time.getTime() > nowMs) return time;
  throw new BrokenRule(`must be in the future, but is ${time.toISOString()}`);
}

/**
 * The characters that a text in one line must not have, as the inside of a regular expression's
 * class: control characters, and those that turn the direction of the text after them, so that
 * figures beside a name read backwards.
 */
export const CONTROL_CHARACTERS = "\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069";
const TAG = new RegExp(`^[^,${CONTROL_CHARACTERS}]+$`, "u");
const PLAIN_LINE = new RegExp(`^[^${CONTROL_CHARACTERS}]+$`, "u");

/** The rule of a text in one line, for its messages. */
export function lineRule(charactersMin: number, charactersMax: number): string {
  return `must have ${charactersMin} to ${charactersMax} characters and no control characters`;
}

/** A text in one line. @throws RangeError */
export function lineFrom(text: string, charactersMax: number): string {
  const line = text.trim();
  if (PLAIN_LINE.test(line) && [...line].length <= charactersMax) return line;
  throw new BrokenRule(lineRule(1, charactersMax));
}

/**
 * Names the field in front of the rule that one of these functions threw: "scopes must contain …".
 */
export function wrongField(field: string, { name, message }: RangeError): string {
  return name === RULE ? `${field} ${message}` : `${field}: ${message}`;
}
