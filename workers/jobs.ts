// The jobs of a worker: those that each runs on its own timers, and those that the queue gives to
// one of the workers.

import type { Registry } from "prom-client";
import type { AccountActors } from "../actors/account-actors.ts";
import type { ForcedRebuild } from "../actors/recovery.ts";
import type { Clock } from "../src/core/clock.ts";
import type { Log } from "../src/core/log.ts";
import type { ServerConfig } from "../src/settings/config.ts";
import { PendingWork } from "../src/store/accounts/pending-work.ts";
import { Ledger } from "../src/store/ledger/ledger.ts";
import { RejectedEntries } from "../src/store/ledger/rejected-entries.ts";
import { WaitingSettlements } from "../src/store/ledger/waiting-settlements.ts";
import { ContentKeys } from "../src/store/mail/content-keys.ts";
import { IdempotencyKeys } from "../src/store/mail/idempotency-keys.ts";
import { PeopleStore } from "../src/store/people/people.ts";
import type { Database } from "../src/store/servers/database.ts";
import { LogUpkeep } from "../src/store/usage/log-upkeep.ts";
import { rewriteAppendOnlyFiles } from "./append-only-rewrite.ts";
import { auditJob } from "./audit-runs.ts";
import { completeChanges } from "./completer.ts";
import { deleteEndedSessions } from "./ended-sessions.ts";
import {
  deleteOldEndUsers,
  deleteOldRuns,
  deleteOldSpans,
  evictIdle,
  forgetEndedRuns,
  forgetEndUsers,
} from "./eviction.ts";
import { expireIpHashes } from "./ip-hash-expiry.ts";
import { JournalLag } from "./journal-lag.ts";
import { type JournalMetrics, journalMetrics } from "./journal-metrics.ts";
import { watchLocks } from "./lock-watch.ts";
import { flushJournal } from "./log-flush.ts";
import { keepLogMonths, type RetentionDeps } from "./log-retention.ts";
import { expireIdempotencyKeys } from "./mail-completer.ts";
import { makePartitions } from "./partitions.ts";
import { revokePlaygroundKeys } from "./playground-keys.ts";
import type { ScheduledJob } from "./scheduled-job.ts";
import { deliverAndSweep } from "./sweep.ts";

/** For this long, a change is left to the process that is making it. */
const GRACE_MS = 5_000;

export interface JobParts {
  readonly config: ServerConfig;
  readonly log: Log;
  readonly accounts: AccountActors;
  readonly database: Database;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly after: Clock["after"];
}

/** Jobs that BullMQ ran in earlier releases. */
export const ON_TIMERS = ["log-flush", "sweep", "mail-holds"] as const;

/** The jobs that every worker runs on its own timers. */
export function timedJobs({ metrics, ...parts }: JobParts & { readonly metrics: JournalMetrics }) {
  const flush = { ...flushDeps(parts), ...metrics };
  const { accounts, database } = parts;
  const { scripts } = accounts;
  const waiting = new WaitingSettlements(database);
  return {
    "log-flush": { everyMs: 500, run: () => watchLocks(parts, () => flushJournal(flush)) },
    sweep: { everyMs: 5_000, run: () => deliverAndSweep({ accounts, scripts, waiting }) },
  } satisfies Readonly<Partial<Record<(typeof ON_TIMERS)[number], ScheduledJob>>>;
}

/** Measures the journal for the metrics. */
export function measureJournal(
  { log, accounts, database, after }: JobParts,
  registry: Registry,
): JournalMetrics {
  const { scripts, clock } = accounts;
  const lag = new JournalLag({
    redis: scripts.redis,
    ledger: new Ledger(database),
    now: () => clock.now(),
    after,
  });
  const rejected = new RejectedEntries(database);
  return journalMetrics({
    registry,
    lag: () => lag.measure(),
    openRejections: () => rejected.countOpen(),
    log,
  });
}

