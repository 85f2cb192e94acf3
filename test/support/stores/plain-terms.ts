// The terms of payments that tests use unless they are about terms.

import { ZERO } from "../../../src/core/money/money.ts";
import type { TopUpTerms } from "../../../src/core/money/top-up-terms.ts";

/** No fee and no bonus. */
export const PLAIN_TERMS: TopUpTerms = {
  fee: { basisPoints: 0, fixed: ZERO },
  bonus: { basisPoints: 0, max: ZERO },
};
