// Makes the price lines of a call: units times price, if the prices of that time are still known.

import { type ServicesWith, serviceOfScope } from "../core/access/services.ts";
import { MAIL_PRICE_VERSION, MESSAGE_PRICE, RECIPIENT_PRICE } from "../core/mail.ts";
import { feeUnits } from "../core/money/call-cost.ts";
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
import { OTHER_WORDS } from "../core/money/price-fields.ts";
import type { PriceRow } from "../core/money/price-rows.ts";
import { priceVersionOf, priceVersionOfUnits } from "../core/money/price-version.ts";
import {
  type FeeCounts,
  type PartCounts,
  partsOf as partsOfUsage,
  type Part as TokenPart,
} from "../core/money/usage.ts";
import { nullable, number, text, usdField, type WireOf } from "../core/records.ts";
import type { ChatCatalogue } from "../services/chat/models/catalogue.ts";
import type { MapsConfig } from "../services/maps/servers.ts";
import type { SearchOffer } from "../services/search/search-catalogue.ts";
import type { LoggedCall } from "../store/usage/request-log.ts";

/** The prices of all services whose charges are shown line by line. */
export type PriceCatalogue = () => ChatCatalogue & SearchPrices & MapsPrices;

interface SearchPrices {
  readonly search: SearchOffer;
}

interface MapsPrices {
  readonly maps: MapsConfig;
}

/** A part of the charge: its subject, its number of units, and the price of `per` units. */
export const ReceiptLine = {
  what: text({ about: "Such as `input tokens`", sample: "input tokens" }),
  units: number({ sample: 812 }),
  price_usd: nullable(
    usdField({
      about: "For `per` units; null if it is no longer known, or the hold was less than the cost",
      sample: "0.15",
    }),
  ),
  per: number({ sample: 1_000_000 }),
  cost_usd: nullable(usdField({ about: "Before rounding up", sample: "0.0001218" })),
};

type Line = WireOf<typeof ReceiptLine>;

/** A part of a call with its price: the values of a ReceiptLine before they are texts. */
export interface PricedPart {
  readonly what: string;
  readonly units: number;
  readonly price: PicoUsd;
  /** A million for tokens, else 1: how many units the shown price is for. */
  readonly per: number;
}

/** The price of so many tokens is shown. */
export const TOKENS = 1_000_000;

/** The priced parts whose sum is exactly the charge; null if no known prices lead to that sum. */
export function pricedParts(catalogue: PriceCatalogue, call: LoggedCall): PricedPart[] | null {
  const parts = partsOf(catalogue, call).filter(({ units }) => units > 0);
  return chargeOf(parts) === call.cost ? parts : null;
}

/**
 * The lines of a charge, one for each part. The lines show prices only if the priced parts add up
 * to the charge: prices may have changed since, and a charge is capped at the call's hold.
 */
export function linesOf(catalogue: PriceCatalogue, call: LoggedCall): Line[] {
  if (call.cost === 0n) return [];
  const parts = pricedParts(catalogue, call);
  if (parts === null) return unpricedLines(call);
  return parts.map(({ what, units, price, per }) => ({
    what,
    units,
    per,
    price_usd: per === TOKENS ? decimalPerMillion(price) : pricePerUnit(price),
    cost_usd: toDecimal(charge([[units, price]] satisfies Quantities)),
  }));
}

function unpricedLines(call: LoggedCall): Line[] {
  const unpriced = (what: string, units: number, per: number) => {
    return { what, units, per, price_usd: null, cost_usd: null };
  };
  const { more = {}, fees = {} } = call.usageParts;
  const tokens = Object.entries(partsOfUsage({ ...call, more })) as [TokenPart, number][];
  const lines = [
    ...tokens.map(([part, units]) => unpriced(PART_WORDS[part], units, TOKENS)),
    ...Object.entries(fees).map(([fee, { calls }]) => unpriced(`${fee} calls`, calls, 1)),
  ];
  return lines.length > 0 ? lines : [unpriced("requests", call.requests, 1)];
}

type PartsOf = (catalogue: PriceCatalogue, call: LoggedCall) => PricedPart[];

/** The parts of a call, for each service that has price lines. */
const PARTS: Readonly<Record<ServicesWith<"hasPriceLines">, PartsOf>> = {
  chat: chatParts,
  search(catalogue, { cost, priceVersion }) {
    const { pricePerResult: price } = catalogue().search;
    if (priceVersionOfUnits(price) !== priceVersion) return [];
    return [{ what: "results", units: unitsOf(nano(cost), price), price, per: 1 }];
  },
  maps(catalogue, { cost, priceVersion }) {
    if (priceVersionOf(catalogue().maps.prices) !== priceVersion) return [];
    return [{ what: "action", units: 1, price: (cost * 1_000n) as PicoUsd, per: 1 }];
  },
  mail(_, { cost, priceVersion }) {
    if (priceVersion !== MAIL_PRICE_VERSION) return [];
    const recipients = affordableQuantity(nano(cost), RECIPIENT_PRICE, [[1, MESSAGE_PRICE]]);
    return [
      { what: "message", units: 1, price: MESSAGE_PRICE, per: 1 },
      { what: "recipients", units: recipients, price: RECIPIENT_PRICE, per: 1 },
    ];
  },
};

function partsOf(catalogue: PriceCatalogue, call: LoggedCall): PricedPart[] {
  const service = serviceOfScope(call.service);
  const [, own] = Object.entries(PARTS).find(([name]) => name === service) ?? [];
  return own?.(catalogue, call) ?? [];
}

function unitsOf(cost: NanoUsd, price: PicoUsd): number {
  return price === 0n ? 0 : affordableQuantity(cost, price);
}

/**
 * The parts by the row of prices that the call was charged by, which is the row that gives the
 * call's cost. If several rows priced the call, the log names them (D-967).
 */
function chatParts(catalogue: PriceCatalogue, call: LoggedCall): PricedPart[] {
  const model = catalogue().models.get(call.model ?? "");
  if (model === undefined || model.prices.version !== call.priceVersion) return [];
  const { more = {}, fees = {}, rows = [] } = call.usageParts;
  if (rows.length > 0) {
    const last = rows.length - 1;
    return rows.flatMap(({ row: place, parts }, index) => {
      const row = model.prices.rows[place];
      return row === undefined ? [] : partsBy(row, parts, index === last ? fees : {});
    });
  }
  const counts = partsOfUsage({ ...call, more });
  const parts = model.prices.rows.map((row) => partsBy(row, counts, fees));
  const isCharged = (some: readonly PricedPart[]) => chargeOf(some) === call.cost;
  return parts.find(isCharged) ?? [];
}

/** The parts of the tokens and the fees of a call, by the prices of a row. */
function partsBy(row: PriceRow, counts: PartCounts, fees: FeeCounts): PricedPart[] {
  const parts = Object.entries(counts) as [TokenPart, number][];
  const tokens = parts.map(([part, units]) => {
    return { what: PART_WORDS[part], units, price: row.of[part], per: TOKENS };
  });
  const billed = feeUnits(row, fees).map(([fee, units, price]) => {
    return { what: fee === "request" ? "request" : `${fee} fee`, units, price, per: 1 };
  });
  return [...tokens, ...billed];
}

export const PART_WORDS: Readonly<Record<TokenPart, string>> = {
  uncached: "input tokens",
  cacheRead: "cached input tokens",
  text: "output tokens",
  ...OTHER_WORDS,
};

function chargeOf(parts: readonly PricedPart[]): NanoUsd {
  return charge(parts.map(({ units, price }) => [units, price] as const));
}
