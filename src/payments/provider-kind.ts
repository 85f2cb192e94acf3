// Defines a kind of payment provider: its settings, its webhook, and the function that opens it.

import type { ProviderName } from "../core/money/payment-names.ts";
import type { SecretList } from "../core/secrets.ts";
import type { PaymentProvider } from "./provider.ts";

/** The settings of a provider, each checked by itself. */
export interface ProviderSettings {
  readonly secretKey: string | null;
  readonly webhookSecrets: SecretList | null;
  /** The address to which the provider's page sends payers back. */
  readonly returnUrl: URL | null;
  /** The address of the API; null for the provider's own. */
  readonly apiBase: URL | null;
  /** The provider computes and adds taxes. */
  readonly automaticTax: boolean;
  /** The provider makes an invoice of each payment, for companies. */
  readonly invoices: boolean;
}

/** How long the client of a provider waits. */
export interface Patience {
  /** The longest wait for an answer. */
  readonly timeoutMs: number;
  /** The pause before the only repeat of a request without an answer. */
  readonly pauseMs: number;
}

/** The settings of a configured provider. */
export interface ProviderOptions
  extends Pick<ProviderSettings, "apiBase" | "automaticTax" | "invoices"> {
  readonly name: ProviderName;
  readonly secretKey: string;
  /** The current secret, then an earlier one that still counts while it is being replaced. */
  readonly webhookSecrets: SecretList;
  readonly returnUrl: string;
  readonly now: () => number;
  /** Only tests set other waits, because their providers fail at once or never answer. */
  readonly patience?: Patience | undefined;
}

/** A row of `PROVIDERS`. */
export interface PaymentProviderKind {
  /** The name of the provider in words. */
  readonly title: string;
  /** The environment variable of each setting. */
  readonly variables: Readonly<Record<keyof ProviderSettings, string>>;
  readonly webhook: {
    /** The id of the endpoint. */
    readonly id: string;
    readonly path: string;
    readonly signatureHeader: string;
  };
  /**
   * The name under which payments by this key are stored.
   * @throws RangeError with words for the operator if the key does not belong to the API's address
   */
  nameOf(secretKey: string, apiBase: URL | null): ProviderName;
  /** Opens the provider; it gets no request before the first use. */
  open(options: ProviderOptions): PaymentProvider;
}
