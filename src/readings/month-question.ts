// Reads the month of a question: a UTC month that has begun.

import { addMonths, isMonth, startOfMonth } from "../core/money/months.ts";
import { invalid } from "../http/body/checks.ts";

export interface AskedMonth {
  readonly from: Date;
  /** The begin of the next month. */
  readonly to: Date;
}

/** @throws ApiError if `month` is no month, or has not begun */
export function askedMonth(month: string, nowMs: number): AskedMonth {
  if (!isMonth(month)) throw invalid("month", `must be one such as 2026-11, but is '${month}'`);
  const from = startOfMonth(month);
  if (from.getTime() > nowMs) throw invalid("month", `${month} has not begun`);
  return { from, to: startOfMonth(addMonths(month, 1)) };
}
