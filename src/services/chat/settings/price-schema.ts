// The fields of prices in the configuration file: bands, and rows with conditions.

import { type TOptional, type TSchema, Type } from "@sinclair/typebox";
import { closed, line, usdAmount, whole } from "../../../core/configuration/fields.ts";
import { COMMON_FIELDS, OTHER_PARTS, WEEKDAYS } from "../../../core/money/price-fields.ts";
import { FEE_UNITS, type OtherPart } from "../../../core/money/price-rows.ts";
import { FEES, type Fee, SPEEDS, TIERS } from "../../../core/money/usage.ts";

const choice = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description, errorMessage: `must be one of ${words.join(", ")}` },
  );

/** A list of 1 to 16 entries. */
const list = <Entry extends TSchema>(entry: Entry, of: string, description: string) =>
  Type.Array(entry, {
    minItems: 1,
    maxItems: 16,
    description,
    errorMessage: `must be a list of 1 to 16 ${of}`,
  });

const commonPrices = {
  [COMMON_FIELDS.uncached]: usdAmount("USD per million prompt tokens"),
  [COMMON_FIELDS.text]: usdAmount("USD per million output tokens"),
  [COMMON_FIELDS.cacheRead]: Type.Optional(
    usdAmount("USD per million prompt tokens from the cache; left out: as input"),
  ),
};

/** An entry of `pricing`. */
export const Band = Type.Object(
  {
    prompt_tokens_max: Type.Optional(
      whole(1, 100_000_000, "Largest prompt of this band; left out in the last band"),
    ),
    ...commonPrices,
  },
  { ...closed, description: "Prices for prompts up to a length" },
);

const When = Type.Object(
  {
    above_prompt_tokens: Type.Optional(
      whole(0, 100_000_000, "The prompt has more tokens than this, all of its parts counted"),
    ),
    tier: Type.Optional(choice(TIERS, "The tier that served the call")),
    speed: Type.Optional(choice(SPEEDS, "The speed that served the call")),
    geography: Type.Optional(line("The place that served the call, by the provider's word")),
    served_model: Type.Optional(
      line("The model that served the call, also with a date at the end of its name"),
    ),
    utc_hours: Type.Optional(
      list(
        Type.Tuple([whole(0, 23, "From this hour"), whole(1, 24, "Before this hour")], {
          errorMessage: "must be two hours, such as [1, 4]",
        }),
        "pairs of hours",
        "The call was admitted in these hours in UTC",
      ),
    ),
    utc_days: Type.Optional(
      list(choice(WEEKDAYS, "A day"), "days", "The call was admitted on these days in UTC"),
    ),
    except_utc_dates: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^\\d{4}-\\d{2}-\\d{2}$",
          errorMessage: "must be a date such as 2026-10-01",
        }),
        {
          minItems: 1,
          maxItems: 366,
          description: "Dates in UTC on which the row does not apply",
          errorMessage: "must be a list of 1 to 366 dates",
        },
      ),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    description: "All of this must be so; left out in the first row, which prices every call",
    errorMessage: "must have at least one condition",
  },
);

const FeeFile = Type.Object(
  {
    usd_per_k: usdAmount("USD for a thousand"),
    per: Type.Optional(
      choice(FEE_UNITS, "For each call, each query, or a request with any; default call"),
    ),
  },
  { ...closed, description: "A fee beside the tokens" },
);

const feeFiles = Object.fromEntries(FEES.map((fee) => [fee, Type.Optional(FeeFile)])) as Record<
  Fee,
  TOptional<typeof FeeFile>
>;

const otherPrices = Object.fromEntries(
  Object.values(OTHER_PARTS).map(({ field, words }) => [
    field,
    Type.Optional(usdAmount(`USD per million tokens of ${words}`)),
  ]),
) as Record<(typeof OTHER_PARTS)[OtherPart]["field"], TOptional<ReturnType<typeof usdAmount>>>;

/** An entry of `prices`. */
export const Row = Type.Object(
  {
    when: Type.Optional(When),
    ...commonPrices,
    ...otherPrices,
    fees: Type.Optional(
      Type.Object(feeFiles, {
        ...closed,
        description: "What the provider bills besides tokens; left out: as in the first row",
      }),
    ),
  },
  { ...closed, description: "Prices of the calls that meet conditions" },
);

/** Prices as bands, by the length of the prompt. */
export const bands = (description: string) => Type.Optional(list(Band, "price bands", description));
/** Prices as rows with conditions. */
export const rows = (description: string) => Type.Optional(list(Row, "price rows", description));
