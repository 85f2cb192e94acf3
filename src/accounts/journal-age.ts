// Measures how far Postgres is behind Redis: data read from Postgres is as old as that.

import {
  entriesBehind,
  type JournalPage,
  type JournalPlace,
  readJournal,
  writtenAtMs,
} from "../../actors/journal.ts";
import type { RedisClient } from "../../actors/scripts/script.ts";
import { readCursor } from "../store/ledger/journal-cursors.ts";
import { Ledger } from "../store/ledger/ledger.ts";
import type { Database } from "../store/servers/database.ts";

export interface JournalAgeDeps {
  readonly redis: RedisClient;
  readonly database: Database;
  readonly now: () => number;
}

/** A time, and the longest delay after it at which calls may appear. */
interface AsOf {
  readonly at: Date;
  readonly behindSeconds: number;
}

/**
 * Measures the journal of one bucket now. Call the function before reading the data of the bucket.
 */
export async function asOfNow(
  { redis, database, now }: JournalAgeDeps,
  bucket: number,
): Promise<AsOf> {
  const place = await readCursor(database, bucket);
  const page = await readJournal(redis, bucket, { ...place, count: 1 });
  const nowMs = now();
  return { at: new Date(nowMs), behindSeconds: behindSeconds(page, place, nowMs) };
}

/** The number of journal entries that are not in Postgres yet, and the age of the oldest. */
export interface JournalLag {
  readonly entries: number;
  readonly behindSeconds: number;
}

/** Measures the journals of all buckets now. */
export async function journalLagNow(deps: JournalAgeDeps): Promise<JournalLag> {
  const late = await lateBuckets(deps);
  return {
    entries: late.reduce((sum, one) => sum + one.entries, 0),
    behindSeconds: Math.max(0, ...late.map((one) => one.behindSeconds)),
  };
}

/** The buckets whose oldest waiting entry is older than so many seconds now. */
export async function bucketsBehind(
  deps: JournalAgeDeps,
  seconds: number,
): Promise<readonly number[]> {
  const late = await lateBuckets(deps);
  return late.filter((one) => one.behindSeconds > seconds).map(({ bucket }) => bucket);
}

/** The buckets that have journal entries which are not in Postgres yet. */
async function lateBuckets({
  redis,
  database,
  now,
}: JournalAgeDeps): Promise<readonly (JournalLag & { readonly bucket: number })[]> {
  const cursors = await new Ledger(database).cursors();
  const pages = await Promise.all(
    cursors.map(async (cursor) => ({
      cursor,
      page: await readJournal(redis, cursor.bucket, { ...cursor, count: 1 }),
    })),
  );
  const nowMs = now();
  return pages
    .map(({ page, cursor }) => ({
      bucket: cursor.bucket,
      entries: entriesBehind(page, cursor),
      behindSeconds: behindSeconds(page, cursor, nowMs),
    }))
    .filter(({ entries }) => entries > 0);
}

function behindSeconds(page: JournalPage, place: JournalPlace, nowMs: number): number {
  const [oldest] = page.entries;
  if (entriesBehind(page, place) === 0 || oldest === undefined || oldest.entry === null) return 0;
  return Math.max(0, nowMs - writtenAtMs(oldest.entry, nowMs)) / 1_000;
}
