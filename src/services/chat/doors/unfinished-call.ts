// The refusal of a conversation in the middle of a call that another provider runs.

import type { ApiError } from "../../../core/errors.ts";
import { invalid } from "../../../http/body/checks.ts";

/** The refusal of such a part of a conversation, at any door; `param`: the field of the part. */
export function unfinishedCall(type: string, param: string): ApiError {
  return invalid(
    `${param}.type`,
    `must not be '${type}' of a call that has not ended: only the provider that began it can go on`,
  );
}
