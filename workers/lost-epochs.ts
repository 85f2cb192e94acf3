// Reads the journal of an epoch that Postgres lost, in a failover or by a restore, to decide if its
// bucket may be rebuilt, or if the journal is the last witness of an operation.

import { type Lacking, lostInBucket } from "../actors/lost-in-bucket.ts";
import type { RedisClient } from "../actors/scripts/script.ts";
import type { EpochInRedis } from "../src/store/accounts/wallet-repository.ts";
import { JournalGap } from "../src/store/ledger/journal-cursors.ts";
import {
  type AppliedOperation,
  LostOperations,
  lackingIn,
  lostOperations,
} from "../src/store/ledger/lost-operations.ts";
import type { Database } from "../src/store/servers/database.ts";

/**
 * The part of a bucket's epoch that was read so far. The bucket waits for long, and each flush
 * continues after the last entry read.
 */
interface Read {
  readonly epoch: number;
  readonly first: number;
  readonly next: number;
  readonly operations: readonly AppliedOperation[];
}

const PAGES_A_FLUSH = 20;

const readOf = new WeakMap<object, Map<number, Read>>();

/**
 * The reason why a bucket must not be rebuilt: the operations that Postgres lacks; a gap, because
 * some of its journal was trimmed; or `unread` while there is more to read. Null if nothing was
 * lost.
 */
export async function reasonToWait(
  redis: RedisClient,
  { sql }: Pick<Database, "sql">,
  { bucket, epoch }: EpochInRedis,
): Promise<LostOperations | JournalGap | "unread" | null> {
  const known = readOf.get(redis) ?? new Map<number, Read>();
  readOf.set(redis, known);
  const seen = known.get(bucket);
  const before = seen?.epoch === epoch ? seen : null;
  const lacking: Lacking = (entries) => lostOperations(sql, entries);
  const from = before?.next ?? 0;
  const reading = { bucket, epoch, from, pagesMax: PAGES_A_FLUSH };
  const more = await lostInBucket(redis, lacking, reading);
  // An operator may have booked some of them again.
  const still = await lackingIn(sql, before?.operations ?? []);
  const operations = [...still, ...more.operations];
  const first = before?.first ?? more.first;
  known.set(bucket, { epoch, first, next: more.next, operations });
  if (operations.length > 0) return new LostOperations(bucket, operations);
  if (first > 0) return new JournalGap(bucket, 0, first);
  if (!more.isReadToEnd) return "unread";
  known.delete(bucket);
  return null;
}
