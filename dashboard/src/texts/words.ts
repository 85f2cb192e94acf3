// Words and figures that are written alike in all languages.

import { WEEKDAYS } from "../../../src/core/money/price-fields.ts";
import { locale } from "../locale.ts";
import { countText, decimalText } from "../numbers.ts";

/** Days, with one decimal below ten where they are not whole. */
export function dayCount(count: number): string {
  return count < 10 && count % 1 !== 0 ? decimalText(count, 1) : countText(Math.floor(count));
}

/** Days of the week, such as "mon tue", by their short names in the language of the page. */
export function weekdaysIn(value: string): string {
  const format = new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: "UTC" });
  // The first of January 2024 was a Monday, with which the days begin.
  const nameOfDay = (index: number) => format.format(new Date(Date.UTC(2024, 0, 1 + index)));
  return WEEKDAYS.flatMap((day, index) => (value.includes(day) ? [nameOfDay(index)] : [])).join(
    " ",
  );
}
