// Reading the journal that the scripts write: what happened to the accounts of a bucket, in order.

import type { JournalEntry, JournalType } from "../src/core/journal.ts";
import { nano } from "../src/core/money.ts";
import { bucketKeys } from "./keys.ts";
import type { RedisClient } from "./script.ts";

export interface JournalPage {
  /** Null when the bucket is not set up. */
  readonly epoch: number | null;
  /** The number of the newest entry that was ever written. */
  readonly newest: number;
  readonly entries: readonly JournalEntry[];
}

/** The fields of an entry stand in the order in which `append` of the prelude writes them. */
const FIELDS = 17;

/** The entries behind `afterId`, at most `count`. */
export async function readJournal(
  redis: RedisClient,
  bucket: number,
  afterId: string,
  count: number,
): Promise<JournalPage> {
  const keys = bucketKeys(bucket);
  const [meta, entries] = await Promise.all([
    redis.hmget(keys.meta, "epoch", "entry"),
    redis.xrange(keys.journal, `(${afterId}`, "+", "COUNT", count),
  ]);
  const [epoch, newest] = meta;
  return {
    epoch: epoch === null || epoch === undefined ? null : Number(epoch),
    newest: Number(newest ?? 0),
    entries: entries.map(([streamId, fields]) => parseEntry(streamId, fields)),
  };
}

/** Forgets the entries before a stream id; they must be in Postgres. */
export async function trimJournal(redis: RedisClient, bucket: number, id: string): Promise<void> {
  await redis.xtrim(bucketKeys(bucket).journal, "MINID", "~", id);
}

/** An entry as XRANGE answers it. */
export function parseEntry(streamId: string, [, text = ""]: readonly string[]): JournalEntry {
  const fields = text.split("\t");
  if (fields.length !== FIELDS) throw new Error(`Journal entry ${streamId} has a strange form`);
  const value = (index: number) => fields[index] ?? "";
  const optional = (index: number) => (value(index) === "" ? null : Number(value(index)));
  return {
    streamId,
    number: Number(value(0)),
    type: value(1) as JournalType,
    account: value(2),
    key: value(3),
    request: value(4),
    atMs: Number(value(5)),
    facts: value(6),
    outcome: value(7),
    seq: optional(8),
    paidDelta: nano(value(9)),
    freeDelta: nano(value(10)),
    paidAfter: nano(value(11)),
    freeAfter: nano(value(12)),
    month: optional(13),
    credit: optional(14),
    writtenOff: nano(value(15)),
    overrun: nano(value(16)),
  };
}
