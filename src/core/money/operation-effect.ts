// Checks the effect of each kind of operation on a balance and on the owed amount (docs/money.md).

import type { OperationKind } from "../journal/journal.ts";
import { dollars } from "./money.ts";

interface Operation {
  readonly kind: OperationKind;
  readonly balance: "paid" | "free";
  readonly amount: bigint;
}

/** Owned amounts, including held ones. */
interface Before {
  readonly paid: bigint;
  readonly owed: bigint;
}

interface Effect {
  readonly paidDelta: bigint;
  readonly freeDelta: bigint;
  readonly owedAfter: bigint;
}

/** The expected and the actual effect of an entry. */
interface WrongEffect {
  readonly fact: string;
  readonly expected: string;
  readonly found: string;
}

/** The part of an entry that does not follow from its operation; null if all of it does. */
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

/** An operation that gives changes the balance by exactly its amount. */
function exactly({ balance }: Operation, entry: Effect, amount: bigint): WrongEffect | null {
  const [paid, free] = balance === "paid" ? [amount, 0n] : [0n, amount];
  if (entry.paidDelta === paid && entry.freeDelta === free) return null;
  return { fact: "what it gives by", expected: bothText(paid, free), found: effectText(entry) };
}

/**
 * An operation that takes gets the available balance, up to its amount. That is less if calls hold
 * some of the balance, and nothing while anything is owed.
 */
function atMost(amount: bigint, { paid, owed }: Before, entry: Effect): WrongEffect | null {
  const available = owed > 0n ? 0n : paid;
  const most = -amount < available ? -amount : available;
  const isWithin = entry.paidDelta <= 0n && -entry.paidDelta <= most;
  if (isWithin && entry.freeDelta === 0n) return null;
  const expected = `$0 to ${dollars(most)} paid and no free credit`;
  const taken = bothText(-entry.paidDelta, -entry.freeDelta);
  return { fact: "what it takes by", expected, found: taken };
}

function owed({ owedAfter }: Effect, expected: bigint): WrongEffect | null {
  if (owedAfter === expected) return null;
  const found = dollars(owedAfter);
  return { fact: "what is owed after", expected: dollars(expected), found };
}

function effectText({ paidDelta, freeDelta }: Effect): string {
  return bothText(paidDelta, freeDelta);
}

function bothText(paid: bigint, free: bigint): string {
  return `${dollars(paid)} paid and ${dollars(free)} free`;
}
