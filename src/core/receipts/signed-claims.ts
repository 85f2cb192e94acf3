// Signs claims as compact JSON Web Signatures (RFC 7515), and verifies them. The type in the header
// keeps one kind of document from passing as another.

import { CompactSign, compactVerify, decodeProtectedHeader, importJWK } from "jose";
import type { PublicJwk, ReceiptKey } from "./receipt-keys.ts";

/** A kind of signed document. */
export interface SignedKind {
  /** The type in the header. */
  readonly type: string;
  /** The document in words, such as `receipt`. */
  readonly name: string;
}

/** Signs claims, in compact form. */
export async function signClaims(
  { type }: SignedKind,
  { privateKey, publicJwk: { kid, alg } }: ReceiptKey,
  claims: object,
): Promise<string> {
  return await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg, kid, typ: type })
    .sign(privateKey);
}

/**
 * The claims of a document of this kind that one of these keys signed.
 * @throws Error that says why it is none
 */
export async function verifyClaims<Claims>(
  { type, name }: SignedKind,
  jws: string,
  keys: readonly PublicJwk[],
): Promise<Claims> {
  const { kid, typ } = decodeProtectedHeader(jws);
  if (typ !== type) throw new Error(`This is no ${name}: its header has another type`);
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) throw new Error(`No known key has signed this ${name} (kid ${kid})`);
  const known = await importJWK({ ...key }, "EdDSA");
  const { payload } = await compactVerify(jws, known, { algorithms: ["EdDSA"] });
  return JSON.parse(new TextDecoder().decode(payload)) as Claims;
}
