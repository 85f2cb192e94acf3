// Reads, in the journal of a bucket, the operations that Postgres has lost.

import type { EpochInRedis } from "../src/store/accounts/wallet-repository.ts";
import type { AppliedOperation } from "../src/store/ledger/lost-operations.ts";
import { readJournal, type StreamEntry } from "./journal.ts";
import type { RedisClient } from "./scripts/script.ts";

/** The operations among these entries that Postgres does not have. */
export type Lacking = (entries: readonly StreamEntry[]) => Promise<readonly AppliedOperation[]>;

/** The operations that Postgres lost, as far as the journal of an epoch shows them. */
export interface LostInBucket {
  readonly operations: readonly AppliedOperation[];
  /** The number of the oldest entry that is still there; those before it were trimmed. */
  readonly first: number;
  /** The number of the next entry to read. */
  readonly next: number;
  readonly isReadToEnd: boolean;
}

const ENTRIES_A_PAGE = 1_000;

/** The place to read from, and the most pages of a thousand entries. */
interface Reading extends EpochInRedis {
  readonly from?: number;
  readonly pagesMax?: number;
}

/** The operations that the journal of this epoch still has and Postgres does not. */
export async function lostInBucket(
  redis: RedisClient,
  lacking: Lacking,
  { bucket, epoch, from = 0, pagesMax = Number.POSITIVE_INFINITY }: Reading,
): Promise<LostInBucket> {
  const operations: AppliedOperation[] = [];
  let first: number | null = null;
  let next = from;
  let isReadToEnd = false;
  for (let page = 0; page < pagesMax && !isReadToEnd; page += 1) {
    const range = { epoch, entry: next, count: ENTRIES_A_PAGE };
    const { entries } = await readJournal(redis, bucket, range);
    operations.push(...(await lacking(entries)));
    first ??= entries[0]?.number ?? null;
    next = (entries.at(-1)?.number ?? next - 1) + 1;
    isReadToEnd = entries.length < ENTRIES_A_PAGE;
  }
  return { operations, first: first ?? from, next, isReadToEnd };
}
