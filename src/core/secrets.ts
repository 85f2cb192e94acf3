// Names the secrets of an installation. Each secret is a list, so that it can be replaced while its
// predecessor still counts; and each has an id that names it without showing it.

/** The current secret, then those that still count. */
export type SecretList = readonly [current: string, ...previous: string[]];

export const SECRET_NAMES = ["KEY_PEPPER", "IP_HASH_SECRET"] as const;

export type SecretName = (typeof SECRET_NAMES)[number];

/** Secrets that only some processes have. */
export type SoleSecretName = "SESSION_SECRET" | "SAFETY_ID_SECRET" | "RECEIPT_SECRET";

export type Secrets = Readonly<Record<SecretName, SecretList>>;

const ID_LENGTH = 16;

/**
 * Returns the id of a secret, from which the secret cannot be found. The same text under two names
 * has two ids.
 */
export function secretId(name: SecretName | SoleSecretName, secret: string): string {
  const digest = new Bun.CryptoHasher("sha256", secret).update(`farebox id of ${name}`);
  return digest.digest("hex").slice(0, ID_LENGTH);
}
