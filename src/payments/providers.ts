// The kinds of payment providers. A new one is a name in `PAYMENT_NAMES`, a row here, and a file.

import type { ProviderKind } from "../core/money/payment-names.ts";
import type { PaymentProviderKind } from "./provider-kind.ts";
import { stripe } from "./providers/stripe.ts";

export const PROVIDERS = { stripe } as const satisfies Record<ProviderKind, PaymentProviderKind>;

export const PROVIDER_KINDS = Object.keys(PROVIDERS) as readonly ProviderKind[];

/** The variables without which a kind takes no payments, in words. */
export function neededVariables(kind: ProviderKind): string {
  const { secretKey, webhookSecrets, returnUrl } = PROVIDERS[kind].variables;
  return `${secretKey}, ${webhookSecrets} and ${returnUrl}`;
}
