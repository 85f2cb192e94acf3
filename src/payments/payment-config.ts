// The settings of payments. An installation without a key of a provider offers no top-ups.

import { centsUp } from "../core/money/money.ts";
import type { ProviderKind } from "../core/money/payment-names.ts";
import { PLAN_PRICE_MIN, type PlanPrices, PRICED_PLANS } from "../core/money/plan-terms.ts";
import type { TopUpTerms } from "../core/money/top-up-terms.ts";
import type { ProviderOptions, ProviderSettings } from "./provider-kind.ts";
import { neededVariables, PROVIDER_KINDS, PROVIDERS } from "./providers.ts";

export interface PaymentConfig extends Omit<ProviderOptions, "now"> {
  readonly kind: ProviderKind;
  readonly terms: TopUpTerms;
  readonly plans: PlanPrices;
}

export interface PaymentSettings {
  readonly settingsOf: (kind: ProviderKind) => ProviderSettings;
  readonly terms: TopUpTerms;
  readonly plans: PlanPrices;
}

/**
 * Checks that the settings fit together; null where none is set.
 * @throws RangeError with words for the operator
 */
export function paymentConfigOf(settings: PaymentSettings): PaymentConfig | null {
  const { settingsOf, terms, plans } = settings;
  if (terms.bonus.basisPoints > 0 !== terms.bonus.max > 0n) {
    throw new RangeError("TOP_UP_BONUS_PERCENT and TOP_UP_BONUS_MAX_USD must be set together");
  }
  checkPlans(plans);
  const kind = PROVIDER_KINDS.find((one) => isSet(settingsOf(one)));
  if (kind === undefined) return null;
  const { secretKey, webhookSecrets, returnUrl, apiBase, automaticTax, invoices } =
    settingsOf(kind);
  if (secretKey === null) throw missing(kind, "secretKey");
  if (webhookSecrets === null) throw missing(kind, "webhookSecrets");
  if (returnUrl === null) throw missing(kind, "returnUrl");
  return Object.freeze({
    kind,
    name: PROVIDERS[kind].nameOf(secretKey, apiBase),
    secretKey,
    webhookSecrets,
    apiBase,
    terms,
    plans,
    automaticTax,
    invoices,
    returnUrl: returnUrl.href,
  });
}

function isSet({ secretKey, webhookSecrets, returnUrl }: ProviderSettings): boolean {
  return secretKey !== null || webhookSecrets !== null || returnUrl !== null;
}

function checkPlans(plans: PlanPrices): void {
  for (const name of PRICED_PLANS) {
    const price = plans[name];
    if (price === null || (price >= PLAN_PRICE_MIN && centsUp(price) === price)) continue;
    throw new RangeError(`PLAN_${name.toUpperCase()}_USD must be whole cents, and at least 0.50`);
  }
}

function missing(kind: ProviderKind, setting: keyof ProviderSettings): RangeError {
  const name = PROVIDERS[kind].variables[setting];
  return new RangeError(`${name} is not set; payments need ${neededVariables(kind)}`);
}
