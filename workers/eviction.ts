// Removes idle wallets from Redis. Postgres has all of them, and the next call rebuilds its wallet.

import { timeOf } from "../actors/redis/redis-clock.ts";
import { type ScannedWallet, scanWallets } from "../actors/scan-wallets.ts";
import type { RedisClient, ScriptTime } from "../actors/scripts/script.ts";
import type { Log } from "../src/core/log.ts";

/** The part of an account's actor that this worker uses. */
export interface IdleWallet {
  evict(idleMs: number): Promise<boolean>;
}

export interface EvictionDeps {
  readonly redis: RedisClient;
  readonly accounts: { of(accountId: string, bucket: number): IdleWallet };
  readonly idleMs: number;
  readonly log: Pick<Log, "error">;
  /** Only tests set a time. */
  readonly scriptTime?: () => ScriptTime;
}

const AT_ONCE = 16;

/** Evicts every wallet that is idle and fully flushed. Returns how many were removed. */
export async function evictIdle(deps: EvictionDeps): Promise<number> {
  const nowMs = await timeOf(deps.redis, deps.scriptTime?.() ?? 0);
  let evicted = 0;
  for await (const page of scanWallets(deps.redis)) {
    for (const { accountId, usedMs } of page) {
      if (usedMs === null) deps.log.error({ accountId }, "A wallet cannot be read: it stays");
    }
    const idle = page.filter(({ usedMs }) => usedMs !== null && usedMs <= nowMs - deps.idleMs);
    for (let start = 0; start < idle.length; start += AT_ONCE) {
      const wallets = idle.slice(start, start + AT_ONCE);
      const gone = await Promise.all(wallets.map((wallet) => evict(deps, wallet)));
      evicted += gone.filter(Boolean).length;
    }
  }
  return evicted;
}

/** Removes the wallet if it is idle; returns true if it did. */
async function evict(deps: EvictionDeps, { accountId, bucket }: ScannedWallet): Promise<boolean> {
  try {
    return await deps.accounts.of(accountId, bucket).evict(deps.idleMs);
  } catch (error) {
    deps.log.error({ accountId, err: error }, "A wallet could not be evicted");
    return false;
  }
}
