// The settings of payments. Without a key there are no top-ups.

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
}

/** Keys of the sandbox begin so, and no key of Stripe does. */
const SANDBOX_KEY = "sk_sandbox_";
const SECRET_LENGTH_MIN = 16;
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings; null where none is set.
 * @throws RangeError with words for the operator
 */
export function readPaymentConfig(env: Environment): PaymentConfig | null {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = env;
  if (!secretKey && !webhookSecret) return null;
  if (!secretKey) throw new RangeError(needs("STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"));
  if (!webhookSecret) throw new RangeError(needs("STRIPE_WEBHOOK_SECRET", "STRIPE_SECRET_KEY"));
  const name = secretKey.startsWith(SANDBOX_KEY) ? "sandbox" : "stripe";
  const apiBase = urlOf(env, "STRIPE_API_BASE");
  if (name === "sandbox" && (apiBase === null || !LOOPBACK.includes(apiBase.hostname))) {
    throw new RangeError(
      "STRIPE_API_BASE must be the address of the sandbox on this machine: STRIPE_SECRET_KEY is " +
        "a key of the sandbox, which moves no money",
    );
  }
  const returnUrl = urlOf(env, "STRIPE_RETURN_URL");
  if (returnUrl === null) throw new RangeError(needs("STRIPE_RETURN_URL", "STRIPE_SECRET_KEY"));
  return Object.freeze({
    name,
    secretKey,
    webhookSecrets: secretsOf(webhookSecret),
    apiBase,
    returnUrl: returnUrl.href,
  });
}

/** An empty secret would let anybody forge events. */
function secretsOf(text: string): SecretList {
  const [current = "", ...previous] = text.split(",");
  if ([current, ...previous].some((secret) => secret.length < SECRET_LENGTH_MIN)) {
    throw new RangeError(
      `each secret of STRIPE_WEBHOOK_SECRET must have at least ${SECRET_LENGTH_MIN} characters`,
    );
  }
  return Object.freeze([current, ...previous] as const);
}

function urlOf(env: Environment, name: string): URL | null {
  const text = env[name];
  if (!text) return null;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new RangeError(`${name} must be an address such as https://example.com, but is '${text}'`);
}

function needs(missing: string, given: string): string {
  return `${missing} is not set; ${given} needs it`;
}
