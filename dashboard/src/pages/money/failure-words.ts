// Says why a payment failed, from the provider's code of the failure.

import { failureWords as wordsOf } from "../../../../src/core/money/payment-failures.ts";
import { t } from "../../texts.ts";

/** In words of the page's language; a code without words is shown as it is. */
export function failureWords(failure: string): string {
  return wordsOf(t.billing.failures, failure);
}

/** The refusal of a charge of a saved card. */
export function declinedWords(failure: string | null): string {
  return t.billing.declined(failure === null ? null : failureWords(failure));
}
