// Writes rejected entries again, if they do not contradict the ledger.

import { nano } from "../../core/money/money.ts";
import type { Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { IP_HASH_JOB } from "../usage/log-upkeep.ts";
import { rejectionReason, writeEntries } from "./journal-writer.ts";
import type { Ledger } from "./ledger.ts";
import {
  EMPTY_LEDGER,
  isConsistent,
  JournalContradiction,
  type LedgerTail,
} from "./ledger-chain.ts";
import type { JournalItem, PreparedEntry } from "./prepared-entry.ts";
import { lockRejection, type OpenRejection, type RejectedEntries } from "./rejected-entries.ts";

export interface RetryDeps {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "prepare">;
  readonly rejected: RejectedEntries;
  /** Parses an entry of the journal's stream. */
  readonly parse: (streamId: string, content: Buffer) => JournalItem;
}

export interface RetryResult {
  readonly rejection: OpenRejection;
  /** The reason why the entry stays rejected; null if it was resolved. */
  readonly reason: string | null;
}

/** Retries every open rejection once, the oldest first. */
export async function retryRejections(deps: RetryDeps): Promise<RetryResult[]> {
  const results: RetryResult[] = [];
  for (const rejection of await deps.rejected.openRejections()) {
    results.push({ rejection, reason: await retryOne(deps, rejection) });
  }
  return results;
}

async function retryOne(deps: RetryDeps, rejection: OpenRejection): Promise<string | null> {
  const content = await deps.rejected.contentOf(rejection);
  // Another process has just resolved it.
  if (content === null) return null;
  const item = deps.parse(`${rejection.epoch}-${rejection.entry}`, Buffer.from(content));
  const [prepared] = await deps.ledger.prepare([item]);
  if (prepared === undefined || prepared.entry === null || prepared.account === null) {
    return prepared?.fault ?? "The entry cannot be read";
  }
  if (prepared.fault !== null && prepared.ledger === null) return prepared.fault;
  return await deps.database.sql.begin(async (tx) => {
    const locked = await lockRejection(tx, rejection);
    if (locked === null) return null;
    const { ledgerWritten, epoch } = locked;
    const missing = ledgerWritten ? { ...prepared, ledger: null } : prepared;
    if (missing.ledger !== null && epoch !== rejection.epoch) {
      return `The bucket was rebuilt without this entry: its epoch is ${epoch} now`;
    }
    const conflict = missing.ledger === null ? null : await ledgerConflict(tx, missing);
    if (conflict !== null) return conflict;
    const reason = (await tryWrite(tx, missing)) ?? prepared.fault;
    const hasWrittenLedger =
      missing.ledger !== null &&
      (reason === prepared.fault || (await tryWrite(tx, { ...missing, log: null })) === null);
    const result = { reason, ledgerWritten: ledgerWritten || hasWrittenLedger, prepared };
    await storeResult(tx, rejection, result);
    return reason;
  });
}

/** Why the entry contradicts the ledger; null if it fits. */
async function ledgerConflict(
  tx: SqlTransaction,
  { entry, account }: PreparedEntry,
): Promise<string | null> {
  if (entry === null || entry.seq === null) return null;
  const { seq } = entry;
  const [before] = await tx`
    SELECT seq, paid_after, free_after, owed_after FROM ledger_entries
    WHERE account = ${account} AND seq <= ${seq} ORDER BY seq DESC LIMIT 1`;
  const tail = before === undefined ? EMPTY_LEDGER : tailOf(before);
  if (tail.seq === seq) return `The ledger has another entry ${seq}`;
  if (tail.seq === seq - 1 && !isConsistent(entry, tail)) {
    return `It does not add up with entry ${tail.seq} of the ledger`;
  }
  const [after] = await tx`
    SELECT kind, paid_delta, free_delta, paid_after, free_after, owed_after FROM ledger_entries
    WHERE account = ${account} AND seq = ${seq + 1}`;
  if (after === undefined) return null;
  const next = {
    type: after.kind === "repayment" ? ("repayment" as const) : ("operation" as const),
    kind: after.kind,
    paidDelta: nano(after.paid_delta),
    freeDelta: nano(after.free_delta),
    paidAfter: nano(after.paid_after),
    freeAfter: nano(after.free_after),
    owedAfter: nano(after.owed_after),
  };
  const own = { paid: entry.paidAfter, free: entry.freeAfter, owed: entry.owedAfter };
  return isConsistent(next, own) ? null : `Entry ${seq + 1} of the ledger does not add up with it`;
}

function tailOf(row: Readonly<Record<string, bigint>>): LedgerTail {
  return {
    seq: Number(row.seq),
    paid: BigInt(row.paid_after ?? 0n),
    free: BigInt(row.free_after ?? 0n),
    owed: BigInt(row.owed_after ?? 0n),
  };
}

/** Writes the rows and returns null, or writes none and returns why Postgres refuses them. */
async function tryWrite(tx: SqlTransaction, prepared: PreparedEntry): Promise<string | null> {
  try {
    await tx.savepoint((inner) => writeEntries(inner, [prepared]));
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Unlike in the flush, a contradiction concerns only this entry, so it is a reason too. */
function reasonOf(error: unknown): string {
  try {
    return rejectionReason(error);
  } catch (other) {
    if (other instanceof JournalContradiction) return other.message;
    throw other;
  }
}

async function storeResult(
  tx: SqlTransaction,
  { bucket, epoch, entry }: OpenRejection,
  result: {
    readonly reason: string | null;
    readonly ledgerWritten: boolean;
    readonly prepared: PreparedEntry;
  },
): Promise<void> {
  const { reason, ledgerWritten, prepared } = result;
  await tx`
    UPDATE rejected_entries SET ledger_written = ${ledgerWritten},
      reason = coalesce(${reason}, reason),
      account = ${prepared.entry?.account ?? null}, seq = ${prepared.entry?.seq ?? null},
      resolved_at = CASE WHEN ${reason === null} THEN now() END
    WHERE bucket = ${bucket} AND epoch = ${epoch} AND entry = ${entry}`;
  const at = reason === null ? prepared.log?.at : null;
  if (at == null) return;
  // The hashes of its month may be cleared already: the job looks at that month again.
  await tx`
    UPDATE upkeep_cursors SET done_until = least(done_until, ${String(at)}::text::timestamptz)
    WHERE job = ${IP_HASH_JOB}`;
}
