// Redis during a restore: who still uses it, what it knows that a restored Postgres does not, and
// how it is emptied.

import { accountKeys, bucketKeys, PROCESS_PATTERN } from "../../actors/keys.ts";
import { parseBucket, parseWallet } from "../../actors/records.ts";
import { scanNames, serversOf } from "../../actors/redis-servers.ts";
import { scanWallets } from "../../actors/scan-wallets.ts";
import type { RedisClient } from "../../actors/script.ts";
import { BUCKETS } from "../core/limits.ts";

const SCAN_COUNT = 1_000;

/** A wallet that is ahead of Postgres. */
export interface WalletAhead {
  readonly account: string;
  /** Operations such as credits that it has and Postgres does not; null: nor the account. */
  readonly operations: number | null;
  readonly paid: bigint;
  readonly free: bigint;
}

/** The ids of the API and worker processes that run, or were killed within the last minute. */
export async function runningProcesses(redis: RedisClient): Promise<string[]> {
  const found = new Set<string>();
  for await (const names of scanNames(redis, PROCESS_PATTERN, SCAN_COUNT)) {
    for (const name of names) found.add(name.slice(name.indexOf(":") + 1));
  }
  return [...found].sort();
}

/** The epoch of each bucket; 0 where it is not set up. */
export async function epochsInRedis(redis: RedisClient): Promise<number[]> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  return await Promise.all(
    buckets.map(async (bucket) => {
      const bytes = await redis.getBuffer(bucketKeys(bucket).bucket);
      return bytes === null ? 0 : parseBucket(bytes).epoch;
    }),
  );
}

/** Wallets that have operations which Postgres lacks, given its last number for each account. */
export async function walletsAhead(
  redis: RedisClient,
  lastOperations: ReadonlyMap<string, number>,
): Promise<WalletAhead[]> {
  const ahead: WalletAhead[] = [];
  for await (const page of scanWallets(redis)) {
    for (const { accountId, bucket } of page) {
      const bytes = await redis.getBuffer(accountKeys(accountId, bucket).wallet);
      if (bytes === null) continue;
      const { operations, paid, free, heldPaid, heldFree } = parseWallet(bytes);
      const known = lastOperations.get(accountId);
      if (known !== undefined && operations <= known) continue;
      const more = known === undefined ? null : operations - known;
      const balances = { paid: paid + heldPaid, free: free + heldFree };
      ahead.push({ account: accountId, operations: more, ...balances });
    }
  }
  return ahead.toSorted((a, b) => (a.account < b.account ? -1 : 1));
}

/** Removes everything, the scripts too: each server is compared with Postgres before its next. */
export async function emptyRedis(redis: RedisClient): Promise<void> {
  for (const server of serversOf(redis)) {
    await server.function("FLUSH");
    await server.flushdb();
  }
}
