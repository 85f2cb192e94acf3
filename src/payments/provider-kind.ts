// A kind of payment provider: all that differs from one kind to another, besides what it does.

import type { SecretList } from "../core/secrets.ts";
import type { PaymentProvider, ProviderName } from "./provider.ts";

/** The settings of a provider, each checked by itself. */
export interface ProviderSettings {
  readonly secretKey: string | null;
  readonly webhookSecrets: SecretList | null;
  /** Where payers are sent from the provider's page. */
  readonly returnUrl: URL | null;
  /** Where the provider's API is; null for the provider itself. */
  readonly apiBase: URL | null;
  /** The provider computes and adds taxes. */
  readonly automaticTax: boolean;
}

export interface ProviderOptions {
  readonly name: ProviderName;
  readonly secretKey: string;
  /** The current one, then one that still counts while it is being replaced. */
  readonly webhookSecrets: SecretList;
  /** Where the provider's API is; null for the provider itself. */
  readonly apiBase: URL | null;
  /** Where payers are sent from the provider's page. */
  readonly returnUrl: string;
  /** The provider computes and adds taxes. */
  readonly automaticTax: boolean;
  readonly now: () => number;
}

/** A row of `PROVIDERS`. */
export interface PaymentProviderKind {
  /** Its name in words. */
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
   * The name under which is stored what the owner of this key did.
   * @throws RangeError with words for the operator if the key does not belong to the API's address
   */
  nameOf(secretKey: string, apiBase: URL | null): ProviderName;
  /** Opens it; nothing is asked of it before the first use. */
  open(options: ProviderOptions): PaymentProvider;
}
