// Moves the journal of every bucket from Redis to Postgres, each entry exactly once.

import { type JournalPage, readJournal, trimJournal } from "../actors/journal.ts";
import type { ForcedRebuild } from "../actors/recovery.ts";
import type { ScriptRunner } from "../actors/scripts/script-runner.ts";
import type { JournalConflict } from "../src/accounts/audit.ts";
import type { Log } from "../src/core/log.ts";
import { messageOf } from "../src/core/text/error-message.ts";
import type { BucketCursor } from "../src/store/ledger/journal-cursors.ts";
import { JournalGap } from "../src/store/ledger/journal-cursors.ts";
import type {
  BucketBatch,
  BucketConflict,
  Ledger,
  TrimmableCursor,
  WriteOutcome,
} from "../src/store/ledger/ledger.ts";
import { LostOperations } from "../src/store/ledger/lost-operations.ts";
import { reasonToWait } from "./lost-epochs.ts";

export interface FlushDeps {
  readonly scripts: Pick<ScriptRunner, "redis" | "prepare">;
  readonly ledger: Ledger;
  readonly log: Log;
  /**
   * The time that entries stay in Redis after they are in Postgres, in case an older Postgres is
   * restored.
   */
  readonly keepMs: number;
  /** Puts buckets that are still in these epochs under new ones; their wallets are then rebuilt. */
  readonly rebuild: (buckets: readonly Required<ForcedRebuild>[]) => Promise<void>;
  /** Called for every bucket with a journal that contradicts the ledger. */
  readonly onFork: (bucket: number) => void;
  /** Called with the entries that were written. */
  readonly onWritten?: (entries: WriteOutcome["written"]) => void;
  /** Called with the entries that were rejected. */
  readonly onRejected?: (entries: WriteOutcome["rejected"]) => void;
}

const ENTRIES_A_BUCKET = 1_000;
/**
 * The number of entries before the cursor that are read again: if one with money differs from the
 * ledger, Postgres has entries of another journal.
 */
const WITNESSES = 8;

/**
 * Buckets with a backlog are shared out among this many transactions at a time: while Postgres
 * writes the entries of one, the process prepares those of another.
 */
const LANES = 2;

/**
 * Flushes every bucket as of now, and returns the number of entries moved. A bucket with a fault
 * does not stop the others; after all of them, it throws.
 */
export async function flushJournal(deps: FlushDeps): Promise<number> {
  const failures: unknown[] = [];
  const first = await movePages(deps, failures, null);
  let { moved } = first;
  const lanes = Array.from({ length: LANES }, (_, lane) => {
    return first.behind.filter((_, index) => index % LANES === lane);
  });
  // Every lane must end before this function, because the caller may close the stores after that.
  const ends = await Promise.allSettled(lanes.map((lane) => moveAll(deps, failures, lane)));
  for (const end of ends) {
    if (end.status === "rejected") throw end.reason;
    moved += end.value;
  }
  // One bucket with a fault must not fill Redis with the entries of all others.
  await trimFlushed(deps, failures).catch((error) => failures.push(error));
  if (failures.length === 0) return moved;
  throw new AggregateError(failures, "Buckets could not be flushed", { cause: failures[0] });
}

/** Moves pages of these buckets until they are at their ends, or one has a fault. */
async function moveAll(
  deps: FlushDeps,
  failures: unknown[],
  buckets: readonly number[],
): Promise<number> {
  let moved = 0;
  for (let behind = buckets; behind.length > 0; ) {
    const pass = await movePages(deps, failures, behind);
    moved += pass.moved;
    behind = pass.behind;
  }
  return moved;
}

interface Pass {
  readonly moved: number;
  /** The buckets that have more entries; the list is empty after a failure. */
  readonly behind: readonly number[];
}

/** Moves a page of each of these buckets; null means all. Adds errors to `failures`. */
async function movePages(
  deps: FlushDeps,
  failures: unknown[],
  buckets: readonly number[] | null,
): Promise<Pass> {
  const all = await deps.ledger.cursors();
  const cursors = buckets === null ? all : all.filter(({ bucket }) => buckets.includes(bucket));
  const batches = await readBatches(deps, cursors, failures);
  if (batches.length === 0) return { moved: 0, behind: [] };
  const outcome = await deps.ledger.write(batches);
  await report(deps, outcome, failures);
  if (failures.length > 0 || outcome.moved === 0) return { moved: outcome.moved, behind: [] };
  // A page that was not full reached the end of its bucket. Under load every bucket always has a
  // new entry.
  const full = batches.filter(({ entries }) => entries.length === ENTRIES_A_BUCKET);
  return { moved: outcome.moved, behind: full.map(({ bucket }) => bucket) };
}

