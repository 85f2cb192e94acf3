// Moves the journal of every bucket from Redis to Postgres, each entry exactly once.

import { readJournal, trimJournal } from "../actors/journal.ts";
import type { ScriptRunner } from "../actors/script.ts";
import type { JournalEntry } from "../src/core/journal.ts";
import type { Log } from "../src/core/log.ts";
import {
  type BucketBatch,
  type BucketCursor,
  JournalGap,
  type Ledger,
} from "../src/store/ledger.ts";

export interface FlushDeps {
  readonly scripts: ScriptRunner;
  readonly ledger: Ledger;
  readonly log: Log;
  /** How long entries stay in Redis behind the cursor, for a Postgres that comes back older. */
  readonly keepMs: number;
  /** Puts a bucket that is still in this epoch under a new one: its wallets are built anew. */
  readonly rebuild: (bucket: number, epoch: number) => Promise<void>;
  /** Told of every bucket whose journal and ledger disagree. */
  readonly onFork: (bucket: number) => void;
  /** Told of the entries that were written. */
  readonly onWritten?: (entries: readonly JournalEntry[]) => void;
}

const ENTRIES_A_BUCKET = 1_000;
/** Class 23 of SQLSTATE: a row contradicts what the ledger holds. */
const INTEGRITY = /^23/;
/** The driver's own codes, and classes 08, 53 and 57: connection, resources, operator. */
const AWAY = /^(CONNECTION_|CONNECT_|E[A-Z]+$|08|53|57)/;

/** Flushes what every bucket has by now. Returns the number of entries moved. */
export async function flushJournal(deps: FlushDeps): Promise<number> {
  let moved = 0;
  for (;;) {
    const cursors = await deps.ledger.cursors();
    const batches = await readBatches(deps, cursors);
    const written = batches.length === 0 ? 0 : await writeBatches(deps, batches);
    moved += written;
    // A page that was not full was its bucket's end: under load there is always something new.
    const isAtEnd = batches.every(({ entries }) => entries.length < ENTRIES_A_BUCKET);
    if (written === 0 || isAtEnd) {
      await trim(deps, cursors);
      return moved;
    }
  }
}

async function readBatches(
  deps: FlushDeps,
  cursors: readonly BucketCursor[],
): Promise<BucketBatch[]> {
  const pages = await Promise.all(
    cursors.map((cursor) =>
      readJournal(deps.scripts.redis, cursor.bucket, cursor.streamId, ENTRIES_A_BUCKET),
    ),
  );
  const batches: BucketBatch[] = [];
  let isOutOfStep = false;
  for (const [index, cursor] of cursors.entries()) {
    const page = pages[index];
    // A bucket without an epoch was never used, or Redis lost it: whoever uses it next sets it up.
    if (page === undefined || page.epoch === null) continue;
    if (page.epoch !== cursor.epoch || page.newest < cursor.entry) isOutOfStep = true;
    else if (page.entries.length > 0) {
      const { bucket, epoch, entry: after } = cursor;
      batches.push({ bucket, epoch, after, entries: page.entries });
    }
  }
  if (isOutOfStep) await deps.scripts.prepare();
  return batches;
}

/**
 * All buckets in one transaction; if one of them is at fault, each on its own, so that it keeps no
 * other waiting. A fault that cannot be explained is thrown once the others are written.
 */
async function writeBatches(deps: FlushDeps, batches: readonly BucketBatch[]): Promise<number> {
  try {
    return await write(deps, batches);
  } catch (error) {
    if (isAway(error)) throw error;
  }
  let written = 0;
  let unexplained: unknown = null;
  for (const batch of batches) {
    try {
      written += await write(deps, [batch]);
    } catch (error) {
      if (isAway(error)) throw error;
      if (contradicts(error)) await handleContradiction(deps, batch, error);
      else unexplained = error;
    }
  }
  if (unexplained !== null) throw unexplained;
  return written;
}

async function write(deps: FlushDeps, batches: readonly BucketBatch[]): Promise<number> {
  const entries = await deps.ledger.write(batches);
  deps.onWritten?.(entries);
  return entries.length;
}

async function handleContradiction(
  deps: FlushDeps,
  { bucket, epoch }: BucketBatch,
  error: unknown,
): Promise<void> {
  deps.onFork(bucket);
  // Entries that are missing in between mean that Postgres was put back further than the journal is
  // kept: only a person can tell which of the two is right, so the bucket waits.
  if (error instanceof JournalGap && error.found > error.expected) {
    deps.log.error({ bucket, err: error }, "Postgres is older than the journal goes back");
    return;
  }
  // A row that contradicts the ledger is void: the bucket is rebuilt from the ledger, which costs
  // the
  // operator the debits that were not flushed, and no customer a credit.
  deps.log.error(
    { bucket, err: error },
    "The journal contradicts the ledger: rebuilding the bucket",
  );
  await deps.rebuild(bucket, epoch);
}

/** True for what no repetition mends. */
function contradicts(error: unknown): boolean {
  return error instanceof JournalGap || INTEGRITY.test(codeOf(error));
}

/** True when Postgres did not answer, or said that it is going: the next round tries again. */
function isAway(error: unknown): boolean {
  return AWAY.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

async function trim(deps: FlushDeps, cursors: readonly BucketCursor[]): Promise<void> {
  await Promise.all(
    cursors.map(async (cursor) => {
      const reachedMs = Number(cursor.streamId.split("-")[0]);
      const keepFromMs = Math.max(0, reachedMs - deps.keepMs);
      if (keepFromMs > 0) await trimJournal(deps.scripts.redis, cursor.bucket, `${keepFromMs}-0`);
    }),
  );
}
