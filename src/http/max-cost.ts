// The header by which a caller caps the cost of one call.

import { type NanoUsd, WRITTEN_USD, writtenUsdAboveZero } from "../core/money/money.ts";
import { invalidHeader } from "./body/checks.ts";
import type { ParameterInfo } from "./endpoint-info.ts";
import { text } from "./schema.ts";

export const MAX_COST_HEADER = "x-svc-max-cost-usd";

/** For the documentation of every endpoint that costs money. */
export const MAX_COST_PARAMETER: ParameterInfo = {
  name: MAX_COST_HEADER,
  in: "header",
  required: false,
  description:
    "The most that this call may cost. The output limit of a chat is lowered until the call " +
    "fits; `svc.stopped_by` is `max_cost` if the reply reached that limit. A call that does not " +
    "fit is refused with `max_cost_exceeded`",
  schema: text({ pattern: WRITTEN_USD, examples: ["0.05"] }),
};

/**
 * The cap in a request's headers; null without one.
 * @throws ApiError `invalid_parameter` for a value that is no amount above 0
 */
export function maxCostIn(headers: Headers): NanoUsd | null {
  const value = headers.get(MAX_COST_HEADER);
  if (value === null) return null;
  return writtenUsdAboveZero(value, (rule) => {
    throw invalidHeader(MAX_COST_HEADER, rule);
  });
}
