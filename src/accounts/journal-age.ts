// How far Postgres is behind what happened: what is read from it is as old as that.

import { isBehind, readJournal, writtenAtMs } from "../../actors/journal.ts";
import type { RedisClient } from "../../actors/script.ts";
import type { Database } from "../store/database.ts";
import { readCursor } from "../store/journal-cursors.ts";

export interface JournalAgeDeps {
  readonly redis: RedisClient;
  readonly database: Database;
  readonly now: () => number;
}

/** A time, and by how much calls may appear later than it. */
export interface AsOf {
  readonly at: Date;
  readonly behindSeconds: number;
}

/** Measures the journal of one bucket now. Call it before reading what it is said of. */
export async function asOfNow(
  { redis, database, now }: JournalAgeDeps,
  bucket: number,
): Promise<AsOf> {
  const place = await readCursor(database, bucket);
  const page = await readJournal(redis, bucket, place, 1);
  const nowMs = now();
  const [oldest] = page.entries;
  const isLate = isBehind(page, place) && oldest !== undefined && oldest.entry !== null;
  const sinceMs = isLate && oldest.entry !== null ? writtenAtMs(oldest.entry, nowMs) : nowMs;
  return { at: new Date(nowMs), behindSeconds: Math.max(0, nowMs - sinceMs) / 1_000 };
}
