import { Elysia } from "elysia";
import type { Catalogue, ModelEntry } from "../core/catalogue.ts";
import { pricePerMillion } from "../core/money.ts";
import type { PriceBand } from "../core/pricing.ts";
import { jsonResponse } from "../http/respond.ts";
import type { GatewayDeps } from "./deps.ts";
import { anonymous } from "./endpoint.ts";

/** GET /v1/models (SPEC 2.2, 4.1): no key, live prices. */
export function models(deps: GatewayDeps) {
  const list = cachedList();
  return new Elysia({ name: "gateway/models" }).get("/v1/models", ({ request, server }) =>
    anonymous(deps, { request, server }, (facts) => jsonResponse(list(deps.catalogue()), facts)),
  );
}

/** The list as JSON, made again only when the catalogue is another one. */
function cachedList(): (catalogue: Catalogue) => string {
  let made: { readonly from: Catalogue; readonly json: string } | null = null;
  return (catalogue) => {
    if (made?.from !== catalogue) made = { from: catalogue, json: listJson(catalogue) };
    return made.json;
  };
}

function listJson(catalogue: Catalogue): string {
  const data = [...catalogue.models.values()].map(entryJson);
  return JSON.stringify({ object: "list", data });
}

function entryJson(model: ModelEntry): object {
  const [first, ...more] = model.bands;
  if (first === undefined) throw new Error(`The model '${model.id}' has no price`);
  return {
    id: model.id,
    object: "model",
    owned_by: model.ownedBy,
    svc: {
      label: model.label,
      family: model.family,
      pricing: {
        ...pricesJson(first),
        // Only where longer prompts have other prices; the fields above are of the first band.
        ...(more.length > 0 && { bands: model.bands.map(bandJson) }),
      },
      free_credit_eligible: model.freeCreditEligible,
    },
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
