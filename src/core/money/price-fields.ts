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

/** The conditions of a row in words; empty for a row that prices every call. */
export function conditionWords(when: RowConditions = {}): string {
  const { abovePromptTokens, tier, speed, geography, servedModel } = when;
  const { utcHours, utcDays, notUtcDates } = when;
  return [
    abovePromptTokens === undefined ? [] : `above ${abovePromptTokens} prompt tokens`,
    tier === undefined ? [] : `tier ${tier}`,
    speed === undefined ? [] : `speed ${speed}`,
    geography === undefined ? [] : `in ${geography}`,
    servedModel === undefined ? [] : `served by ${servedModel}`,
    utcHours?.map(([from, to]) => `${from}-${to} h UTC`).join(" and ") ?? [],
    utcDays?.map((day) => WEEKDAYS[day]).join(" ") ?? [],
    notUtcDates === undefined ? [] : `except ${notUtcDates.join(" ")}`,
  ]
    .flat()
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

/** The prices of a row beyond input, output and cached input, each in words. */
export function furtherWords(row: RowPrices): string[] {
  const parts = otherPrices(row).map(([part, price]) => {
    return `$${decimalPerMillion(price)} ${OTHER_PARTS[part].words}`;
  });
  const fees = Object.entries(row.fees ?? {}).map(([fee, price]) => feeWords(fee, price));
  return [...parts, ...fees];
}

/** A fee in words, such as "$0.01 for each call of web_search". */
export function feeWords(fee: string, { price, per }: FeePrice): string {
  const usd = `$${pricePerUnit(price)}`;
  if (fee === "request") return `${usd} for each request`;
  return `${usd} for each ${per} ${per === "request" ? "with" : "of"} ${fee}`;
}
