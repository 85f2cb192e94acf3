// What an audit found that should not be: one fact, what it must be and what it is.

import { type NanoUsd, toDecimal } from "./money.ts";

export interface AuditFinding {
  /** The account, or null where the fact is one of a bucket or of the whole. */
  readonly account: string | null;
  readonly bucket: number | null;
  /** The ledger entry, where the fact is about one. */
  readonly seq: number | null;
  readonly fact: string;
  readonly expected: string;
  readonly found: string;
  /** The fact is a balance below zero, for which the account is suspended (SPEC 3.1). */
  readonly isBelowZero?: true;
}

/** The difference in one sentence. */
export function describe({ account, bucket, seq, fact, expected, found }: AuditFinding): string {
  const place = [
    account,
    bucket === null ? null : `bucket ${bucket}`,
    seq === null ? null : `ledger entry ${seq}`,
  ].filter((part) => part !== null);
  const where = place.length === 0 ? "" : `${place.join(", ")}: `;
  return `${where}${fact}: expected ${expected}, found ${found}`;
}

/** An amount as an audit prints it; it may lie outside what an account may own. */
export function dollars(amount: bigint): string {
  return `$${toDecimal(amount as NanoUsd)}`;
}
