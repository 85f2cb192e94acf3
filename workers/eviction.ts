// Takes wallets that nobody uses out of Redis. The book has all of them; the next call brings its
// wallet back.

import { timeOf } from "../actors/due-leases.ts";
import { idleWallets } from "../actors/idle-wallets.ts";
import type { RedisClient, ScriptTime } from "../actors/script.ts";
import type { Log } from "../src/core/log.ts";

export interface EvictionDeps {
  readonly redis: RedisClient;
  readonly accounts: {
    of(accountId: string, bucket: number): { evict(idleMs: number): Promise<boolean> };
  };
  readonly idleMs: number;
  readonly log: Pick<Log, "error">;
  /** Only tests give a time. */
  readonly scriptTime?: () => ScriptTime;
}

const AT_ONCE = 16;

/** Evicts every wallet that is idle and fully flushed. Returns how many went. */
export async function evictIdle(deps: EvictionDeps): Promise<number> {
  const nowMs = await timeOf(deps.redis, deps.scriptTime?.() ?? "");
  let evicted = 0;
  for await (const page of idleWallets(deps.redis, nowMs - deps.idleMs)) {
    for (let start = 0; start < page.length; start += AT_ONCE) {
      const wallets = page.slice(start, start + AT_ONCE);
      const gone = await Promise.all(
        wallets.map(({ accountId, bucket }) => evictOne(deps, accountId, bucket)),
      );
      evicted += gone.filter(Boolean).length;
    }
  }
  return evicted;
}

async function evictOne(deps: EvictionDeps, accountId: string, bucket: number): Promise<boolean> {
  try {
    return await deps.accounts.of(accountId, bucket).evict(deps.idleMs);
  } catch (error) {
    deps.log.error({ accountId, err: error }, "A wallet could not be evicted");
    return false;
  }
}
