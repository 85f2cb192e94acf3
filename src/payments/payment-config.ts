// The settings of payments. Without a key there are no top-ups.

import { centsUp } from "../core/money/money.ts";
import { PLAN_PRICE_MIN, type PlanPrices, PRICED_PLANS } from "../core/money/plan-terms.ts";
import type { TopUpTerms } from "../core/money/top-up-terms.ts";
import type { SecretList } from "../core/secrets.ts";
import type { ProviderName } from "./provider.ts";

export interface PaymentConfig {
  readonly name: ProviderName;
  readonly secretKey: string;
  /** The current one, then one that still counts while it is being replaced. */
  readonly webhookSecrets: SecretList;
  /** Where Stripe's API is; null for Stripe itself. */
  readonly apiBase: URL | null;
  /** Where payers are sent from the provider's page. */
  readonly returnUrl: string;
  readonly terms: TopUpTerms;
  readonly plans: PlanPrices;
  /** The provider computes and adds taxes. */
  readonly automaticTax: boolean;
}

/** The settings, each checked by itself. */
export interface PaymentSettings {
  readonly secretKey: string | null;
  readonly webhookSecrets: SecretList | null;
  readonly returnUrl: URL | null;
  readonly apiBase: URL | null;
  readonly terms: TopUpTerms;
  readonly plans: PlanPrices;
  readonly automaticTax: boolean;
}

/** Keys of the sandbox begin so, and no key of Stripe does. */
const SANDBOX_KEY = "sk_sandbox_";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Checks that the settings fit together; null where none is set.
 * @throws RangeError with words for the operator
 */
export function paymentConfigOf(settings: PaymentSettings): PaymentConfig | null {
  const { secretKey, webhookSecrets, returnUrl, apiBase, terms, plans, automaticTax } = settings;
  if (terms.bonus.basisPoints > 0 !== terms.bonus.max > 0n) {
    throw new RangeError("TOP_UP_BONUS_PERCENT and TOP_UP_BONUS_MAX_USD must be set together");
  }
  checkPlans(plans);
  if (secretKey === null && webhookSecrets === null && returnUrl === null) return null;
  if (secretKey === null) throw new RangeError(missing("STRIPE_SECRET_KEY"));
  if (webhookSecrets === null) throw new RangeError(missing("STRIPE_WEBHOOK_SECRET"));
  if (returnUrl === null) throw new RangeError(missing("STRIPE_RETURN_URL"));
  const name = secretKey.startsWith(SANDBOX_KEY) ? "sandbox" : "stripe";
  if (name === "sandbox" && (apiBase === null || !LOOPBACK.includes(apiBase.hostname))) {
    throw new RangeError(
      "STRIPE_API_BASE must be the address of the sandbox on this machine: STRIPE_SECRET_KEY is " +
        "a key of the sandbox, which moves no money",
    );
  }
  return Object.freeze({
    name,
    secretKey,
    webhookSecrets,
    apiBase,
    terms,
    plans,
    automaticTax,
    returnUrl: returnUrl.href,
  });
}

function checkPlans(plans: PlanPrices): void {
  for (const name of PRICED_PLANS) {
    const price = plans[name];
    if (price === null || (price >= PLAN_PRICE_MIN && centsUp(price) === price)) continue;
    throw new RangeError(`PLAN_${name.toUpperCase()}_USD must be whole cents, and at least 0.50`);
  }
}

function missing(name: string): string {
  const all = "STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET and STRIPE_RETURN_URL";
  return `${name} is not set; payments need ${all}`;
}