/** The dependencies of the workers' flush. */
function flushDeps({ config, log, accounts, database }: FlushParts) {
  return {
    scripts: accounts.scripts,
    ledger: new Ledger(database),
    log,
    keepMs: config.journalKeepMs,
    rebuild: (buckets: readonly ForcedRebuild[]) => accounts.rebuild(buckets),
  };
}

type FlushParts = Pick<JobParts, "config" | "log" | "accounts" | "database">;

/** Moves the journal; returns the number of buckets whose journal contradicts the ledger. */
async function flushOnce(parts: FlushParts): Promise<number> {
  let conflicts = 0;
  await flushJournal({
    ...flushDeps(parts),
    onFork: () => {
      conflicts += 1;
    },
  });
  return conflicts;
}

/** The jobs that the queue gives to one of the workers. */
export function queueJobs({ config, log, accounts, database, ...time }: JobParts) {
  const { scripts } = accounts;
  const pendingWork = new PendingWork(database);
  const upkeep = new LogUpkeep(database);
  const now = () => accounts.clock.now();
  const readNow = () => pendingWork.nowMs();
  const readEarliest = () => pendingWork.earliest(now);
  const retention: Omit<RetentionDeps, "now"> = {
    upkeep,
    rejected: new RejectedEntries(database),
    redis: scripts.redis,
    keepMonths: config.logKeepMonths,
    flush: () => flushOnce({ config, log, accounts, database }),
  };
  return {
    completer: {
      everyMs: 10_000,
      run: () => completeChanges({ accounts, pendingWork, now: readNow, log, graceMs: GRACE_MS }),
    },
    "wallet-eviction": {
      everyMs: 600_000,
      run: () => evictIdle({ accounts, redis: scripts.redis, idleMs: config.walletIdleMs, log }),
    },
    "ended-runs": {
      everyMs: 60_000,
      run: async () => forgetEndedRuns({ database, scripts, now: await readEarliest(), log }),
    },
    "end-users": {
      everyMs: 600_000,
      run: async () => {
        const deps = { database, redis: scripts.redis, scripts, sleep: Bun.sleep, log };
        await forgetEndUsers({ ...deps, now: await readEarliest() });
      },
    },
    "end-user-retention": {
      everyMs: 3_600_000,
      run: async () => await deleteOldEndUsers({ database, now: await readEarliest() }),
    },
    "span-retention": {
      everyMs: 3_600_000,
      run: async () => await deleteOldSpans({ database, now: await readEarliest() }),
    },
    "run-retention": {
      everyMs: 3_600_000,
      run: async () => {
        const { runKeepDays: keepDays } = config;
        await deleteOldRuns({ database, keepDays, now: await readEarliest() });
      },
    },
    "playground-keys": {
      everyMs: 30_000,
      run: () => revokePlaygroundKeys({ database, accounts, now: readNow, log }),
    },
    "ip-hash-expiry": {
      everyMs: 3_600_000,
      run: async () => expireIpHashes({ upkeep, now: await readEarliest() }),
    },
    "ended-sessions": {
      everyMs: 3_600_000,
      run: async () => {
        const people = new PeopleStore(database);
        await deleteEndedSessions({ people, now: await readEarliest() });
      },
    },
    "mail-repeats-expiry": {
      everyMs: 3_600_000,
      run: () => expireIdempotencyKeys(new IdempotencyKeys(database)),
    },
    "append-only-rewrite": {
      everyMs: 600_000,
      run: () => {
        const { redis } = scripts;
        return rewriteAppendOnlyFiles({ redis, keys: new ContentKeys(redis), log });
      },
    },
    "log-retention": {
      everyMs: 3_600_000,
      run: async () => {
        const months = await keepLogMonths({ ...retention, now: await readEarliest() });
        if (months.length > 0) log.info({ months }, "Months of the request log were dropped");
      },
    },
    "request-log-partitions": {
      everyMs: 3_600_000,
      run: () => makePartitions({ upkeep, now }),
    },
    audits: auditJob({ database, scripts, log, now: time.now, sleep: time.sleep }),
  } satisfies Readonly<Record<string, ScheduledJob>>;
}
