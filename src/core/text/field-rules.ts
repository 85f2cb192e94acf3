// Checks values that people enter. The command line and the console name the field in front of the
// same rule, so both give the same message.

import { checkNetworks } from "../access/networks.ts";
import { SCOPES, type Scope } from "../access/services.ts";
import { type NanoUsd, usd } from "../money/money.ts";

const YEARS = { from: 2_000, to: 2_999 } as const;

/** The rule that `isUsualYear` checks. */
export const USUAL_YEARS = `must be in a year from ${YEARS.from} to ${YEARS.to}`;

/** Sanity limit: any other year is a slip (D-341). */
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

/**
 * The characters that a text in one line must not have, as the inside of a regular expression's
 * class: control characters, and those that turn the direction of the text after them, so that
 * figures beside a name read backwards.
 */
export const CONTROL_CHARACTERS = "\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069";
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
