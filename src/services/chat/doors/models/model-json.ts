// Builds the entries of the model lists of both surfaces (SPEC 2.2).

import { ApiError } from "../../../../core/errors.ts";
import { pricePerMillion } from "../../../../core/money/money.ts";
import type { PriceBand } from "../../../../core/money/pricing.ts";
import { firstBand, type ModelEntry, servesChat } from "../../models/catalogue.ts";

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
    pricing: {
      ...pricesJson(firstBand(model)),
      // Only if longer prompts have other prices. The fields above are those of the first band.
      ...(model.bands.length > 1 && { bands: model.bands.map(bandJson) }),
    },
    free_credit_eligible: model.freeCreditEligible,
  };
}

function bandJson(band: PriceBand): object {
  return { prompt_tokens_max: band.promptTokensMax, ...pricesJson(band) };
}

function pricesJson(band: PriceBand): object {
  return {
    input_usd_per_m: pricePerMillion(band.input),
    output_usd_per_m: pricePerMillion(band.output),
    cached_input_usd_per_m: band.cachedInput === null ? null : pricePerMillion(band.cachedInput),
  };
}
