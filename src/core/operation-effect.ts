// What each kind of operation may do to a balance and to what is owed (docs/money.md).

import { dollars } from "./audit-finding.ts";
import type { OperationKind } from "./journal.ts";

interface Operation {
  readonly kind: OperationKind;
  readonly balance: "paid" | "free";
  readonly amount: bigint;
}

/** Owned amounts, held ones included. */
interface Before {
  readonly paid: bigint;
  readonly owed: bigint;
}

interface Effect {
  readonly paidDelta: bigint;
  readonly freeDelta: bigint;
  readonly owedAfter: bigint;
}

/** What an entry must be and is. */
interface WrongEffect {
  readonly fact: string;
  readonly expected: string;
  readonly found: string;
}

/** What of an entry does not follow from its operation; null where all does. */
export function operationEffect(
  operation: Operation,
  before: Before,
  entry: Effect,
): WrongEffect | null {
  const { kind, amount } = operation;
  if (kind === "forgiven") {
    const forgiven = amount < before.owed ? amount : before.owed;
    return exactly(operation, entry, 0n) ?? owed(entry, before.owed - forgiven);
  }
  if (amount > 0n) return exactly(operation, entry, amount) ?? owed(entry, before.owed);
  const unpaid = amount - entry.paidDelta;
  const owedAfter = kind === "reversal" ? before.owed - unpaid : before.owed;
  return atMost(amount, before, entry) ?? owed(entry, owedAfter);
}

/** An operation that gives moves exactly its amount. */
function exactly({ balance }: Operation, entry: Effect, amount: bigint): WrongEffect | null {
  const [paid, free] = balance === "paid" ? [amount, 0n] : [0n, amount];
  if (entry.paidDelta === paid && entry.freeDelta === free) return null;
  return { fact: "what it gives by", expected: text(paid, free), found: textOf(entry) };
}

/**
 * One that takes, takes what is available of its amount. That is less than all where calls hold
 * some of it, and nothing while anything is owed.
 */
function atMost(amount: bigint, { paid, owed }: Before, entry: Effect): WrongEffect | null {
  const available = owed > 0n ? 0n : paid;
  const most = -amount < available ? -amount : available;
  const isWithin = entry.paidDelta <= 0n && -entry.paidDelta <= most;
  if (isWithin && entry.freeDelta === 0n) return null;
  const expected = `$0 to ${dollars(most)} paid and no free credit`;
  const taken = text(-entry.paidDelta, -entry.freeDelta);
  return { fact: "what it takes by", expected, found: taken };
}

function owed({ owedAfter }: Effect, expected: bigint): WrongEffect | null {
  if (owedAfter === expected) return null;
  const found = dollars(owedAfter);
  return { fact: "what is owed after", expected: dollars(expected), found };
}

function textOf({ paidDelta, freeDelta }: Effect): string {
  return text(paidDelta, freeDelta);
}

function text(paid: bigint, free: bigint): string {
  return `${dollars(paid)} paid and ${dollars(free)} free`;
}
