// Removes records from Redis that Postgres has and no call uses: idle wallets, which the next call
// rebuilds, the budgets of runs that have ended, and the counts of end users (D-949). Deletes the
// rows of these runs and end users later, and those of ended spans (D-986).

import { accountKeys } from "../actors/records/keys.ts";
import { type BudgetRecord, parseBudgets } from "../actors/records/records.ts";
import { redisTime } from "../actors/redis/redis-clock.ts";
import { type ScannedWallet, scanWallets } from "../actors/scan-wallets.ts";
import type { RedisClient, ScriptTime } from "../actors/scripts/script.ts";
import type { ScriptRunner } from "../actors/scripts/script-runner.ts";
import { forgetBudgets, type SpentBudget } from "../actors/scripts/wallet-scripts.ts";
import { spanEnd } from "../src/core/access/budgets.ts";
import { DAY_MS, MINUTE_MS } from "../src/core/durations.ts";
import type { Log } from "../src/core/log.ts";
import { type NanoUsd, ZERO } from "../src/core/money/money.ts";
import { webhookEvent } from "../src/core/webhooks/webhook-events.ts";
import { deleteSpans, SPANS_KEPT_MS } from "../src/store/accounts/budget-spans.ts";
import {
  accountsWithEndUsers,
  deleteEndUsers,
  type EndUserAccount,
  type LoggedEndUser,
  readLoggedEndUsers,
} from "../src/store/accounts/end-users.ts";
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
  const nowMs = await redisTime(deps.redis, deps.scriptTime?.() ?? 0);
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

/** A run stays in Redis this long after its end, for processes whose clocks are behind. */
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
 * in one bucket (D-901). Returns how many were taken out.
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
  const whole = { startMs: 0, previousSpent: ZERO };
  const budgets = runs.map((run) => ({ ...run, ...whole, spent: run.loggedSpent }));
  const isForgotten = await scripts.run(forgetBudgets, { bucket, budgets });
  const ended = runs.filter((_, index) => isForgotten[index]);
  for (const run of ended) await noteEnd(database, run, new Date(now()));
  return ended.length;
}

