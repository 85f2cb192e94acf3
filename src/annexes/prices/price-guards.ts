// Says which changes of prices need a yes by the name of the model, and which never happen.

import { decimalPerMillion, decimalPerThousand, type PicoUsd } from "../../core/money/money.ts";
import { conditionWords } from "../../core/money/price-fields.ts";
import { priceRow, type RowPrices } from "../../core/money/price-rows.ts";
import type { Part } from "../../core/money/usage.ts";
import { type BillingKind, billingKinds, type ListedModel } from "./listed-prices.ts";
import { ownParts, partWords, rowToday } from "./price-parts.ts";

/** A rise above 20 % needs a yes. */
const RISE = { times: 6n, of: 5n } as const;
/** So does a fall by more than half, as from USD a million to USD a token (D-660). */
const FALL = { times: 1n, of: 2n } as const;

/** The changes that need a yes, in words; `of` names whose prices these are. */
export function jumps(
  before: readonly RowPrices[],
  after: readonly RowPrices[],
  of: string,
): string[] {
  return after.flatMap((row) => {
    const old = rowToday(before, row.when);
    if (old === undefined) return [];
    const conditions = conditionWords(row.when);
    const where = conditions === "" ? of : `${of}, ${conditions}`;
    const [was, now] = [priceRow(old).of, priceRow(row).of];
    const parts = new Set([...Object.keys(ownParts(old)), ...Object.keys(ownParts(row))]);
    const jumped = ([...parts] as Part[]).flatMap((part) =>
      jumpWords(was[part], now[part], { where, of: partWords(part), text: decimalPerMillion }),
    );
    const fees = Object.entries(row.fees ?? {}).flatMap(([fee, { price }]) => {
      const before = old.fees?.[fee as keyof typeof old.fees]?.price ?? NOTHING;
      return jumpWords(before, price, { where, of: fee, text: decimalPerThousand });
    });
    return [...jumped, ...fees];
  });
}

const NOTHING = 0n as PicoUsd;

interface JumpTexts {
  readonly where: string;
  readonly of: string;
  readonly text: (price: PicoUsd) => string;
}

function jumpWords(was: PicoUsd, now: PicoUsd, { where, of, text }: JumpTexts): string[] {
  const from = `${where}: ${of} $${text(was)} -> $${text(now)}`;
  if (was === 0n) return now === 0n ? [] : [`${from} rises from nothing`];
  if (now * RISE.of > was * RISE.times) return [`${from} rises by more than 20 %`];
  if (now * FALL.of < was * FALL.times) return [`${from} falls by more than half`];
  return [];
}

/** The refusal of a list that bills a model in another way than the configuration; null if none. */
export function otherBilling(rows: readonly RowPrices[], listed: ListedModel): string | null {
  const own = billingKinds(rows.map((row) => ({ parts: ownParts(row), fees: row.fees ?? {} })));
  // A model that costs nothing has no kind of billing yet.
  if (own.size === 0 || own.symmetricDifference(listed.kinds).size === 0) return null;
  return `it is billed by ${kindWords(own)}, and in the list by ${kindWords(listed.kinds)}`;
}

const KIND_WORDS: Readonly<Record<BillingKind, string>> = {
  tokens: "tokens",
  request: "requests",
  search_unit: "search units",
  audio_second: "seconds of audio",
  other: "units that Farebox does not know",
};

function kindWords(kinds: ReadonlySet<BillingKind>): string {
  return kinds.size === 0 ? "nothing" : [...kinds].map((kind) => KIND_WORDS[kind]).join(" and ");
}
