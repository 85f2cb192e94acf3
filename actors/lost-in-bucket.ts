// Reads from the journal of a bucket which operations Postgres has lost.

import type { AppliedOperation } from "../src/store/lost-operations.ts";
import type { EpochInRedis } from "../src/store/wallet-repository.ts";
import { readJournal, type StreamEntry } from "./journal.ts";
import type { RedisClient } from "./script.ts";

/** The operations among these entries that Postgres does not have. */
export type Lacking = (entries: readonly StreamEntry[]) => Promise<readonly AppliedOperation[]>;

const ENTRIES_A_PAGE = 1_000;

/** The operations that the journal of this epoch still has and Postgres does not. */
export async function lostInBucket(
  redis: RedisClient,
  lacking: Lacking,
  { bucket, epoch }: EpochInRedis,
): Promise<AppliedOperation[]> {
  const lost: AppliedOperation[] = [];
  for (let entry = 0; ; ) {
    const { entries } = await readJournal(redis, bucket, { epoch, entry }, ENTRIES_A_PAGE);
    lost.push(...(await lacking(entries)));
    if (entries.length < ENTRIES_A_PAGE) return lost;
    entry = (entries.at(-1)?.number ?? 0) + 1;
  }
}
