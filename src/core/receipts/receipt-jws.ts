// Signs and verifies receipts as compact JSON Web Signatures (RFC 7515).

import type { PublicJwk, ReceiptKey } from "./receipt-keys.ts";
import { signClaims, verifyClaims } from "./signed-claims.ts";

/** The claims of a receipt. Amounts and counts are decimal digits, so no reader rounds them. */
export interface ReceiptClaims {
  /** The service that issued the receipt. */
  readonly iss: string;
  /** The account. */
  readonly sub: string;
  /** The request. */
  readonly jti: string;
  /** When the receipt was issued, in Unix seconds. */
  readonly iat: number;
  readonly receipt: {
    /** 1 for the first receipt of a request, then 2 ... */
    readonly number: number;
    /** The number of the corrected receipt; null for the first one. */
    readonly corrects: number | null;
    /** When the call was admitted. */
    readonly at: string;
    readonly key: string;
    readonly endpoint: string;
    readonly service: string;
    /** The model that served the call, or the action of maps; null for other services. */
    readonly model: string | null;
    /** The name that the caller asked for: the id of the model, an alias, or `auto`. */
    readonly asked_model: string | null;
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
    /** `max_cost` or `content_filter`; left out where neither ended the reply. */
    readonly stopped_by?: string;
  };
}

const RECEIPT = { type: "farebox-receipt+jwt", name: "receipt" } as const;

/** The receipt of these claims, in compact form. */
export async function signReceipt(key: ReceiptKey, claims: ReceiptClaims): Promise<string> {
  return await signClaims(RECEIPT, key, claims);
}

/**
 * The claims of a receipt that one of these keys signed.
 * @throws Error that says why it is none
 */
export async function verifyReceipt(
  jws: string,
  keys: readonly PublicJwk[],
): Promise<ReceiptClaims> {
  return await verifyClaims<ReceiptClaims>(RECEIPT, jws, keys);
}
