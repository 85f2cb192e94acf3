// Describes one fault that an audit found: a fact, with its expected and its actual value.

import { dollars } from "../money/money.ts";

export interface AuditFinding {
  /** The account; null if the fact is about a bucket or the whole installation. */
  readonly account: string | null;
  readonly bucket: number | null;
  /** The ledger entry, if the fact is about one. */
  readonly seq: number | null;
  readonly fact: string;
  readonly expected: string;
  readonly found: string;
  /** Present if a balance is below zero: the account is then suspended (SPEC 3.1). */
  readonly isBelowZero?: true;
}

/** A finding about an account as a whole. */
export function accountFinding(
  account: string,
  fact: string,
  { expected, found }: Pick<AuditFinding, "expected" | "found">,
): AuditFinding {
  return { account, bucket: null, seq: null, fact, expected, found };
}

/** The finding in one sentence. */
export function describe({ account, bucket, seq, fact, expected, found }: AuditFinding): string {
  const place = [
    account,
    bucket === null ? null : `bucket ${bucket}`,
    seq === null ? null : `ledger entry ${seq}`,
  ].filter((part) => part !== null);
  const where = place.length === 0 ? "" : `${place.join(", ")}: `;
  return `${where}${fact}: expected ${expected}, found ${found}`;
}

/** An operation that Redis applied, in one line. */
export function operationText(operation: {
  readonly account: string;
  readonly number: number;
  readonly kind: string;
  readonly paid: bigint;
  readonly free: bigint;
}): string {
  const { account, number, kind, paid, free } = operation;
  return `operation ${number} of ${account} (${kind} of ${dollars(paid + free)})`;
}