/**
 * Flushes before an audit. Returns conflicts and, unlike the flush of the workers, rebuilds no
 * bucket and trims nothing.
 */
export async function flushForAudit(
  scripts: Pick<ScriptRunner, "redis">,
  ledger: Ledger,
): Promise<readonly JournalConflict[]> {
  const conflicts = new Map<number, JournalConflict>();
  const addReason = (fields: object, message: string) => {
    if (!("bucket" in fields) || typeof fields.bucket !== "number") return;
    const cause =
      "err" in fields && fields.err instanceof Error ? `: ${messageOf(fields.err)}` : "";
    conflicts.set(fields.bucket, { bucket: fields.bucket, reason: `${message}${cause}` });
  };
  await flushJournal({
    ledger,
    keepMs: Number.POSITIVE_INFINITY,
    // A rebuild would make Redis agree with a Postgres that was restored, and would destroy the
    // journals, which alone show the entries that Postgres lost.
    scripts: { redis: scripts.redis, prepare: () => Promise.resolve() },
    log: { info: () => {}, warn: () => {}, error: addReason },
    rebuild: () => Promise.resolve(),
    onFork: (bucket) =>
      conflicts.set(bucket, { bucket, reason: "entries that contradict the ledger" }),
  });
  return [...conflicts.values()];
}

/** Reads a page of each bucket. Adds the errors of single buckets to `failures`. */
async function readBatches(
  deps: FlushDeps,
  cursors: readonly BucketCursor[],
  failures: unknown[],
): Promise<readonly BucketBatch[]> {
  const pages = await Promise.allSettled(
    cursors.map(({ bucket, epoch, entry }) => {
      return readJournal(deps.scripts.redis, bucket, {
        epoch,
        entry: Math.max(0, entry - WITNESSES),
        count: ENTRIES_A_BUCKET + WITNESSES,
      });
    }),
  );
  const batches: BucketBatch[] = [];
  const outOfStep: OutOfStep[] = [];
  for (const [index, cursor] of cursors.entries()) {
    const page = pages[index];
    if (page?.status === "rejected") failures.push(page.reason);
    // A bucket without a record was never used, or Redis lost it: its next use sets it up.
    if (page?.status !== "fulfilled" || page.value.bucket === null) continue;
    if (!agrees(page.value, cursor)) {
      outOfStep.push({ cursor, epochInRedis: page.value.bucket.epoch });
    } else {
      const batch = batchOf(page.value, cursor);
      if (batch.entries.length > 0) batches.push(batch);
    }
  }
  if (outOfStep.length > 0) {
    await makeAgree(deps, outOfStep, failures).catch((error) => failures.push(error));
  }
  return batches;
}

/** A bucket that does not agree with its cursor. */
interface OutOfStep {
  readonly cursor: BucketCursor;
  readonly epochInRedis: number;
}

/**
 * Rebuilds these buckets. A bucket waits if Postgres lost its epoch, and perhaps an operation with
 * it: its journal is the last witness of that (D-297).
 */
async function makeAgree(
  deps: FlushDeps,
  outOfStep: readonly OutOfStep[],
  failures: unknown[],
): Promise<void> {
  const later = outOfStep.filter(({ cursor, epochInRedis }) => epochInRedis > cursor.epoch);
  if (later.length < outOfStep.length) await deps.scripts.prepare();
  const whole: Required<ForcedRebuild>[] = [];
  for (const one of later) {
    const mustWait = await waits(deps, one).catch((error) => {
      failures.push(error);
      return true;
    });
    if (!mustWait) whole.push({ bucket: one.cursor.bucket, epoch: one.cursor.epoch });
  }
  if (whole.length > 0) await deps.rebuild(whole);
}

async function waits(deps: FlushDeps, { cursor, epochInRedis }: OutOfStep): Promise<boolean> {
  const { scripts, ledger } = deps;
  const epoch = { bucket: cursor.bucket, epoch: epochInRedis };
  const reason = await reasonToWait(scripts.redis, ledger.database, epoch);
  if (reason instanceof Error) await handleConflict(deps, { ...epoch, error: reason });
  return reason !== null;
}

