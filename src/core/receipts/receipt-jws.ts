// Signs and verifies receipts as compact JSON Web Signatures (RFC 7515).

import { CompactSign, compactVerify, decodeProtectedHeader, importJWK } from "jose";
import type { PublicJwk, ReceiptKey } from "./receipt-keys.ts";

/** The claims of a receipt. Amounts and counts are decimal digits, so no reader rounds them. */
export interface ReceiptClaims {
  /** The service that issued it. */
  readonly iss: string;
  /** The account. */
  readonly sub: string;
  /** The request. */
  readonly jti: string;
  /** When it was issued, in Unix seconds. */
  readonly iat: number;
  readonly receipt: {
    /** 1 for the first receipt of a request, then 2 ... */
    readonly number: number;
    /** The number of the receipt that it corrects; null for the first one. */
    readonly corrects: number | null;
    /** When the call was admitted. */
    readonly at: string;
    readonly key: string;
    readonly endpoint: string;
    readonly service: string;
    readonly model: string | null;
    readonly price_version: string | null;
    /** The tier that served the call; left out for the standard one. */
    readonly tier?: string;
    /**
     * The tokens by part and the calls of the provider's tools for a model; the requests for other
     * services.
     */
    readonly units: Readonly<Record<string, string>>;
    /** The counter of the units: the model's provider, or this service. */
    readonly usage_source: string;
    readonly hold_usd: string | null;
    readonly cost_usd: string;
    /** The part of the cost that free credit paid. */
    readonly free_usd: string;
    /** Both balances after the charge; null if nothing was charged. */
    readonly balance_after_usd: string | null;
    readonly status: number;
    readonly error_code: string | null;
  };
}

const TYPE = "farebox-receipt+jwt";

/** The receipt of these claims, in compact form. */
export async function signReceipt(
  { privateKey, publicJwk: { kid, alg } }: ReceiptKey,
  claims: ReceiptClaims,
): Promise<string> {
  return await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg, kid, typ: TYPE })
    .sign(privateKey);
}

/**
 * The claims of a receipt that one of these keys signed.
 * @throws Error that says why it is none
 */
export async function verifyReceipt(
  jws: string,
  keys: readonly PublicJwk[],
): Promise<ReceiptClaims> {
  const { kid, typ } = decodeProtectedHeader(jws);
  if (typ !== TYPE) throw new Error("This is no receipt: its header has another type");
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) throw new Error(`No known key has signed this receipt (kid ${kid})`);
  const known = await importJWK({ ...key }, "EdDSA");
  const { payload } = await compactVerify(jws, known, { algorithms: ["EdDSA"] });
  return JSON.parse(new TextDecoder().decode(payload)) as ReceiptClaims;
}
