import { accountOfWallet, WALLET_PATTERN } from "./keys.ts";
import type { RedisClient } from "./script.ts";

export interface IdleWallet {
  readonly accountId: string;
  readonly bucket: number;
}

const SCAN_COUNT = 500;

/** The wallets that no call has used since `usedBeforeMs`, page by page, on every server. */
export async function* idleWallets(
  redis: RedisClient,
  usedBeforeMs: number,
): AsyncGenerator<IdleWallet[]> {
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  for (const server of servers) {
    let cursor = "0";
    do {
      const [next, found] = await server.scan(cursor, "MATCH", WALLET_PATTERN, "COUNT", SCAN_COUNT);
      cursor = next;
      const used = await Promise.all(found.map((key) => redis.hget(key, "used")));
      const idle = found.filter((_, index) => Number(used[index] ?? 0) <= usedBeforeMs);
      if (idle.length > 0) yield idle.map(placeOf);
    } while (cursor !== "0");
  }
}

function placeOf(key: string): IdleWallet {
  const bucket = Number(/^\{b(\d+)\}/.exec(key)?.[1]);
  return { accountId: accountOfWallet(key), bucket };
}