function batchOf({ entries }: JournalPage, { bucket, epoch, entry }: BucketCursor): BucketBatch {
  const passed = entries.filter(({ number }) => number < entry);
  return {
    bucket,
    epoch,
    entries: entries.slice(passed.length, passed.length + ENTRIES_A_BUCKET),
    witness: passed.findLast((item) => item.entry !== null && item.entry.seq !== null) ?? null,
  };
}

/** False if the journal is of another epoch, or shorter than the part of it in Postgres. */
function agrees({ bucket, written }: JournalPage, cursor: BucketCursor): boolean {
  return bucket?.epoch === cursor.epoch && written >= cursor.entry;
}

async function report(
  deps: FlushDeps,
  { written, rejected, conflicts, failure }: WriteOutcome,
  failures: unknown[],
): Promise<void> {
  deps.onWritten?.(written);
  if (rejected.length > 0) {
    deps.onRejected?.(rejected);
    logRejections(deps, rejected);
  }
  for (const conflict of conflicts) {
    await handleConflict(deps, conflict).catch((reason) => failures.push(reason));
  }
  if (failure !== null) failures.push(failure);
}

const LOGGED_REJECTIONS_MAX = 20;

function logRejections({ log }: FlushDeps, rejected: WriteOutcome["rejected"]): void {
  for (const { bucket, prepared, reason, ledgerWritten } of rejected.slice(
    0,
    LOGGED_REJECTIONS_MAX,
  )) {
    const { item, entry } = prepared;
    const accountId = entry?.account ?? null;
    log.error(
      { bucket, entry: item.number, accountId, ledgerWritten, reason },
      "A journal entry was rejected",
    );
  }
  const more = rejected.length - LOGGED_REJECTIONS_MAX;
  if (more > 0) log.error({ more }, "More journal entries were rejected");
  const negative = rejected.filter(({ prepared }) => prepared.isNegative);
  for (const accountId of new Set(negative.map(({ prepared }) => prepared.entry?.account))) {
    log.error({ accountId }, "A balance is below zero: the account is suspended");
  }
}

async function handleConflict(
  deps: FlushDeps,
  { bucket, epoch, error }: BucketConflict,
): Promise<void> {
  deps.onFork(bucket);
  // Postgres was restored to an earlier time. Only a person can decide which entries count, so the
  // bucket waits (D-297).
  if (error instanceof JournalGap) {
    deps.log.error({ bucket, err: error }, "Postgres is older than the journal goes back");
    return;
  }
  if (error instanceof LostOperations) {
    deps.log.error({ bucket, err: error }, "Postgres lacks operations that Redis has applied");
    return;
  }
  // Entries that contradict the ledger are invalid. Rebuilding the bucket from the ledger costs the
  // operator the debits that were not flushed, and no customer a credit.
  deps.log.error(
    { bucket, err: error },
    "The journal contradicts the ledger: rebuilding the bucket",
  );
  await deps.rebuild([{ bucket, epoch }]);
}

type TrimDeps = Pick<FlushDeps, "scripts" | "ledger" | "keepMs">;

/**
 * By Redis client, the position to which this process trimmed each bucket: an idle bucket is not
 * trimmed twice.
 */
const trimmed = new WeakMap<object, Map<number, string>>();

/**
 * Removes entries from Redis that have been in Postgres for `keepMs`. Adds the errors of single
 * buckets to `failures`.
 */
async function trimFlushed(deps: TrimDeps, failures: unknown[]): Promise<void> {
  const { ledger, keepMs } = deps;
  if (!Number.isFinite(keepMs)) return;
  const trimmable = await ledger.trimmable(keepMs);
  const trims = await Promise.allSettled(trimmable.map((cursor) => trimBucket(deps, cursor)));
  const behind = trimmable.filter(({ entry, keptEntry }, index) => {
    const result = trims[index];
    if (result?.status === "rejected") failures.push(result.reason);
    return result?.status === "fulfilled" && entry > keptEntry;
  });
  if (behind.length > 0) await ledger.markTrimmed(behind);
}

async function trimBucket(
  { scripts: { redis } }: TrimDeps,
  { bucket, epoch, keptEntry }: TrimmableCursor,
): Promise<void> {
  const done = trimmed.get(redis) ?? new Map<number, string>();
  trimmed.set(redis, done);
  const position = `${epoch}-${keptEntry}`;
  if (keptEntry === 0 || done.get(bucket) === position) return;
  await trimJournal(redis, bucket, { epoch, entry: keptEntry });
  done.set(bucket, position);
}
