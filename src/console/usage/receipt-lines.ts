// The price lines of a call: units times price, as far as the prices of that time are still known.

import { MAIL_PRICE_VERSION, MESSAGE_PRICE, RECIPIENT_PRICE } from "../../core/mail.ts";
import {
  affordableQuantity,
  charge,
  decimalPerMillion,
  type NanoUsd,
  nano,
  type PicoUsd,
  pricePerUnit,
  type Quantities,
  toDecimal,
} from "../../core/money/money.ts";
import { priceVersionOf, priceVersionOfUnits } from "../../core/money/price-version.ts";
import type { PriceBand } from "../../core/money/pricing.ts";
import type { ChatDeps } from "../../services/chat/doors/completions/answer-chat.ts";
import type { MapsDeps } from "../../services/maps/maps-endpoint.ts";
import type { SearchDeps } from "../../services/search/search-endpoints.ts";
import type { LoggedCall } from "../../store/usage/request-log.ts";
import type { ReceiptReply } from "./requests-schema.ts";

/** The catalogue as the services that are sold by it see it. */
export type PriceCatalogue = ChatDeps["catalogue"] &
  SearchDeps["catalogue"] &
  MapsDeps["catalogue"];

type Line = ReceiptReply["lines"][number];
interface Part {
  readonly what: string;
  readonly units: number;
  readonly price: PicoUsd;
  readonly per: number;
}

const TOKENS = 1_000_000;

/** The lines that make up the charge exactly; none if they are not known any more. */
export function linesOf(catalogue: PriceCatalogue, call: LoggedCall): Line[] {
  const parts = partsOf(catalogue, call).filter(({ units }) => units > 0);
  const total = charge(parts.map(({ units, price }) => [units, price] as const));
  if (call.cost === 0n || total !== call.cost) return [];
  return parts.map(({ what, units, price, per }) => ({
    what,
    units,
    per,
    price_usd: per === TOKENS ? decimalPerMillion(price) : pricePerUnit(price),
    cost_usd: toDecimal(charge([[units, price]] satisfies Quantities)),
  }));
}

function partsOf(catalogue: PriceCatalogue, call: LoggedCall): Part[] {
  const cost = nano(call.cost);
  const [searchOf, mapsOf]: [SearchDeps["catalogue"], MapsDeps["catalogue"]] = [
    catalogue,
    catalogue,
  ];
  switch (call.service) {
    case "models":
      return chatParts(catalogue, call);
    case "search": {
      const { pricePerResult: price } = searchOf().search;
      if (priceVersionOfUnits(price) !== call.priceVersion) return [];
      return [{ what: "results", units: unitsOf(cost, price), price, per: 1 }];
    }
    case "maps": {
      if (priceVersionOf(mapsOf().maps.prices) !== call.priceVersion) return [];
      const price = (call.cost * 1_000n) as PicoUsd;
      return [{ what: "action", units: 1, price, per: 1 }];
    }
    case "mail": {
      if (call.priceVersion !== MAIL_PRICE_VERSION) return [];
      const recipients = affordableQuantity(cost, RECIPIENT_PRICE, [[1, MESSAGE_PRICE]]);
      return [
        { what: "message", units: 1, price: MESSAGE_PRICE, per: 1 },
        { what: "recipients", units: recipients, price: RECIPIENT_PRICE, per: 1 },
      ];
    }
    default:
      return [];
  }
}

function unitsOf(cost: NanoUsd, price: PicoUsd): number {
  return price === 0n ? 0 : affordableQuantity(cost, price);
}

function chatParts(catalogue: PriceCatalogue, call: LoggedCall): Part[] {
  const model = catalogue().models.get(call.model ?? "");
  if (model === undefined || priceVersionOf(model.bands) !== call.priceVersion) return [];
  const isOf = ({ promptTokensMax: most }: PriceBand) => most === null || call.promptTokens <= most;
  const band = model.bands.find(isOf);
  if (band === undefined) return [];
  const { input, output, cachedInput } = band;
  const fresh = call.promptTokens - call.cachedTokens;
  return [
    { what: "input tokens", units: fresh, price: input, per: TOKENS },
    {
      what: "cached input tokens",
      units: call.cachedTokens,
      price: cachedInput ?? input,
      per: TOKENS,
    },
    { what: "output tokens", units: call.completionTokens, price: output, per: TOKENS },
  ];
}
