// Reads the prices of a model or a route from the configuration file.

import type { Static } from "@sinclair/typebox";
import {
  priceDigits,
  pricePerThousand,
  type SectionContext,
} from "../../../core/configuration/section.ts";
import { type Prices, pricesOf } from "../../../core/money/call-cost.ts";
import { type PicoUsd, price } from "../../../core/money/money.ts";
import { isDay } from "../../../core/money/months.ts";
import { OTHER_PARTS, WEEKDAYS } from "../../../core/money/price-fields.ts";
import type {
  FeePrice,
  OtherPart,
  RowConditions,
  RowPrices,
} from "../../../core/money/price-rows.ts";
import type { Fee } from "../../../core/money/usage.ts";
import { type BandPrices, bandPrices } from "../models/catalogue.ts";
import type { Band, Row } from "./price-schema.ts";

/** Sanity limit in USD per million tokens: a higher price is rejected as a typo. */
const PRICE_MAX = 10_000;
const TOKENS = 1_000_000;

type PriceContext = Pick<SectionContext, "json" | "refuse">;

/** The two forms of prices, and where each of them stands. */
export interface PricesInFile {
  readonly bands: readonly Static<typeof Band>[] | undefined;
  readonly bandsAt: string;
  readonly rows: readonly Static<typeof Row>[] | undefined;
  readonly rowsAt: string;
}

/** The prices in either form; undefined if the file has neither, and refused if it has both. */
export function toPrices(
  { bands, bandsAt, rows, rowsAt }: PricesInFile,
  context: PriceContext,
): Prices | undefined {
  if (bands !== undefined && rows !== undefined) {
    context.refuse(rowsAt, `must not stand beside ${bandsAt.split("/").at(-1)}`);
  }
  if (rows !== undefined) return pricesOf(toRows(rows, rowsAt, context));
  return bands === undefined ? undefined : bandPrices(...toBands(bands, bandsAt, context));
}

function toBands(
  bands: readonly Static<typeof Band>[],
  pointer: string,
  { json, refuse }: PriceContext,
): BandPrices[] {
  let promptTokensMax = 0;
  return bands.map((band, index) => {
    const here = `${pointer}/${index}`;
    const limit = band.prompt_tokens_max;
    const isLast = index === bands.length - 1;
    if (isLast && limit !== undefined) {
      refuse(`${here}/prompt_tokens_max`, "must be left out in the last band");
    }
    if (!isLast && limit === undefined) {
      refuse(`${here}/prompt_tokens_max`, "is missing: only the last band has none");
    }
    if (limit !== undefined && limit <= promptTokensMax) {
      refuse(`${here}/prompt_tokens_max`, `must be more than ${promptTokensMax}, the band before`);
    }
    promptTokensMax = limit ?? promptTokensMax;
    const { cached_input_usd_per_m: cached } = band;
    const exact = digitsIn(band, here, { json, refuse });
    return {
      promptTokensMax: limit ?? null,
      input: exact("input_usd_per_m"),
      output: exact("output_usd_per_m"),
      cachedInput: cached === undefined ? null : exact("cached_input_usd_per_m"),
    };
  });
}

function toRows(
  rows: readonly Static<typeof Row>[],
  pointer: string,
  context: PriceContext,
): RowPrices[] {
  return rows.map((row, index): RowPrices => {
    const here = `${pointer}/${index}`;
    const { when, fees } = row;
    if (index === 0 && when !== undefined) {
      context.refuse(`${here}/when`, "must be left out in the first row, which prices every call");
    }
    if (index > 0 && when === undefined) {
      context.refuse(`${here}/when`, "is missing: only the first row has none");
    }
    const exact = digitsIn(row, here, context);
    const perToken = (field: keyof typeof row): PicoUsd => price(exact(field), TOKENS);
    const others = Object.entries(OTHER_PARTS).flatMap(([part, { field }]) =>
      row[field] === undefined ? [] : [[part as OtherPart, perToken(field)] as const],
    );
    const cached = row.cached_input_usd_per_m;
    return {
      ...(when !== undefined && { when: toConditions(when, `${here}/when`, context) }),
      input: perToken("input_usd_per_m"),
      output: perToken("output_usd_per_m"),
      cachedInput: cached === undefined ? null : perToken("cached_input_usd_per_m"),
      ...(others.length > 0 && { others: Object.fromEntries(others) }),
      ...(fees !== undefined && { fees: toFees(fees, `${here}/fees`, context) }),
    };
  });
}

function toConditions(
  when: NonNullable<Static<typeof Row>["when"]>,
  pointer: string,
  { refuse }: PriceContext,
): RowConditions {
  when.utc_hours?.forEach(([from, to], index) => {
    if (from >= to) refuse(`${pointer}/utc_hours/${index}`, "must be an hour and a later one");
  });
  when.except_utc_dates?.forEach((date, index) => {
    if (isDay(date)) return;
    refuse(`${pointer}/except_utc_dates/${index}`, "must be a date of the calendar");
  });
  const days = when.utc_days?.map((day) => WEEKDAYS.indexOf(day));
  const conditions: { [Name in keyof RowConditions]: RowConditions[Name] | undefined } = {
    abovePromptTokens: when.above_prompt_tokens,
    tier: when.tier,
    speed: when.speed,
    geography: when.geography,
    servedModel: when.served_model,
    utcHours: when.utc_hours,
    utcDays: days,
    notUtcDates: when.except_utc_dates,
  };
  return Object.fromEntries(
    Object.entries(conditions).filter(([, value]) => value !== undefined),
  ) as RowConditions;
}

function toFees(
  fees: NonNullable<Static<typeof Row>["fees"]>,
  pointer: string,
  context: PriceContext,
): Record<Fee, FeePrice> {
  const entries = Object.entries(fees).map(([name, fee]) => {
    const at = `${pointer}/${name}/usd_per_k`;
    const { usd_per_k: usd, per = "call" } = fee ?? { usd_per_k: 0 };
    return [name, { price: pricePerThousand(usd, at, context), per }] as const;
  });
  return Object.fromEntries(entries) as Record<Fee, FeePrice>;
}

/** Reads the digits of a price in a field of an entry. */
function digitsIn<Entry extends object>(
  entry: Entry,
  pointer: string,
  { json, refuse }: PriceContext,
): (field: keyof Entry & string) => string {
  return (field) => {
    const at = `${pointer}/${field}`;
    const value = entry[field];
    const digits = typeof value === "string" ? value : json.numberAt(at);
    return priceDigits(digits, PRICE_MAX, (problem) => refuse(at, problem));
  };
}
