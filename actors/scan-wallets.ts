import { accountOfWallet, WALLET_PATTERN } from "./keys.ts";
import type { RedisClient } from "./script.ts";

export interface ScannedWallet {
  readonly accountId: string;
  readonly bucket: number;
  /** When a call last used it; 0 when none did. */
  readonly usedMs: number;
  /** The month, as 202611, in which it last forgot old ones; 0 when it never did. */
  readonly prunedIn: number;
}

const SCAN_COUNT = 500;

/** All wallets, page by page, on every server; one that comes or goes meanwhile may be missed. */
export async function* scanWallets(redis: RedisClient): AsyncGenerator<ScannedWallet[]> {
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  for (const server of servers) {
    let cursor = "0";
    do {
      const [next, found] = await server.scan(cursor, "MATCH", WALLET_PATTERN, "COUNT", SCAN_COUNT);
      cursor = next;
      if (found.length > 0) yield await Promise.all(found.map((key) => read(redis, key)));
    } while (cursor !== "0");
  }
}

async function read(redis: RedisClient, key: string): Promise<ScannedWallet> {
  const [used, pruned] = await redis.hmget(key, "used", "pruned");
  const bucket = Number(/^\{b(\d+)\}/.exec(key)?.[1]);
  return {
    accountId: accountOfWallet(key),
    bucket,
    usedMs: Number(used ?? 0),
    prunedIn: Number(pruned ?? 0),
  };
}
