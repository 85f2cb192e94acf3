// Reads the journal that the scripts write: all that happened to the accounts of a bucket, in
// order.

import { type JournalEntry, parseOutcome } from "../src/core/journal/journal.ts";
import { bucketKeys } from "./records/keys.ts";
import { type BucketRecord, parseBucket, parseEntry, UnknownRecord } from "./records/records.ts";
import type { RedisClient } from "./scripts/script.ts";

/** An entry of the stream, readable or not. */
export interface StreamEntry {
  /** 0, 1, 2 … in each epoch of a bucket. */
  readonly number: number;
  /** The bytes in the stream. */
  readonly content: Buffer;
  /** Null if this release cannot read it. */
  readonly entry: JournalEntry | null;
  /** The reason why this release cannot read the entry; null if it can. */
  readonly fault: string | null;
}

export interface JournalPage {
  /** Null when the bucket is not set up. */
  readonly bucket: BucketRecord | null;
  /** The number of entries that were ever written in the bucket's epoch. */
  readonly written: number;
  readonly entries: readonly StreamEntry[];
}

/** A place in a journal, after the first `entry` entries of the epoch. */
export interface JournalPlace {
  readonly epoch: number;
  readonly entry: number;
}

/** Entries of a journal: at most `count`, from a place on. */
interface JournalRange extends JournalPlace {
  readonly count: number;
}

/**
 * Reads a range of entries of one epoch.
 * @throws UnknownRecord, UnknownLayout
 */
export async function readJournal(
  redis: RedisClient,
  bucket: number,
  { epoch, entry, count }: JournalRange,
): Promise<JournalPage> {
  const keys = bucketKeys(bucket);
  const from = `${epoch}-${entry}`;
  const [record, last, entries] = await Promise.all([
    redis.getBuffer(keys.bucket),
    redis.xrevrange(keys.events, "+", "-", "COUNT", 1),
    // An id without a number is the last id of the epoch: a rebuild between these reads begins
    // another epoch.
    redis.xrangeBuffer(keys.events, from, `${epoch}`, "COUNT", count),
  ]);
  const parsed = record === null ? null : parseBucket(record);
  const items = entries.map(([id, fields]) => streamEntry(id.toString(), fields[1]));
  // An unreadable entry may be of a layout that came into force after the record was read. That is
  // not a fault of the entry: checking the record again throws UnknownLayout.
  if (items.some(({ fault }) => fault !== null)) {
    const again = await redis.getBuffer(keys.bucket);
    if (again !== null) parseBucket(again);
  }
  return { bucket: parsed, written: writtenUntil(last[0]?.[0], parsed), entries: items };
}

/** Removes the entries before a place; they must be in Postgres. The newest entry always stays. */
export async function trimJournal(
  redis: RedisClient,
  bucket: number,
  { epoch, entry }: JournalPlace,
): Promise<void> {
  await redis.xtrim(bucketKeys(bucket).events, "MINID", "~", `${epoch}-${Math.max(0, entry - 1)}`);
}

/** The number of entries written in the epoch, from the id of the newest one. */
export function writtenUntil(newestId: string | undefined, bucket: BucketRecord | null): number {
  const [epoch, number] = (newestId ?? "").split("-");
  return bucket !== null && Number(epoch) === bucket.epoch ? Number(number) + 1 : 0;
}

/** An entry as XRANGE returns it. */
export function streamEntry(id: string, content: Buffer | undefined): StreamEntry {
  const number = Number(id.split("-")[1]);
  try {
    const entry = parseEntry(id, content ?? Buffer.alloc(0));
    return { number, content: content ?? Buffer.alloc(0), entry, fault: null };
  } catch (error) {
    if (!(error instanceof UnknownRecord)) throw error;
    return { number, content: content ?? Buffer.alloc(0), entry: null, fault: error.message };
  }
}

/** The number of journal entries that are not in Postgres: all, if Postgres lost their epoch. */
export function entriesBehind({ bucket, written }: JournalPage, cursor: JournalPlace): number {
  if (bucket === null || bucket.epoch < cursor.epoch) return 0;
  return bucket.epoch > cursor.epoch ? written : Math.max(0, written - cursor.entry);
}

/**
 * About when an entry was written. A call's entry has the time of its admission, so its latency is
 * added.
 */
export function writtenAtMs({ type, atMs, outcome }: JournalEntry, nowMs: number): number {
  if (type === "expired" || type === "late") return nowMs;
  if (type !== "call") return atMs;
  try {
    return atMs + (Number(parseOutcome(outcome).latencyMs) || 0);
  } catch {
    // The flush reports the fault of the entry.
    return nowMs;
  }
}
