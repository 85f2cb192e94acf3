// Stripe as a kind of payment provider, and the sandbox that speaks its protocol.

import type { PaymentProviderKind } from "../provider-kind.ts";
import { createStripeProvider } from "./stripe-provider.ts";

/** Keys of the sandbox begin so, and no key of Stripe does. */
const SANDBOX_KEY = "sk_sandbox_";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

export const stripe = {
  title: "Stripe",
  variables: {
    secretKey: "STRIPE_SECRET_KEY",
    webhookSecrets: "STRIPE_WEBHOOK_SECRET",
    returnUrl: "STRIPE_RETURN_URL",
    apiBase: "STRIPE_API_BASE",
    automaticTax: "STRIPE_AUTOMATIC_TAX",
    invoices: "STRIPE_INVOICES",
  },
  webhook: {
    id: "stripeWebhook",
    path: "/webhooks/stripe",
    signatureHeader: "stripe-signature",
  },
  nameOf(secretKey, apiBase) {
    if (!secretKey.startsWith(SANDBOX_KEY)) return "stripe";
    if (apiBase !== null && LOOPBACK.includes(apiBase.hostname)) return "sandbox";
    throw new RangeError(
      "STRIPE_API_BASE must be the address of the sandbox on this machine: STRIPE_SECRET_KEY is " +
        "a key of the sandbox, which moves no money",
    );
  },
  open: createStripeProvider,
} as const satisfies PaymentProviderKind;
