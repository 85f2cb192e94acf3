import { accountOfWallet, WALLET_PATTERN } from "./records/keys.ts";
import { parseWallet, UnknownRecord } from "./records/records.ts";
import { scanNames } from "./redis/redis-servers.ts";
import type { RedisClient } from "./scripts/script.ts";

export interface ScannedWallet {
  readonly accountId: string;
  readonly bucket: number;
  /** When a call last used it; 0 if none did, null if its record cannot be read. */
  readonly usedMs: number | null;
}

const SCAN_COUNT = 500;

/** All wallets on every server, page by page; may miss one that appears or disappears meanwhile. */
export async function* scanWallets(redis: RedisClient): AsyncGenerator<ScannedWallet[]> {
  for await (const names of scanNames(redis, WALLET_PATTERN, SCAN_COUNT)) {
    const page = await Promise.all(names.map((name) => read(redis, name)));
    if (page.length > 0) yield page.filter((wallet) => wallet !== null);
  }
}

async function read(redis: RedisClient, key: string): Promise<ScannedWallet | null> {
  const bytes = await redis.getBuffer(key);
  if (bytes === null) return null;
  const bucket = Number(/^\{b(\d+)\}/.exec(key)?.[1]);
  return { accountId: accountOfWallet(key), bucket, usedMs: usedMsOf(bytes) };
}

function usedMsOf(bytes: Buffer): number | null {
  try {
    return parseWallet(bytes).usedMs;
  } catch (error) {
    if (error instanceof UnknownRecord) return null;
    throw error;
  }
}
