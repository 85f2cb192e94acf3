// The keys that receipts are signed with (Ed25519, RFC 8037). Each is derived from a secret, so it
// needs no store; its public half is never deleted, so that old receipts can be verified.

import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { keyFrom } from "../sealed.ts";
import type { SecretList } from "../secrets.ts";

/** A public key as a JSON Web Key (RFC 7517). */
export interface PublicJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** The key, in base64url. */
  readonly x: string;
  /** The thumbprint of the key (RFC 7638). */
  readonly kid: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
}

export interface ReceiptKey {
  readonly privateKey: KeyObject;
  readonly publicJwk: PublicJwk;
}

/** The beginning of an Ed25519 key in PKCS#8 (RFC 8410); the seed follows. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** The signing key of a secret. */
export function receiptKeyOf(secret: string): ReceiptKey {
  const seed = keyFrom(secret, "farebox receipts ed25519");
  const der = Buffer.concat([PKCS8_HEAD, seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (x === undefined) throw new Error("An Ed25519 key has no public half");
  return { privateKey, publicJwk: publicJwk(x) };
}

/** The whole JSON Web Key of the public half `x`. */
export function publicJwk(x: string): PublicJwk {
  const canonical = JSON.stringify({ crv: "Ed25519", kty: "OKP", x });
  const kid = createHash("sha256").update(canonical).digest("base64url");
  return { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" };
}

/** The secrets of receipts: their own, or else derived from the pepper of keys. */
export function receiptSecretsOf(own: SecretList | null, pepper: SecretList): SecretList {
  if (own !== null) return own;
  const [current, ...previous] = pepper.map((secret) => `receipts ${secret}`);
  if (current === undefined) throw new Error("There is no pepper");
  return [current, ...previous];
}
