// Handles Redis during a restore: finds who still uses it and which operations a restored Postgres
// lacks, and empties it.

import { type Lacking, lostInBucket } from "../../actors/lost-in-bucket.ts";
import { accountKeys, bucketKeys } from "../../actors/records/keys.ts";
import { parseBucket, parseWallet } from "../../actors/records/records.ts";
import { connectedServers } from "../../actors/redis/redis-servers.ts";
import { scanWallets } from "../../actors/scan-wallets.ts";
import type { RedisClient } from "../../actors/scripts/script.ts";
import { BUCKETS } from "../core/access/limits.ts";
import {
  type AppliedOperation,
  type KnownOperations,
  lostOperations,
} from "../store/ledger/lost-operations.ts";
import type { Database } from "../store/servers/database.ts";

/** A wallet that is ahead of Postgres. */
export interface WalletAhead {
  readonly account: string;
  /**
   * The number of operations, such as credits, that the wallet has and Postgres lacks; null:
   * Postgres lacks the account too.
   */
  readonly operations: number | null;
  readonly paid: bigint;
  readonly free: bigint;
  /** The operations that are still in the journal. */
  readonly lost: readonly AppliedOperation[];
}

/** The epoch of each bucket; 0 for a bucket that is not set up. */
export async function epochsInRedis(redis: RedisClient): Promise<number[]> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  return await Promise.all(
    buckets.map(async (bucket) => {
      const bytes = await redis.getBuffer(bucketKeys(bucket).bucket);
      return bytes === null ? 0 : parseBucket(bytes).epoch;
    }),
  );
}

/** The operations that the journal of Redis still has and Postgres does not. */
export async function lostInJournal(
  redis: RedisClient,
  { sql }: Database,
): Promise<AppliedOperation[]> {
  const lost: AppliedOperation[] = [];
  const lacking: Lacking = (entries) => lostOperations(sql, entries);
  for (const [bucket, epoch] of (await epochsInRedis(redis)).entries()) {
    lost.push(...(await lostInBucket(redis, lacking, { bucket, epoch })).operations);
  }
  return lost;
}

/** Wallets that have operations which Postgres lacks. */
export async function walletsAhead(
  redis: RedisClient,
  known: KnownOperations,
): Promise<WalletAhead[]> {
  const lostOf = Map.groupBy(known.lost, ({ account }) => account);
  const ahead: WalletAhead[] = [];
  for await (const page of scanWallets(redis)) {
    for (const { accountId: account, bucket } of page) {
      const bytes = await redis.getBuffer(accountKeys(account, bucket).wallet);
      if (bytes === null) continue;
      const { operations, paid, free, heldPaid, heldFree } = parseWallet(bytes);
      const [last, lost = []] = [known.last.get(account), lostOf.get(account)];
      // New operations may have got the numbers of the lost ones, so the difference of the numbers
      // alone could be too small.
      const more = last === undefined ? null : Math.max(operations - last, lost.length);
      if (more !== null && more <= 0) continue;
      const balances = { paid: paid + heldPaid, free: free + heldFree };
      ahead.push({ account, operations: more, ...balances, lost });
    }
  }
  return ahead.toSorted((a, b) => (a.account < b.account ? -1 : 1));
}

/**
 * Removes everything, the scripts too: a server without scripts is compared with Postgres before it
 * is used again.
 */
export async function emptyRedis(redis: RedisClient): Promise<void> {
  for (const server of await connectedServers(redis)) {
    await server.function("FLUSH");
    await server.flushdb();
  }
}
