// The unit prices of a quoted call.

import { type ServicesWith, serviceOfScope } from "../core/access/services.ts";
import { MESSAGE_PRICE, RECIPIENT_PRICE } from "../core/mail.ts";
import { firstRow } from "../core/money/call-cost.ts";
import { decimalPerMillion, type PicoUsd, pricePerUnit } from "../core/money/money.ts";
import { otherPrices } from "../core/money/price-fields.ts";
import type { PriceRow } from "../core/money/price-rows.ts";
import type { Part } from "../core/money/usage.ts";
import { PART_WORDS, type PriceCatalogue } from "../readings/receipt-lines.ts";
import { ACTIONS, type MapsAction } from "../services/maps/actions.ts";

/** The price of so many units of one thing: decimal USD digits. */
export interface UnitPrice {
  readonly what: string;
  readonly price_usd: string;
  readonly per: number;
}

const TOKENS = 1_000_000;

type PricesOf = (catalogue: ReturnType<PriceCatalogue>, model: string | null) => UnitPrice[];

/** For each service whose receipts have price lines. */
const PRICES_OF: Readonly<Record<ServicesWith<"hasPriceLines">, PricesOf>> = {
  chat({ models }, model) {
    const entry = models.get(model ?? "");
    return entry === undefined ? [] : tokenPrices(firstRow(entry.prices));
  },
  search: ({ search }) => [single("result", search.pricePerResult)],
  maps({ maps }, model) {
    const action = ACTIONS[model as MapsAction];
    return action === undefined ? [] : [single("action", maps.prices[action.category])];
  },
  mail: () => [single("message", MESSAGE_PRICE), single("recipient", RECIPIENT_PRICE)],
};

/**
 * The unit prices of a call of this service, named by its scope, and this model or action. Of a
 * model with several price rows they are those of the first one, as in the list of models (SPEC
 * 2.2).
 */
export function unitPrices(
  catalogue: PriceCatalogue,
  { service, model }: { readonly service: string; readonly model: string | null },
): UnitPrice[] {
  const name = serviceOfScope(service);
  const [, pricesOf] = Object.entries(PRICES_OF).find(([one]) => one === name) ?? [];
  return pricesOf?.(catalogue(), model) ?? [];
}

function tokenPrices(row: PriceRow): UnitPrice[] {
  const common: readonly Part[] = ["uncached", "cacheRead", "text"];
  const others = otherPrices(row).map(([part]) => part);
  const tokens = [...common, ...others].map((part) => ({
    what: PART_WORDS[part],
    price_usd: decimalPerMillion(row.of[part]),
    per: TOKENS,
  }));
  const fees = Object.entries(row.fees ?? {}).map(([fee, { price, per }]) =>
    single(fee === "request" ? fee : `${fee} fee, each ${per}`, price),
  );
  return [...tokens, ...fees];
}

function single(what: string, price: PicoUsd): UnitPrice {
  return { what, price_usd: pricePerUnit(price), per: 1 };
}
