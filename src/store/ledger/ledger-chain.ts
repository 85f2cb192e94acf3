// Checks that the entries of a batch continue each account's ledger. If Redis lost data and
// continued, its stream ids repeat without a gap, so only this check shows that the journal is a
// different one.

import type { JournalEntry, LedgerKind } from "../../core/journal/journal.ts";
import { arrayText } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import type { PreparedEntry } from "./prepared-entry.ts";

/** The last row of an account's ledger. The balances include held amounts. */
export interface LedgerTail {
  readonly seq: number;
  readonly paid: bigint;
  readonly free: bigint;
  readonly owed: bigint;
}

/** The state of the ledger that a batch is checked against. */
export interface ChainContext {
  /** By the account's number; updated while the chain is checked. */
  readonly tails: Map<number, LedgerTail>;
  /** Missing ledger numbers whose entries were rejected, as `gapKey`. */
  readonly gaps: ReadonlySet<string>;
  /** Rejected entries of this epoch that could not be read: each can belong to any account. */
  readonly unreadable: readonly number[];
}

/** A rejected entry that could not be read, and the ledger number that it must have had. */
export interface Attribution {
  readonly entry: number;
  readonly account: string;
  readonly seq: number;
}

/** The journal contradicts the ledger: it comes from a Redis that lost data. */
export class JournalContradiction extends Error {
  override readonly name = "JournalContradiction";
}

/** The tail of an account without ledger entries. */
export const EMPTY_LEDGER: LedgerTail = { seq: 0, paid: 0n, free: 0n, owed: 0n };

/** The key of a missing ledger number of an account. */
export function gapKey(account: number, seq: number): string {
  return `${account} ${seq}`;
}

/** True if the entry has a valid ledger number or none; false if its number cannot be read. */
export function hasKnownSeq(entry: JournalEntry | null): boolean {
  if (entry === null) return false;
  return entry.seq === null || (Number.isSafeInteger(entry.seq) && entry.seq > 0);
}

/** The last ledger rows of the accounts whose money the entries change. */
export async function readTails(
  tx: SqlTransaction,
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
 * Checks that each account's entries continue its last row. Returns the ledger numbers of entries
 * that could not be read, where they are known now. @throws JournalContradiction
 */
export function checkChain(
  entries: readonly PreparedEntry[],
  context: ChainContext,
): readonly Attribution[] {
  const { tails } = context;
  const gaps = new Set(context.gaps);
  const unreadable = [...context.unreadable];
  const attributions: Attribution[] = [];
  for (const { item, entry, account, ledger } of entries) {
    if (!hasKnownSeq(entry)) {
      unreadable.push(item.number);
      continue;
    }
    if (entry === null || account === null || entry.seq === null) continue;
    const tail = tails.get(account) ?? EMPTY_LEDGER;
    if (entry.seq <= tail.seq) throw conflict(entry, `comes after entry ${tail.seq} of the ledger`);
    if (ledger === null) {
      gaps.add(gapKey(account, entry.seq));
      continue;
    }
    for (let seq = tail.seq + 1; seq < entry.seq; seq += 1) {
      if (gaps.has(gapKey(account, seq))) continue;
      const unread = unreadable.shift();
      if (unread === undefined) throw conflict(entry, `comes although entry ${seq} is missing`);
      attributions.push({ entry: unread, account: entry.account, seq });
    }
    const isNext = entry.seq === tail.seq + 1;
    if (isNext && !isConsistent(entry, tail))
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

/** True if the entry's balances are the balances before it plus its deltas. */
export function isConsistent(entry: BalanceChange, before: Omit<LedgerTail, "seq">): boolean {
  return (
    entry.paidAfter - entry.paidDelta === before.paid &&
    entry.freeAfter - entry.freeDelta === before.free &&
    isOwedConsistent(entry, before.owed)
  );
}

/** Most entries leave the amount owed unchanged; only for a repayment is the exact change known. */
function isOwedConsistent(
  { type, kind, paidDelta, owedAfter }: BalanceChange,
  before: bigint,
): boolean {
  if (type === "repayment") return owedAfter - paidDelta === before;
  if (kind === "reversal") return owedAfter >= before;
  if (kind === "forgiven") return owedAfter <= before;
  return owedAfter === before;
}

function conflict({ account, seq }: JournalEntry, fault: string): JournalContradiction {
  return new JournalContradiction(`Ledger entry ${seq} of ${account} ${fault}`);
}
