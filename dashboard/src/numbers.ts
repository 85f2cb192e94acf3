// Numbers as people read them, with the marks of the language of the page.

import { locale } from "./locale.ts";

const formats = new Map<string, Intl.NumberFormat>();

/** The format of numbers in the language of the page. */
export function numberFormat(options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const key = `${locale} ${JSON.stringify(options)}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(locale, options);
  formats.set(key, made);
  return made;
}

/** The mark before decimals: "." or ",". */
export function decimalMark(): string {
  return (
    numberFormat()
      .formatToParts(0.5)
      .find(({ type }) => type === "decimal")?.value ?? "."
  );
}

/** "1,234" */
export function countText(count: number): string {
  return numberFormat({ maximumFractionDigits: 3 }).format(count);
}

/** A number with so many decimals: "0.40" */
export function decimalText(value: number, decimals: number): string {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return numberFormat(digits).format(value);
}
