// Compares the lists that name the prices of a model, and chooses the list whose prices are taken.

import { decimalPerMillion, type PicoUsd } from "../../core/money/money.ts";
import type { Fee, Part } from "../../core/money/usage.ts";
import type { PresetName } from "../../services/chat/models/provider-presets.ts";
import type { ListedModel, ListedRow, PriceList } from "./listed-prices.ts";
import type { MergedPrice } from "./price-merge.ts";
import { conditionsKey, partWords } from "./price-parts.ts";

interface Listing {
  readonly list: string;
  readonly model: ListedModel;
}

/** The prices of a model by the lists. */
export interface Checked {
  readonly model: ListedModel;
  /** The list that it is from, and those that agree with it. */
  readonly lists: readonly string[];
  /** The lists that name other prices; two lists outweigh one. */
  readonly others: readonly string[];
  /** True if only the list itself names this price. */
  readonly isAlone: (price: MergedPrice) => boolean;
}

export type CrossCheck =
  | { readonly is: "checked"; readonly checked: Checked }
  | { readonly is: "unlisted"; readonly faults: readonly string[] }
  | { readonly is: "disputed"; readonly reason: string };

/** Checks the prices of a model at a provider. Of lists that agree, the first is taken (D-660). */
export function crossCheck(
  lists: readonly PriceList[],
  provider: PresetName,
  name: string,
): CrossCheck {
  const found = lists.flatMap((list) => listingIn(list, provider, name));
  const [only, second] = found;
  if (only === undefined) return { is: "unlisted", faults: faultsOf(lists, provider, name) };
  if (second === undefined) return { is: "checked", checked: checkedOf(only, found) };
  const agreed = found.filter((one) => found.some((other) => one !== other && agree(one, other)));
  const [first] = agreed;
  const isDisputed =
    first === undefined || agreed.some((one) => one !== first && !agree(first, one));
  if (isDisputed) return { is: "disputed", reason: `the lists disagree: ${listingsText(found)}` };
  return { is: "checked", checked: checkedOf(first, found) };
}

/** Models that the lists know and that fail: their faults are the reason why nothing is known. */
export function faultsOf(
  lists: readonly PriceList[],
  provider: PresetName,
  name: string,
): string[] {
  return lists.flatMap((list) =>
    list.faults
      .filter((fault) => fault.provider === provider && isNamed(fault.names, name))
      .map(({ problem }) => `${list.name}: ${problem}`),
  );
}

function listingIn({ name: list, models }: PriceList, provider: PresetName, name: string) {
  const model = models.find((one) => one.provider === provider && isNamed(one.names, name));
  return model === undefined ? [] : [{ list, model }];
}

const DATE = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** True if one of the names is this name, with or without a date at its end. */
function isNamed(names: readonly string[], name: string): boolean {
  const own = name.toLowerCase();
  return names.includes(own) || names.includes(own.replace(DATE, ""));
}

function checkedOf(first: Listing, found: readonly Listing[]): Checked {
  const agreeing = found.filter((one) => one !== first && agree(first, one));
  const others = found.filter((one) => one !== first && !agree(first, one));
  const named = new Set(agreeing.flatMap(({ model }) => model.rows.flatMap(namesIn)));
  return {
    model: first.model,
    lists: [first, ...agreeing].map(({ list }) => list),
    others: others.map((one) => listingsText([one])),
    isAlone: (price) => !named.has(nameOf(price)),
  };
}

function namesIn({ when, parts, fees = {} }: ListedRow): string[] {
  const row = conditionsKey(when);
  return [...Object.keys(parts), ...Object.keys(fees)].map((part) =>
    nameOf({ row, part: part as Part | Fee }),
  );
}

function nameOf({ row, part }: MergedPrice): string {
  return `${row} ${part}`;
}

/** True if no price that both lists name differs. */
function agree({ model: a }: Listing, { model: b }: Listing): boolean {
  return a.rows.every((row) => {
    const other = b.rows.find(({ when }) => conditionsKey(when) === conditionsKey(row.when));
    if (other === undefined) return true;
    const isSame = ([part, price]: readonly [string, PicoUsd]) =>
      (other.parts[part as Part] ?? price) === price;
    return (
      (Object.entries(row.parts) as [Part, PicoUsd][]).every(isSame) &&
      Object.entries(row.fees ?? {}).every(([fee, { price }]) => {
        return (other.fees?.[fee as Fee]?.price ?? price) === price;
      })
    );
  });
}

function listingsText(listings: readonly Listing[]): string {
  return listings
    .map(({ list, model }) => {
      const parts = Object.entries(model.rows[0]?.parts ?? {}) as [Part, PicoUsd][];
      const prices = parts.map(([part, one]) => `$${decimalPerMillion(one)} ${partWords(part)}`);
      return `${list} says ${prices.join(", ")}`;
    })
    .join("; ");
}
