// Holds the entries of a batch against the last row of each account's ledger. Stream ids repeat
// cleanly when an older Redis writes on, so only this shows that a journal is another one.

import type { TransactionSql } from "postgres";
import type { JournalEntry, LedgerKind } from "../core/journal.ts";
import { arrayText } from "./database.ts";
import type { PreparedEntry } from "./prepared-entry.ts";

/** The last row of an account's ledger; balances are owned, held amounts included. */
export interface LedgerTail {
  readonly seq: number;
  readonly paid: bigint;
  readonly free: bigint;
  readonly owed: bigint;
}

/** What a chain may rest on. */
export interface ChainContext {
  /** By the account's number; changed as the chain is followed. */
  readonly tails: Map<number, LedgerTail>;
  /** Places in ledgers that rejected entries left empty, by `holeOf`. */
  readonly holes: ReadonlySet<string>;
  /** Rejected entries of this epoch that nobody could read: each may have been any account's. */
  readonly unreadable: readonly number[];
}

/** A rejected entry that could not be read, and the place in a ledger that it must have had. */
export interface Attribution {
  readonly entry: number;
  readonly account: string;
  readonly seq: number;
}

/** The journal contradicts the ledger: it comes from a Redis that is older than Postgres. */
export class JournalContradiction extends Error {
  override readonly name = "JournalContradiction";
}

/** An account without a ledger. */
export const START: LedgerTail = { seq: 0, paid: 0n, free: 0n, owed: 0n };

export function holeOf(account: number, seq: number): string {
  return `${account} ${seq}`;
}

/** False for an entry that may have a place in a ledger, of which it cannot be read which. */
export function hasPlace(entry: JournalEntry | null): boolean {
  if (entry === null) return false;
  return entry.seq === null || (Number.isSafeInteger(entry.seq) && entry.seq > 0);
}

/** The last ledger rows of the accounts that the entries have money of. */
export async function readTails(
  tx: TransactionSql,
  entries: readonly PreparedEntry[],
): Promise<Map<number, LedgerTail>> {
  const accounts = new Set<number>();
  for (const { account, entry } of entries) {
    if (account !== null && entry?.seq) accounts.add(account);
  }
  if (accounts.size === 0) return new Map();
  const rows = await tx`
    SELECT asked.account, last.* FROM unnest(${arrayText([...accounts])}::text::bigint[])
      AS asked(account)
    CROSS JOIN LATERAL (
      SELECT seq, paid_after, free_after, owed_after FROM ledger_entries
      WHERE account = asked.account ORDER BY seq DESC LIMIT 1) AS last`;
  return new Map(
    rows.map((row) => [
      Number(row.account),
      {
        seq: Number(row.seq),
        paid: BigInt(row.paid_after),
        free: BigInt(row.free_after),
        owed: BigInt(row.owed_after),
      },
    ]),
  );
}

/**
 * Follows each account from its last row through the entries. Returns the entries nobody could
 * read that now have a place. @throws JournalContradiction
 */
export function followChain(
  entries: readonly PreparedEntry[],
  context: ChainContext,
): readonly Attribution[] {
  const { tails } = context;
  const holes = new Set(context.holes);
  const unreadable = [...context.unreadable];
  const attributions: Attribution[] = [];
  for (const { item, entry, account, ledger } of entries) {
    if (!hasPlace(entry)) {
      unreadable.push(item.number);
      continue;
    }
    if (entry === null || account === null || entry.seq === null) continue;
    const tail = tails.get(account) ?? START;
    if (entry.seq <= tail.seq) throw conflict(entry, `comes after entry ${tail.seq} of the ledger`);
    if (ledger === null) {
      holes.add(holeOf(account, entry.seq));
      continue;
    }
    for (let seq = tail.seq + 1; seq < entry.seq; seq += 1) {
      if (holes.has(holeOf(account, seq))) continue;
      const stranger = unreadable.shift();
      if (stranger === undefined) throw conflict(entry, `comes although entry ${seq} is missing`);
      attributions.push({ entry: stranger, account: entry.account, seq });
    }
    const isNext = entry.seq === tail.seq + 1;
    if (isNext && !follows(entry, tail))
      throw conflict(entry, "does not add up with the one before");
    tails.set(account, {
      seq: entry.seq,
      paid: entry.paidAfter,
      free: entry.freeAfter,
      owed: entry.owedAfter,
    });
  }
  return attributions;
}

type BalanceChange = Pick<
  JournalEntry,
  "paidAfter" | "paidDelta" | "freeAfter" | "freeDelta" | "owedAfter" | "type"
> & { readonly kind: LedgerKind | null };

/** Whether an entry's balances are the ones before it and its deltas. */
export function follows(entry: BalanceChange, before: Omit<LedgerTail, "seq">): boolean {
  return (
    entry.paidAfter - entry.paidDelta === before.paid &&
    entry.freeAfter - entry.freeDelta === before.free &&
    owedFollows(entry, before.owed)
  );
}

/** Only a repayment says by how much it changes what is owed; most entries do not touch it. */
function owedFollows({ type, kind, paidDelta, owedAfter }: BalanceChange, before: bigint): boolean {
  if (type === "repayment") return owedAfter - paidDelta === before;
  if (kind === "reversal") return owedAfter >= before;
  if (kind === "forgiven") return owedAfter <= before;
  return owedAfter === before;
}

function conflict({ account, seq }: JournalEntry, fault: string): JournalContradiction {
  return new JournalContradiction(`Ledger entry ${seq} of ${account} ${fault}`);
}
