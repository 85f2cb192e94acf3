// Builds the entries of the model lists of both surfaces (SPEC 2.2).

import { ApiError } from "../../../../core/errors.ts";
import { firstRow, type Prices } from "../../../../core/money/call-cost.ts";
import { pricePerMillion, pricePerThousand } from "../../../../core/money/money.ts";
import { conditionsJson, OTHER_PARTS, otherPrices } from "../../../../core/money/price-fields.ts";
import type { FeePrices, PriceRow } from "../../../../core/money/price-rows.ts";
import { GIVEN_KINDS } from "../../media/model-images.ts";
import { type ModelEntry, servesChat } from "../../models/catalogue.ts";

/** The fields of an entry that OpenAI's lists have too. */
export function modelHeadJson({ id, created = 0, ownedBy }: ModelEntry): object {
  return { id, object: "model", created, owned_by: ownedBy };
}

/** The error for an id that is not in the list at this path. */
export function noModel(listPath: string): ApiError {
  const message = `There is no model with this id: GET ${listPath} lists the models`;
  return new ApiError("model_not_found", message, { param: "id" });
}

/** The field `svc` of an entry: names, prices, and whether free credit pays for it. */
export function modelSvcJson(model: ModelEntry): object {
  return {
    label: model.label,
    family: model.family,
    ...(!servesChat(model) && { serves: model.serves }),
    ...(model.media !== undefined && { takes: model.media.kinds }),
    ...(model.imageTokens !== undefined && { gives: GIVEN_KINDS }),
    // The three numbers of SPEC 2.2 are those of the first row.
    pricing: { ...commonJson(firstRow(model.prices)), ...furtherJson(model.prices) },
    free_credit_eligible: model.freeCreditEligible,
  };
}

/** All prices of a model that has more than three: as bands where the prompt alone decides. */
function furtherJson({ rows }: Prices): object {
  if (rows.some((row) => otherPrices(row).length > 0 || row.fees !== undefined)) {
    return { prices: rows.map(rowJson) };
  }
  if (rows.length === 1) return {};
  const limits = rows.map(({ when }) => when?.abovePromptTokens ?? 0);
  const isByPrompt = rows.every(({ conditionCount: count, when }, index) => {
    const isAscending = index === 0 || (limits[index - 1] ?? 0) < (limits[index] ?? 0);
    return isAscending && count === (when?.abovePromptTokens === undefined ? 0 : 1);
  });
  if (!isByPrompt) return { prices: rows.map(rowJson) };
  const bandJson = (row: PriceRow, index: number) => {
    return { prompt_tokens_max: limits[index + 1] ?? null, ...commonJson(row) };
  };
  return { bands: rows.map(bandJson) };
}

function rowJson(row: PriceRow): object {
  const others = otherPrices(row).map(([part, price]) => {
    return [OTHER_PARTS[part].field, pricePerMillion(price)];
  });
  return {
    when: conditionsJson(row.when),
    ...commonJson(row),
    ...Object.fromEntries(others),
    fees: row.fees === undefined ? undefined : feesJson(row.fees),
  };
}

function feesJson(fees: FeePrices): object {
  const entries = Object.entries(fees).map(([fee, { price, per }]) => {
    return [fee, { usd_per_k: pricePerThousand(price), per }];
  });
  return Object.fromEntries(entries);
}

function commonJson({ input, output, cachedInput }: PriceRow): object {
  return {
    input_usd_per_m: pricePerMillion(input),
    output_usd_per_m: pricePerMillion(output),
    cached_input_usd_per_m: cachedInput === null ? null : pricePerMillion(cachedInput),
  };
}
