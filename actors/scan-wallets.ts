import { accountOfWallet, WALLET_PATTERN } from "./keys.ts";
import { parseWallet } from "./records.ts";
import type { RedisClient } from "./script.ts";

export interface ScannedWallet {
  readonly accountId: string;
  readonly bucket: number;
  /** When a call last used it; 0 if none did. */
  readonly usedMs: number;
}

const SCAN_COUNT = 500;

/** All wallets on every server, page by page; may miss one that appears or disappears meanwhile. */
export async function* scanWallets(redis: RedisClient): AsyncGenerator<ScannedWallet[]> {
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  for (const server of servers) {
    let cursor = "0";
    do {
      const [next, keys] = await server.scan(cursor, "MATCH", WALLET_PATTERN, "COUNT", SCAN_COUNT);
      cursor = next;
      const page = await Promise.all(keys.map((key) => read(redis, key)));
      if (page.length > 0) yield page.filter((wallet) => wallet !== null);
    } while (cursor !== "0");
  }
}

async function read(redis: RedisClient, key: string): Promise<ScannedWallet | null> {
  const bytes = await redis.getBuffer(key);
  if (bytes === null) return null;
  const bucket = Number(/^\{b(\d+)\}/.exec(key)?.[1]);
  return { accountId: accountOfWallet(key), bucket, usedMs: parseWallet(bytes).usedMs };
}
