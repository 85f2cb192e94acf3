// Takes wallets that nobody uses out of Redis, and old months out of those that stay. The ledger
// has
// all of it; the next call brings its wallet back.

import { timeOf } from "../actors/due-leases.ts";
import { type ScannedWallet, scanWallets } from "../actors/scan-wallets.ts";
import type { RedisClient, ScriptTime } from "../actors/script.ts";
import { monthOf } from "../src/core/clock.ts";
import type { Log } from "../src/core/log.ts";

/** An account's actor, as far as this worker needs it. */
export interface RestingWallet {
  evict(idleMs: number): Promise<boolean>;
  prune(): Promise<void>;
}

export interface EvictionDeps {
  readonly redis: RedisClient;
  readonly accounts: { of(accountId: string, bucket: number): RestingWallet };
  readonly idleMs: number;
  readonly log: Pick<Log, "error">;
  /** Only tests give a time. */
  readonly scriptTime?: () => ScriptTime;
}

const AT_ONCE = 16;

/** Evicts every wallet that is idle and fully flushed, and prunes others once a month. */
export async function evictIdle(deps: EvictionDeps): Promise<number> {
  const nowMs = await timeOf(deps.redis, deps.scriptTime?.() ?? "");
  const month = monthOf(nowMs);
  let evicted = 0;
  for await (const page of scanWallets(deps.redis)) {
    const due = page.filter((wallet) => isIdle(deps, wallet, nowMs) || wallet.prunedIn !== month);
    for (let start = 0; start < due.length; start += AT_ONCE) {
      const wallets = due.slice(start, start + AT_ONCE);
      const gone = await Promise.all(wallets.map((wallet) => tend(deps, wallet, nowMs)));
      evicted += gone.filter(Boolean).length;
    }
  }
  return evicted;
}

function isIdle(deps: EvictionDeps, { usedMs }: ScannedWallet, nowMs: number): boolean {
  return usedMs <= nowMs - deps.idleMs;
}

/** True when the wallet went. */
async function tend(deps: EvictionDeps, wallet: ScannedWallet, nowMs: number): Promise<boolean> {
  const { accountId, bucket, prunedIn } = wallet;
  try {
    const account = deps.accounts.of(accountId, bucket);
    if (isIdle(deps, wallet, nowMs) && (await account.evict(deps.idleMs))) return true;
    if (prunedIn !== monthOf(nowMs)) await account.prune();
  } catch (error) {
    deps.log.error({ accountId, err: error }, "A wallet could not be evicted");
  }
  return false;
}
