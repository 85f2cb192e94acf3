// Runs the audits that operators asked for in their console, one after the other.

import type { RedisClient } from "../actors/scripts/script.ts";
import type { ScriptRunner } from "../actors/scripts/script-runner.ts";
import { audit, type JournalConflict } from "../src/accounts/audit.ts";
import { auditJson } from "../src/accounts/audit-json.ts";
import type { Log } from "../src/core/log.ts";
import { messageOf } from "../src/core/text/error-message.ts";
import { AuditRepository } from "../src/store/audit/audit.ts";
import { AuditRuns, type ClaimedAudit } from "../src/store/audit/audit-runs.ts";
import { Ledger } from "../src/store/ledger/ledger.ts";
import type { Database } from "../src/store/servers/database.ts";
import { flushForAudit } from "./log-flush.ts";
import type { ScheduledJob } from "./scheduled-job.ts";

export interface AuditRunDeps {
  readonly runs: AuditRuns;
  readonly redis: RedisClient;
  /** Moves waiting journal entries to the ledger; returns the buckets for which that failed. */
  readonly flush: () => Promise<readonly JournalConflict[]>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
  readonly log: Pick<Log, "info" | "warn">;
}

/** An operation that is not applied to Redis within this time is a finding. */
const OPERATION_GRACE_MS = 30_000;
const PROGRESS_MS = 1_000;
const LOOK_MS = 3_000;

interface AuditJobParts extends Pick<AuditRunDeps, "sleep" | "now" | "log"> {
  readonly database: Database;
  readonly scripts: Pick<ScriptRunner, "redis" | "prepare">;
}

/** The job that looks for audits that were asked for. */
export function auditJob({ database, scripts, ...parts }: AuditJobParts): ScheduledJob {
  const ledger = new Ledger(database);
  const flush = () => flushForAudit(scripts, ledger);
  const deps = { ...parts, runs: new AuditRuns(database), redis: scripts.redis, flush };
  return { everyMs: LOOK_MS, run: () => runAudits(deps) };
}

/** Runs every audit that waits. Returns how many ran. */
export async function runAudits(deps: AuditRunDeps): Promise<number> {
  for (let count = 0; ; count += 1) {
    const claimed = await deps.runs.claim();
    if (claimed === null) return count;
    await runOne(deps, claimed);
  }
}

async function runOne(deps: AuditRunDeps, { number, account }: ClaimedAudit): Promise<void> {
  const { runs, redis, flush, sleep, now, log } = deps;
  const total = account === null ? await runs.countAccounts() : 1;
  let toldMs = now();
  await runs.progress(number, 0, total);
  try {
    const report = await audit(
      {
        redis,
        flush,
        sleep,
        graceMs: OPERATION_GRACE_MS,
        repository: new AuditRepository(runs.database),
        onProven: async (done) => {
          if (now() < toldMs + PROGRESS_MS) return;
          toldMs = now();
          await runs.progress(number, done, total);
        },
      },
      account,
    );
    await runs.progress(number, report.accounts, total);
    await runs.end(number, { report: auditJson(report) }, new Date(now()));
    log.info({ audit: number, accounts: report.accounts }, "An audit has ended");
  } catch (error) {
    log.warn({ audit: number, err: error }, "An audit could not be finished");
    const failure = error instanceof Error ? messageOf(error) : String(error);
    await runs.end(number, { failure }, new Date(now()));
  }
}
