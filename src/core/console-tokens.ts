// Makes and hashes the tokens of links that are mailed to people. Only hashes of tokens are stored.

import type { RandomBytes } from "./ids.ts";

const TOKEN_BYTES = 32;

/** A token that cannot be guessed, for use in an address. */
export function newToken(random: RandomBytes): string {
  return Buffer.from(random(TOKEN_BYTES)).toString("base64url");
}

/** The stored hash of a token, or of the name under which a value waits for its token. */
export function hashToken(token: string): string {
  return new Bun.CryptoHasher("sha256").update(token).digest("hex");
}

/** The hash of a short code or an address, with a secret, because such texts are easily guessed. */
export function keyedHash(secret: string, purpose: string, text: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(`${purpose}\0${text}`).digest("hex");
}
