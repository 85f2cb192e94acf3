// The price lines of a call: units times price, as far as the prices of that time are still known.

import { MAIL_PRICE_VERSION, MESSAGE_PRICE, RECIPIENT_PRICE } from "../core/mail.ts";
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
} from "../core/money/money.ts";
import type { PriceRow } from "../core/money/price-rows.ts";
import { priceVersionOf, priceVersionOfUnits } from "../core/money/price-version.ts";
import { number, text, usd, type WireOf } from "../core/records.ts";
import type { ChatCatalogue } from "../services/chat/models/catalogue.ts";
import type { MapsConfig } from "../services/maps/servers.ts";
import type { SearchOffer } from "../services/search/search-catalogue.ts";
import type { LoggedCall } from "../store/usage/request-log.ts";

/** The catalogue as the services that are sold by it see it. */
export type PriceCatalogue = (() => ChatCatalogue) & SearchPrices & MapsPrices;

type SearchPrices = () => { readonly search: SearchOffer };
type MapsPrices = () => { readonly maps: MapsConfig };

/** What a part of the charge is for, how many units, and the price of `per` of them. */
export const ReceiptLine = {
  what: text({ about: "Such as `input tokens`", sample: "input tokens" }),
  units: number({ sample: 812 }),
  price_usd: usd({ about: "For `per` units", sample: "0.15" }),
  per: number({ sample: 1_000_000 }),
  cost_usd: usd({ about: "Before rounding up", sample: "0.0001218" }),
};

type Line = WireOf<typeof ReceiptLine>;

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
  if (call.cost === 0n || chargeOf(parts) !== call.cost) return [];
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
  const [searchOf, mapsOf]: [SearchPrices, MapsPrices] = [catalogue, catalogue];
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

/** The parts by the row that the call was charged by: the row that gives its cost. */
function chatParts(catalogue: PriceCatalogue, call: LoggedCall): Part[] {
  const model = catalogue().models.get(call.model ?? "");
  if (model === undefined || model.prices.version !== call.priceVersion) return [];
  const parts = model.prices.rows.map((row) => tokenParts(row, call));
  const isCharged = (some: readonly Part[]) => chargeOf(some) === call.cost;
  return parts.find(isCharged) ?? [];
}

function tokenParts({ of }: PriceRow, call: LoggedCall): Part[] {
  const fresh = call.promptTokens - call.cachedTokens;
  return [
    { what: "input tokens", units: fresh, price: of.uncached, per: TOKENS },
    { what: "cached input tokens", units: call.cachedTokens, price: of.cacheRead, per: TOKENS },
    { what: "output tokens", units: call.completionTokens, price: of.text, per: TOKENS },
  ];
}

function chargeOf(parts: readonly Part[]): NanoUsd {
  return charge(parts.map(({ units, price }) => [units, price] as const));
}
