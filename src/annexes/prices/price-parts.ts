// Prices of configured rows by part, and rows by their conditions, so that rows of lists and of the
// configuration can be compared.

import type { PicoUsd } from "../../core/money/money.ts";
import { COMMON_FIELDS, OTHER_PARTS } from "../../core/money/price-fields.ts";
import type { OtherPart, RowConditions, RowPrices } from "../../core/money/price-rows.ts";
import type { Part } from "../../core/money/usage.ts";

export type PartPrices = Readonly<Partial<Record<Part, PicoUsd>>>;

/** The prices that a row names itself. */
export function ownParts({ input, output, cachedInput, others = {} }: RowPrices): PartPrices {
  const cached = cachedInput === null ? {} : { cacheRead: cachedInput };
  return { uncached: input, text: output, ...cached, ...others };
}

/** The row of these prices; a row without an output price gives its output away. */
export function rowOfParts(parts: PartPrices, row: Pick<RowPrices, "when" | "fees">): RowPrices {
  const { uncached = NOTHING, text = NOTHING, cacheRead = null, ...others } = parts;
  const { when, fees } = row;
  return {
    ...(when !== undefined && { when }),
    input: uncached,
    output: text,
    cachedInput: cacheRead,
    others,
    ...(fees !== undefined && { fees }),
  };
}

const NOTHING = 0n as PicoUsd;

/** The field of a part in a row of the configuration. */
export function fieldOfPart(part: Part): string {
  if (part in COMMON_FIELDS) return COMMON_FIELDS[part as keyof typeof COMMON_FIELDS];
  return OTHER_PARTS[part as OtherPart].field;
}

const COMMON_WORDS: Readonly<Record<keyof typeof COMMON_FIELDS, string>> = {
  uncached: "input",
  text: "output",
  cacheRead: "cached input",
};

/** A part in words. */
export function partWords(part: Part): string {
  if (part in COMMON_FIELDS) return COMMON_WORDS[part as keyof typeof COMMON_FIELDS];
  return OTHER_PARTS[part as OtherPart].words;
}

/** True for a part that a price band can have. */
export function isCommonPart(part: Part): boolean {
  return part in COMMON_FIELDS;
}

/**
 * A key that rows with the same conditions share. Lists write "from 272,000 tokens on" as above
 * 271,999 or above 272,000.
 */
export function conditionsKey(when: RowConditions = {}): string {
  const { abovePromptTokens: above } = when;
  const round = above !== undefined && above % 1_000 === 999 ? above + 1 : above;
  const fields = Object.entries({ ...when, abovePromptTokens: round });
  return JSON.stringify(fields.filter(([, value]) => value !== undefined).toSorted());
}

/** True for conditions that a caller or an operator has to choose. */
export function isChosen({ tier, speed, geography, servedModel }: RowConditions = {}): boolean {
  return [tier, speed, geography, servedModel].some((one) => one !== undefined);
}

/** The row that a call which just meets these conditions is priced by today. */
export function rowToday<Row extends Pick<RowPrices, "when">>(
  rows: readonly Row[],
  when: RowConditions = {},
): Row | undefined {
  const wanted = conditionsOf(when);
  const meeting = rows.filter((row) => [...conditionsOf(row.when)].every((one) => wanted.has(one)));
  return meeting.toSorted((a, b) => conditionsOf(a.when).size - conditionsOf(b.when).size).at(-1);
}

function conditionsOf(when: RowConditions = {}): Set<string> {
  const pairs = JSON.parse(conditionsKey(when)) as readonly (readonly [string, unknown])[];
  return new Set(pairs.map((pair) => JSON.stringify(pair)));
}
