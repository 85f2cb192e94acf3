// Makes selling prices of buying prices by a markup that the operator wrote: of a model, or else of
// the provider of a route. Without one no selling price is made (D-660).

import { decimal, product, quotient } from "../../core/money/decimal.ts";
import {
  decimalPerMillion,
  decimalPerThousand,
  type PicoUsd,
  price,
} from "../../core/money/money.ts";
import { type FeePrice, priceRow, type RowPrices } from "../../core/money/price-rows.ts";
import type { Fee, Part } from "../../core/money/usage.ts";
import type { ListedRow } from "./listed-prices.ts";
import { conditionsKey, isChosen, ownParts } from "./price-parts.ts";

/** The buying prices of a route, and the markup on them. */
export interface RouteCost {
  /** The provider and the model's name there. */
  readonly name: string;
  /** Null if the buying prices are not known. */
  readonly rows: readonly RowPrices[] | null;
  /** The markup in percent, as it is written; undefined without one. */
  readonly markup: string | undefined;
}

export type SellingRule =
  | { readonly is: "none" }
  | { readonly is: "unclear"; readonly reason: string }
  | { readonly is: "rule"; readonly rows: readonly ListedRow[] };

/**
 * The selling rows: for each price the highest of all routes, each with its markup, rounded up.
 * Rows of tiers and speeds are made only where the model sells them already.
 */
export function sellingRows(costs: readonly RouteCost[], sold: readonly RowPrices[]): SellingRule {
  if (costs.every(({ markup }) => markup === undefined)) return { is: "none" };
  const routes: PricedRoute[] = [];
  for (const { name, rows, markup } of costs) {
    if (markup === undefined) return { is: "unclear", reason: `${name} has no markup_percent` };
    if (rows === null) return { is: "unclear", reason: `the buying price of ${name} is unknown` };
    routes.push({ markup, rows: new Map(rows.map((row) => [conditionsKey(row.when), row])) });
  }
  const [first] = routes;
  const keys = new Set(first?.rows.keys());
  const isSame = routes.every(
    ({ rows }) => keys.symmetricDifference(new Set(rows.keys())).size === 0,
  );
  if (!isSame) return { is: "unclear", reason: "its routes have rows of different conditions" };
  const known = new Set(sold.map(({ when }) => conditionsKey(when)));
  const rows = [...(first?.rows ?? [])]
    .filter(([key, { when }]) => !isChosen(when) || known.has(key))
    .map(([key, { when }]) => ({ ...(when !== undefined && { when }), ...highest(routes, key) }));
  return { is: "rule", rows };
}

interface PricedRoute {
  readonly markup: string;
  readonly rows: ReadonlyMap<string, RowPrices>;
}

/** The highest price of each part and fee among the routes, each with its markup. */
function highest(routes: readonly PricedRoute[], key: string): Pick<ListedRow, "parts" | "fees"> {
  const parts: Partial<Record<Part, PicoUsd>> = {};
  const fees: { -readonly [Name in Fee]?: FeePrice } = {};
  const rows = routes.flatMap(({ markup, rows }) => {
    const row = rows.get(key);
    return row === undefined ? [] : [{ markup, row, of: priceRow(row).of }];
  });
  const named = new Set(rows.flatMap(({ row }) => Object.keys(ownParts(row)) as Part[]));
  for (const { markup, row, of } of rows) {
    for (const part of named) {
      const one = marked(decimalPerMillion(of[part]), markup, 1_000_000);
      parts[part] = max(one, parts[part]);
    }
    for (const [name, fee] of Object.entries(row.fees ?? {}) as [Fee, FeePrice][]) {
      const one = marked(decimalPerThousand(fee.price), markup, 1_000);
      fees[name] = { ...fee, price: max(one, fees[name]?.price) };
    }
  }
  return { parts, fees };
}

const HUNDRED = { digits: 100n, scale: 0 };
const DECIMALS = 6;

/** A price in USD for `per` units with its markup, rounded up to 6 decimals. */
function marked(usd: string, markup: string, per: number): PicoUsd {
  const [cost, percent] = [decimal(usd), decimal(markup)];
  if (cost === null || percent === null) throw new Error(`'${usd}' or '${markup}' is no decimal`);
  const whole = { ...percent, digits: percent.digits + 100n * 10n ** BigInt(percent.scale) };
  const text = quotient(product(cost, whole), HUNDRED, { decimals: DECIMALS, rounding: "up" });
  return price(text, per);
}

function max(a: PicoUsd, b: PicoUsd | undefined): PicoUsd {
  return b === undefined || a > b ? a : b;
}
