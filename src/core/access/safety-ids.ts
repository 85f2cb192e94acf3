// Derives the identifiers by which providers tell callers apart: stable, different at each
// provider, and without a meaning for anybody but this installation (D-652). If a caller breaks a
// provider's rules, the provider can block one identifier instead of the operator's account.

import type { SecretList } from "../secrets.ts";

/** The characters of each part: two parts and an underscore fit the 64 that providers accept. */
const PART_LENGTH = 26;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const BITS_PER_CHARACTER = 5;

/** Makes the identifiers for one provider. */
export class SafetyIds {
  readonly #hasher: Bun.CryptoHasher;

  /** `provider` is the name of a preset, so that its key outlives entries of the configuration. */
  constructor(secret: string, provider: string) {
    const key = new Bun.CryptoHasher("sha256", secret).update(`farebox safety ids at ${provider}`);
    this.#hasher = new Bun.CryptoHasher("sha256", key.digest());
  }

  /** The 26 characters that stand for an account. */
  accountPart(account: string): string {
    return this.#part("account", account);
  }

  /** The 26 characters that stand for a caller's own value within its account. */
  ownPart(account: string, own: string): string {
    return this.#part("own", account, own);
  }

  /** The 26 characters that stand for a key of the provider's cache. No two accounts share one. */
  cacheKey(account: string, key: string): string {
    return this.#part("cache", account, key);
  }

  #part(...words: readonly string[]): string {
    const digest = this.#hasher.copy().update(JSON.stringify(words)).digest();
    let text = "";
    let bits = 0;
    let value = 0;
    for (const byte of digest) {
      value = ((value & 0x1f) << 8) | byte;
      bits += 8;
      while (bits >= BITS_PER_CHARACTER && text.length < PART_LENGTH) {
        bits -= BITS_PER_CHARACTER;
        text += ALPHABET[(value >> bits) & 0x1f];
      }
    }
    return text;
  }
}

/** The part of an identifier that stands for an account; null for a text that no provider has. */
export function accountPartOf(safetyId: string): string | null {
  const [, part = null] = /^([a-z2-7]{26})(?:_[a-z2-7]{26})?$/.exec(safetyId.trim()) ?? [];
  return part;
}

/**
 * The secrets of identifiers, the current one first: those that are configured, then one derived
 * from each pepper, with which an installation that configures none begins.
 */
export function safetyIdSecretsOf(configured: SecretList | null, peppers: SecretList): SecretList {
  const [current, ...previous] = peppers.map((pepper) =>
    new Bun.CryptoHasher("sha256", pepper).update("farebox secret of safety ids").digest("hex"),
  );
  const derived: SecretList = [current ?? "", ...previous];
  return configured === null ? derived : [configured[0], ...configured.slice(1), ...derived];
}
