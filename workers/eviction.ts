// Removes from Redis what Postgres has and no call uses: idle wallets, which the next call
// rebuilds, and the budgets of runs that have ended. Deletes the rows of these runs later.

import { timeOf } from "../actors/redis/redis-clock.ts";
import { type ScannedWallet, scanWallets } from "../actors/scan-wallets.ts";
import type { RedisClient, ScriptTime } from "../actors/scripts/script.ts";
import type { ScriptRunner } from "../actors/scripts/script-runner.ts";
import { forgetBudgets } from "../actors/scripts/wallet-scripts.ts";
import { DAY_MS, MINUTE_MS } from "../src/core/durations.ts";
import type { Log } from "../src/core/log.ts";
import { webhookEvent } from "../src/core/webhooks/webhook-events.ts";
import {
  deleteEndedRuns,
  type EndedRun,
  endedRuns,
  markForgotten,
} from "../src/store/accounts/runs.ts";
import type { Database } from "../src/store/servers/database.ts";
import { addWebhookEvents } from "../src/store/webhooks/webhook-outbox.ts";

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

/** After its end a run stays in Redis for so long, for processes whose clocks are behind. */
const RUN_KEPT_MS = MINUTE_MS;

export interface EndedRunsDeps {
  readonly database: Database;
  readonly scripts: Pick<ScriptRunner, "run">;
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

/**
 * Takes the runs that have ended out of Redis, once Postgres has all of their charges, and notifies
 * their accounts. A run that goes on later is loaded again. One script takes out the runs of a page
 * in one bucket, because each script makes whoever reads Postgres for this bucket read it again
 * (D-901). Returns how many were taken out.
 */
export async function forgetEndedRuns(deps: EndedRunsDeps): Promise<number> {
  const { database, now, log } = deps;
  let forgotten = 0;
  for await (const page of endedRuns(database, new Date(now() - RUN_KEPT_MS))) {
    for (const [bucket, runs] of Map.groupBy(page, (run) => run.bucket)) {
      try {
        forgotten += await forgetInBucket(deps, bucket, runs);
      } catch (error) {
        const ids = runs.map(({ accountId }) => accountId);
        log.warn({ accounts: ids, err: error }, "Runs that have ended stay in Redis for now");
      }
    }
  }
  return forgotten;
}

async function forgetInBucket(
  { database, scripts, now }: EndedRunsDeps,
  bucket: number,
  runs: readonly EndedRun[],
): Promise<number> {
  const spent = runs.map((run) => ({ ...run, spent: run.loggedSpent }));
  const isForgotten = await scripts.run(forgetBudgets, { bucket, runs: spent });
  const ended = runs.filter((_, index) => isForgotten[index]);
  for (const run of ended) await noteEnd(database, run, new Date(now()));
  return ended.length;
}

async function noteEnd({ db }: Database, run: EndedRun, now: Date): Promise<void> {
  const { account, id, amount: max, endsAt, loggedSpent: spent } = run;
  await db.transaction(async (tx) => {
    // It may have got more time meanwhile.
    if (!(await markForgotten(tx, run, now))) return;
    const event = webhookEvent("run.ended", null, { run: id, max, endsAt, spent });
    await addWebhookEvents(tx, account, [event]);
  });
}

export interface RunRetentionDeps {
  readonly database: Database;
  /** The days that a run is kept after its end. */
  readonly keepDays: number;
  readonly now: () => number;
}

/** Deletes the runs whose time after their end is over. Returns how many. */
export async function deleteOldRuns({
  database,
  keepDays,
  now,
}: RunRetentionDeps): Promise<number> {
  return await deleteEndedRuns(database, new Date(now() - keepDays * DAY_MS));
}
