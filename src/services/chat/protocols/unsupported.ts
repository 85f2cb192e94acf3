// The refusal of a parameter that a server cannot serve. Another route may serve it.

import { ApiError } from "../../../core/errors.ts";
import { UnableFailure } from "../../../upstream/route-failure.ts";

/** Without these parameters the reply would not be as asked for, so they are never left out. */
export const ESSENTIAL_PARAMETERS: ReadonlySet<string> = new Set([
  "logit_bias",
  "logprobs",
  "top_logprobs",
]);

/** The caller gets it if no route of the model can serve the parameter. */
export function unsupported(
  param: string,
  problem = "is not supported by this model",
): UnableFailure {
  return new UnableFailure(new ApiError("invalid_parameter", `${param} ${problem}`, { param }));
}
