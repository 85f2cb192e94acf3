// Learns what a call would hold without making it: the call runs as always, up to its admission, at
// an account that admits nothing.

import type { AccountActors, AdmissionRequest, Decision } from "../../actors/account.ts";
import { ApiError } from "../core/errors.ts";
import { ZERO } from "../core/money/money.ts";

type Asked = Pick<AdmissionRequest, "bound" | "scope" | "freeEligible">;

export interface Estimate {
  /** Accounts to give to a call in place of the real ones. */
  readonly accounts: AccountActors;
  /** The admission that the call requested; null if it was refused earlier. */
  readonly asked: () => Asked | null;
}

/** Of one call; nothing is counted, held or logged. */
export function estimateCall(accounts: Pick<AccountActors, "of">): Estimate {
  let asked: Asked | null = null;
  const admit = async (request: AdmissionRequest): Promise<Decision> => {
    if (request.isAhead === true) return { verdict: "short", funds: { spendable: ZERO } };
    if (request.refusal === undefined) asked = request;
    const error = request.refusal ?? new ApiError("service_unavailable", "This is an estimate");
    const rate = { limit: 1, remaining: 1, resetSeconds: 1 };
    return { verdict: "refused", error, rate, funds: null };
  };
  return {
    accounts: {
      of: (id, bucket) => ({ admit, view: (keyId) => accounts.of(id, bucket).view(keyId) }),
      refusesUnread: () => false,
    },
    asked: () => asked,
  };
}
