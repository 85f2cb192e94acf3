// Brings listed prices into the rows of a configuration. Prices that no list names stay, nothing is
// deleted, and tiers and speeds that are not configured are not added.

import { decimalPerMillion, decimalPerThousand, type PicoUsd } from "../../core/money/money.ts";
import { conditionsJson, conditionWords } from "../../core/money/price-fields.ts";
import { type FeePrices, priceRow, type RowPrices } from "../../core/money/price-rows.ts";
import type { Fee, Part } from "../../core/money/usage.ts";
import type { ListedRow } from "./listed-prices.ts";
import {
  conditionsKey,
  fieldOfPart,
  isChosen,
  isCommonPart,
  ownParts,
  type PartPrices,
  partWords,
  rowOfParts,
} from "./price-parts.ts";

/** A change of the configuration's text. */
export interface PriceEdit {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** True if the value becomes a new entry of a list, and the entry at this place moves on. */
  readonly inserts?: true;
}

/** The prices of a model or route in the configuration. */
export interface ConfiguredPrices {
  /** The rows; null if none are configured. */
  readonly rows: readonly RowPrices[] | null;
  /** Bands have fewer kinds of prices than rows. */
  readonly form: "bands" | "rows";
  /** The place of the list of bands or rows. */
  readonly path: readonly (string | number)[];
}

/** A price that a merge brought into a row. */
export interface MergedPrice {
  readonly row: string;
  readonly part: Part | Fee;
}

export interface Merge {
  readonly rows: readonly RowPrices[];
  readonly edits: readonly PriceEdit[];
  /** The prices that differ from those before. */
  readonly changed: readonly MergedPrice[];
  /** Prices that cannot be said in the form that is configured. */
  readonly notes: readonly string[];
}

/** The configured rows with the listed prices. */
export function mergePrices(configured: ConfiguredPrices, listed: readonly ListedRow[]): Merge {
  const { rows } = configured;
  if (rows === null) return newPrices(configured, listed);
  const merger = new Merger(configured, rows);
  for (const row of listed) merger.take(row);
  return merger.result();
}

function newPrices({ path }: ConfiguredPrices, listed: readonly ListedRow[]): Merge {
  const rows = listed
    .filter(({ when }) => !isChosen(when))
    .map(({ parts, ...row }) => rowOfParts(parts, row));
  const changed = rows.flatMap((row) => pricesIn(row).map((part) => ({ row: keyOf(row), part })));
  return { rows, edits: [{ path, value: rows.map(rowJson) }], changed, notes: [] };
}

function keyOf({ when }: Pick<RowPrices, "when">): string {
  return conditionsKey(when);
}

function pricesIn(row: RowPrices): (Part | Fee)[] {
  return [...(Object.keys(ownParts(row)) as Part[]), ...(Object.keys(row.fees ?? {}) as Fee[])];
}

function rowJson(row: RowPrices): object {
  const { when, fees } = row;
  const parts = Object.entries(ownParts(row)) as [Part, PicoUsd][];
  return {
    ...(when !== undefined && { when: conditionsJson(when) }),
    ...Object.fromEntries(parts.map(([part, one]) => [fieldOfPart(part), decimalPerMillion(one)])),
    ...(fees !== undefined && Object.keys(fees).length > 0 && { fees: feesJson(fees) }),
  };
}

function feesJson(fees: FeePrices): object {
  return Object.fromEntries(
    Object.entries(fees).map(([fee, { price, per }]) => [
      fee,
      { usd_per_k: decimalPerThousand(price), per },
    ]),
  );
}

class Merger {
  readonly #rows: RowPrices[];
  readonly #edits: PriceEdit[] = [];
  readonly #changed: MergedPrice[] = [];
  readonly #notes: string[] = [];

  constructor(
    readonly configured: ConfiguredPrices,
    rows: readonly RowPrices[],
  ) {
    this.#rows = [...rows];
  }

  result(): Merge {
    return {
      rows: this.#rows,
      edits: this.#edits,
      changed: this.#changed,
      notes: this.#notes,
    };
  }