async function noteEnd({ db }: Database, run: EndedRun, now: Date): Promise<void> {
  const { account, id, amount: max, endsAt, loggedSpent: spent } = run;
  await db.transaction(async (tx) => {
    // The run may have got more time meanwhile.
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

/** Deletes the runs that ended more than `keepDays` ago. Returns their number. */
export async function deleteOldRuns({
  database,
  keepDays,
  now,
}: RunRetentionDeps): Promise<number> {
  return await deleteEndedRuns(database, new Date(now() - keepDays * DAY_MS));
}

/** The end users of an account that stay in Redis while their spans go on. */
const END_USERS_KEPT_MAX = 10_000;
/** A span stays in Redis this long after its end, for processes whose clocks are behind. */
const SPAN_KEPT_MS = MINUTE_MS;
const SCAN_COUNT = 200;
/** The pause after a page of forgotten counts: long enough for a load of budgets (D-983). */
const FORGET_PAUSE_MS = 250;
/** Longer than any span, and than the time for which a process remembers an end user. */
const ROWS_KEPT_MS = 90 * DAY_MS;

export interface EndUserExpiryDeps {
  readonly database: Database;
  readonly redis: RedisClient;
  readonly scripts: Pick<ScriptRunner, "run">;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Pick<Log, "warn">;
  /** Only tests set another number. */
  readonly keptMax?: number;
}

/**
 * Removes counts of end users from Redis once Postgres has all of their charges: the counts whose
 * spans are over, and in any span the counts above `keptMax` of an account. The next call of an end
 * user loads the counts again. Returns the number of removed counts.
 */
export async function forgetEndUsers(deps: EndUserExpiryDeps): Promise<number> {
  let forgotten = 0;
  for (const account of await accountsWithEndUsers(deps.database)) {
    try {
      forgotten += await forgetOf(deps, account);
    } catch (error) {
      const { accountId } = account;
      deps.log.warn({ accountId, err: error }, "Counts of end users stay in Redis for now");
    }
  }
  return forgotten;
}

async function forgetOf(deps: EndUserExpiryDeps, account: EndUserAccount): Promise<number> {
  const { redis, sleep, keptMax = END_USERS_KEPT_MAX } = deps;
  const { budgets: key } = accountKeys(account.accountId, account.bucket);
  let [kept, forgotten] = [0, 0];
  for (let cursor = "0"; ; ) {
    const [next, flat] = await redis.hscanBuffer(key, cursor, "COUNT", SCAN_COUNT);
    const page = await forgetPage(deps, account, {
      records: parseBudgets(flat),
      room: keptMax - kept,
    });
    kept += page.kept;
    forgotten += page.forgotten;
    cursor = next.toString();
    if (cursor === "0") return forgotten;
    if (page.forgotten > 0) await sleep(FORGET_PAUSE_MS);
  }
}

interface Page {
  readonly records: ReadonlyMap<number, BudgetRecord>;
  /** The number of further spans that go on and may stay. */
  readonly room: number;
}

async function forgetPage(
  { database, scripts, now }: EndUserExpiryDeps,
  { accountId, account, bucket }: EndUserAccount,
  { records, room }: Page,
): Promise<{ readonly kept: number; readonly forgotten: number }> {
  const named = [...records].map(([number, record]) => ({ ...record, number }));
  if (named.length === 0) return { kept: 0, forgotten: 0 };
  const logged = await readLoggedEndUsers(database, account, named);
  const nowMs = now() - SPAN_KEPT_MS;
  const [over, lasting]: [SpentBudget[], SpentBudget[]] = [[], []];
  for (const one of logged) {
    const record = records.get(one.number);
    if (record === undefined) continue;
    const { startMs, previousStartMs } = record;
    const spent = spentIn(one, startMs);
    // Postgres may have deleted this span already (D-986), and then no call needs its spending.
    const isGone = previousStartMs < now() - SPANS_KEPT_MS;
    const previousSpent = isGone ? record.previousSpent : spentIn(one, previousStartMs);
    const budget = { number: one.number, accountId, startMs, spent, previousSpent };
    (isOver(one, record, nowMs) ? over : lasting).push(budget);
  }
  const budgets = [...over, ...lasting.slice(Math.max(0, room))];
  if (budgets.length === 0) return { kept: lasting.length, forgotten: 0 };
  const isForgotten = await scripts.run(forgetBudgets, { bucket, budgets });
  const forgotten = isForgotten.filter(Boolean).length;
  return { kept: over.length + lasting.length - forgotten, forgotten };
}

/** True for a budget whose span is over, for one that counted nothing, and for a removed one. */
function isOver({ span }: LoggedEndUser, { startMs }: BudgetRecord, nowMs: number): boolean {
  if (span === null) return true;
  const end = startMs < 0 ? nowMs : spanEnd(span, startMs);
  return end !== null && end <= nowMs;
}

function spentIn({ spans }: LoggedEndUser, startMs: number): NanoUsd {
  return spans.get(startMs) ?? ZERO;
}

export interface RetentionOfBudgetsDeps {
  readonly database: Database;
  readonly now: () => number;
}

/** Deletes the rows of budget spans that ended long ago. Returns the number of rows. */
export async function deleteOldSpans({ database, now }: RetentionOfBudgetsDeps): Promise<number> {
  return await deleteSpans(database, new Date(now() - SPANS_KEPT_MS));
}

/** Deletes the rows of end users that no call named for 90 days. Returns how many. */
export async function deleteOldEndUsers({
  database,
  now,
}: RetentionOfBudgetsDeps): Promise<number> {
  return await deleteEndUsers(database, new Date(now() - ROWS_KEPT_MS));
}
