// The names of prices: as fields of the configuration and of replies, and in words for people.

import { decimalPerMillion, type PicoUsd, pricePerUnit } from "./money.ts";
import type { FeePrice, OtherPart, PriceRow, RowConditions, RowPrices } from "./price-rows.ts";

/** The fields of the prices that most rows have: USD for a million tokens. */
export const COMMON_FIELDS = {
  uncached: "input_usd_per_m",
  cacheRead: "cached_input_usd_per_m",
  text: "output_usd_per_m",
} as const;

interface PartName {
  readonly field: string;
  /** The tokens of the part, in words. */
  readonly words: string;
}

/** The other parts, by the name of the field with their price. */
export const OTHER_PARTS = {
  cacheReadAudio: { field: "cached_audio_usd_per_m", words: "cached audio" },
  cacheWrite5m: { field: "cache_write_5m_usd_per_m", words: "cache writes for 5 minutes" },
  cacheWrite30m: { field: "cache_write_30m_usd_per_m", words: "cache writes for 30 minutes" },
  cacheWrite1h: { field: "cache_write_1h_usd_per_m", words: "cache writes for an hour" },
  cacheWrite24h: { field: "cache_write_24h_usd_per_m", words: "cache writes for a day" },
  imageIn: { field: "image_input_usd_per_m", words: "image input" },
  audioIn: { field: "audio_input_usd_per_m", words: "audio input" },
  imageOut: { field: "image_output_usd_per_m", words: "image output" },
  audioOut: { field: "audio_output_usd_per_m", words: "audio output" },
} as const satisfies Record<OtherPart, PartName>;

export const OTHER_PART_NAMES = Object.keys(OTHER_PARTS) as readonly OtherPart[];

/** The tokens of the other parts, in words. */
export const OTHER_WORDS = Object.fromEntries(
  Object.entries(OTHER_PARTS).map(([part, { words }]) => [part, words]),
) as Record<OtherPart, string>;

/** The days of a week, Monday first. */
export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** The conditions of a row as fields; undefined for a row that prices every call. */
export function conditionsJson(when: RowConditions | undefined): object | undefined {
  if (when === undefined) return undefined;
  return {
    above_prompt_tokens: when.abovePromptTokens,
    tier: when.tier,
    speed: when.speed,
    geography: when.geography,
    served_model: when.servedModel,
    utc_hours: when.utcHours,
    utc_days: when.utcDays?.map((day) => WEEKDAYS[day]),
    except_utc_dates: when.notUtcDates,
  };
}

/** Each condition in words, from its value as `conditionsOf` has it. Pages translate these. */
export const CONDITION_WORDS = {
  above_prompt_tokens: (value: string) => `above ${value} prompt tokens`,
  tier: (value: string) => `tier ${value}`,
  speed: (value: string) => `speed ${value}`,
  geography: (value: string) => `in ${value}`,
  served_model: (value: string) => `served by ${value}`,
  utc_hours: (value: string) => value.replaceAll(" ", " h UTC and ").concat(" h UTC"),
  utc_days: (value: string) => value,
  except_utc_dates: (value: string) => `except ${value}`,
} as const;
export type ConditionName = keyof typeof CONDITION_WORDS;
export const CONDITION_NAMES = Object.keys(CONDITION_WORDS) as readonly ConditionName[];

export interface Condition {
  readonly name: ConditionName;
  /** As text, such as `200000`, `priority`, `0-8 14-20` or `mon tue`. */
  readonly value: string;
}

/** The conditions of a row; none for a row that prices every call. */
export function conditionsOf(when: RowConditions = {}): Condition[] {
  const values: Readonly<Record<ConditionName, string | undefined>> = {
    above_prompt_tokens: when.abovePromptTokens?.toString(),
    tier: when.tier,
    speed: when.speed,
    geography: when.geography,
    served_model: when.servedModel,
    utc_hours: when.utcHours?.map(([from, to]) => `${from}-${to}`).join(" "),
    utc_days: when.utcDays?.map((day) => WEEKDAYS[day]).join(" "),
    except_utc_dates: when.notUtcDates?.join(" "),
  };
  return CONDITION_NAMES.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [{ name, value }];
  });
}

/** The conditions of a row in words; empty for a row that prices every call. */
export function conditionWords(when: RowConditions = {}): string {
  return conditionsOf(when)
    .map(({ name, value }) => CONDITION_WORDS[name](value))
    .join(", ");
}

/** The prices that a row has beyond those that most rows have. */
export function otherPrices({ others = {} }: RowPrices): [part: OtherPart, price: PicoUsd][] {
  return Object.entries(others) as [OtherPart, PicoUsd][];
}

/** A row in words: its conditions, the prices of a million tokens, and fees. */
export function rowWords(row: PriceRow): string {
  const { when, input, output, cachedInput } = row;
  const conditions = conditionWords(when);
  const prices = [
    `$${decimalPerMillion(input)} in`,
    `$${decimalPerMillion(output)} out`,
    ...(cachedInput === null ? [] : [`$${decimalPerMillion(cachedInput)} cached`]),
    ...furtherWords(row),
  ].join(", ");
  return conditions === "" ? prices : `${conditions}: ${prices}`;
}

export type FeeUnit = FeePrice["per"];

/** A price of a row beyond input, output and cached input. */
export type FurtherPrice =
  /** The price of a million tokens of a part. */
  | { readonly part: OtherPart; readonly fee: null; readonly per: null; readonly usd: string }
  | {
      readonly part: null;
      readonly fee: string;
      readonly per: FeeUnit;
      readonly usd: string;
    };

/** The prices of a row beyond input, output and cached input. */
export function furtherPrices(row: RowPrices): FurtherPrice[] {
  const parts = otherPrices(row).map(
    ([part, price]) => ({ part, fee: null, per: null, usd: decimalPerMillion(price) }) as const,
  );
  const fees = Object.entries(row.fees ?? {}).map(
    ([fee, { price, per }]) => ({ part: null, fee, per, usd: pricePerUnit(price) }) as const,
  );
  return [...parts, ...fees];
}

/** The prices of a row beyond input, output and cached input, each in words. */
export function furtherWords(row: RowPrices): string[] {
  return furtherPrices(row).map((one) => furtherPriceWords(one, `$${one.usd}`));
}

/** A further price in words, with its amount as it is written. */
export function furtherPriceWords(one: FurtherPrice, usd: string): string {
  return one.part === null ? feeText(one, usd) : `${usd} ${OTHER_PARTS[one.part].words}`;
}

/** A fee in words, such as "$0.01 for each call of web_search". */
function feeText(
  { fee, per }: { readonly fee: string; readonly per: FeeUnit },
  usd: string,
): string {
  if (fee === "request") return `${usd} for each request`;
  return `${usd} for each ${per} ${per === "request" ? "with" : "of"} ${fee}`;
}