  take(listed: ListedRow): void {
    const index = this.#rows.findIndex((row) => keyOf(row) === keyOf(listed));
    if (index >= 0) this.#change(index, listed);
    else if (!isChosen(listed.when)) this.#append(listed);
  }

  #change(index: number, { parts, fees = {} }: ListedRow): void {
    const row = this.#rows[index];
    if (row === undefined) return;
    const own: Partial<Record<Part, PicoUsd>> = { ...ownParts(row) };
    const complete = priceRow(row).of;
    for (const [part, price] of Object.entries(parts) as [Part, PicoUsd][]) {
      if (complete[part] === price || !this.#canSay(part)) continue;
      own[part] = price;
      this.#edit([index, fieldOfPart(part)], decimalPerMillion(price));
      this.#changed.push({ row: keyOf(row), part });
    }
    const allFees = { ...row.fees, ...this.#changedFees(index, row, fees) };
    const hasFees = Object.keys(allFees).length > 0;
    this.#rows[index] = rowOfParts(own, {
      ...(row.when !== undefined && { when: row.when }),
      ...(hasFees && { fees: allFees }),
    });
  }

  #changedFees(index: number, row: RowPrices, listed: FeePrices): FeePrices {
    const changed: [Fee, NonNullable<FeePrices[Fee]>][] = [];
    for (const [name, fee] of Object.entries(listed)) {
      const known = row.fees?.[name as Fee];
      if (known?.price === fee.price && known.per === fee.per) continue;
      if (this.configured.form === "bands") {
        this.#note(name);
      } else if (known !== undefined && known.per !== fee.per) {
        this.#notes.push(`${name} is billed for each ${fee.per} by the list: left as it is`);
      } else {
        const path = [index, "fees", name];
        if (known === undefined) this.#edit(path, feesJson({ [name]: fee })[name as never]);
        else this.#edit([...path, "usd_per_k"], decimalPerThousand(fee.price));
        changed.push([name as Fee, fee]);
        this.#changed.push({ row: keyOf(row), part: name as Fee });
      }
    }
    return Object.fromEntries(changed);
  }

  #append(listed: ListedRow): void {
    const isBand = this.configured.form === "bands";
    if (isBand && !this.#isNextBand(listed)) {
      this.#notes.push(`prices ${conditionWords(listed.when)} cannot be said in bands`);
      return;
    }
    const at = this.#rows.length;
    const parts = isBand ? commonParts(listed.parts) : listed.parts;
    const row = rowOfParts(parts, listed);
    // The limit of a band is at the band before it.
    const value = rowJson(isBand ? rowOfParts(parts, {}) : row);
    if (isBand) this.#edit([at - 1, "prompt_tokens_max"], listed.when?.abovePromptTokens);
    this.#edits.push({ path: this.#at([at]), value, inserts: true });
    this.#rows.push(row);
    for (const part of pricesIn(row)) this.#changed.push({ row: keyOf(listed), part });
  }

  /** True for a row that can become the last band. */
  #isNextBand({ when = {} }: ListedRow): boolean {
    const { abovePromptTokens: above, ...others } = when;
    if (above === undefined || Object.keys(others).length > 0) return false;
    return this.#rows.every((row) => (row.when?.abovePromptTokens ?? 0) < above);
  }

  #canSay(part: Part): boolean {
    if (this.configured.form === "rows" || isCommonPart(part)) return true;
    this.#note(partWords(part));
    return false;
  }

  #note(words: string): void {
    const note = `the price of ${words} cannot be said in bands`;
    if (!this.#notes.includes(note)) this.#notes.push(note);
  }

  #edit(place: readonly (string | number)[], value: unknown): void {
    this.#edits.push({ path: this.#at(place), value });
  }

  #at(place: readonly (string | number)[]): readonly (string | number)[] {
    return [...this.configured.path, ...place];
  }
}

function commonParts(parts: PartPrices): PartPrices {
  return Object.fromEntries(Object.entries(parts).filter(([part]) => isCommonPart(part as Part)));
}
