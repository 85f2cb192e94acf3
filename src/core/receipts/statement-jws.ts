// Signs and verifies the statement of a month, as receipts are signed (receipt-jws.ts).

import type { PublicJwk, ReceiptKey } from "./receipt-keys.ts";
import { signClaims, verifyClaims } from "./signed-claims.ts";

/** Balances at one instant: decimal digits of USD. */
interface StatedBalances {
  readonly paid_usd: string;
  readonly free_usd: string;
  readonly owed_usd: string;
}

/** The claims of a statement. Amounts are decimal digits, so no reader rounds them. */
export interface StatementClaims {
  /** The service that issued the statement. */
  readonly iss: string;
  /** The account. */
  readonly sub: string;
  /** When the statement was issued, in Unix seconds. */
  readonly iat: number;
  readonly statement: {
    /** A UTC month, such as 2026-11. */
    readonly month: string;
    readonly from: string;
    /** The end, which is not included. */
    readonly to: string;
    /** False while the month runs. */
    readonly is_over: boolean;
    readonly opening: StatedBalances;
    /**
     * The changes of the balances; these amounts lead from the opening balance to the closing one.
     */
    readonly entries: readonly {
      readonly kind: string;
      readonly count: number;
      readonly paid_usd: string;
      readonly free_usd: string;
    }[];
    readonly closing: StatedBalances;
    /** The calls that were charged, whose receipts add up to this amount. */
    readonly calls: {
      readonly charged: number;
      readonly cost_usd: string;
      readonly paid_usd: string;
      readonly free_usd: string;
    };
    /** The cost of the calls by service and model. */
    readonly charges: readonly {
      readonly service: string;
      readonly model: string | null;
      readonly cost_usd: string;
      readonly free_usd: string;
    }[];
  };
}

const STATEMENT = { type: "farebox-statement+jwt", name: "statement" } as const;

/** The statement of these claims, in compact form. */
export async function signStatement(key: ReceiptKey, claims: StatementClaims): Promise<string> {
  return await signClaims(STATEMENT, key, claims);
}

/**
 * The claims of a statement that one of these keys signed.
 * @throws Error that says why it is none
 */
export async function verifyStatement(
  jws: string,
  keys: readonly PublicJwk[],
): Promise<StatementClaims> {
  return await verifyClaims<StatementClaims>(STATEMENT, jws, keys);
}
