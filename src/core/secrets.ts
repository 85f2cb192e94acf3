// Secrets of an installation. Each is a list, so that one can be replaced while the one before
// still counts; and each has an id that names it without showing it.

/** The current secret, then those that still count. */
export type SecretList = readonly [current: string, ...previous: string[]];

export const SECRET_NAMES = ["KEY_PEPPER", "IP_HASH_SECRET"] as const;

export type SecretName = (typeof SECRET_NAMES)[number];

export type Secrets = Readonly<Record<SecretName, SecretList>>;

const ID_LENGTH = 16;

/** Names a secret; it cannot be found from its id. The same text under two names has two ids. */
export function secretId(name: SecretName | "SESSION_SECRET", secret: string): string {
  const digest = new Bun.CryptoHasher("sha256", secret).update(`farebox id of ${name}`);
  return digest.digest("hex").slice(0, ID_LENGTH);
}
