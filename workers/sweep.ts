// Resolves the holds whose owner is gone, and sums up refused requests of ended minutes.

import type { Outcome } from "../actors/account.ts";
import { type DueLease, dueLeases, timeOf } from "../actors/due-leases.ts";
import { accountKeys, bucketKeys } from "../actors/keys.ts";
import type { ScriptRunner, ScriptTime } from "../actors/script.ts";
import { summarise, sweep } from "../actors/wallet-scripts.ts";
import { ERRORS } from "../src/core/errors.ts";
import { NOTHING_COUNTED } from "../src/core/journal.ts";
import { BUCKETS } from "../src/core/limits.ts";

export interface SweepDeps {
  readonly scripts: ScriptRunner;
  /** Only tests give a time. */
  readonly scriptTime?: () => ScriptTime;
}

export interface Swept {
  /** Holds settled to their last checkpoint. */
  readonly expired: number;
  /** Summary rows written to the journal. */
  readonly summaries: number;
}

/** How the log shows a call whose owner died: nobody knows how it ended. */
export const HOLD_EXPIRED = "hold_expired";

const LEASES_A_PAGE = 200;

const OUTCOME: Outcome = {
  status: ERRORS.internal_error.status,
  errorCode: HOLD_EXPIRED,
  latencyMs: 0,
  ...NOTHING_COUNTED,
};

/**
 * Sweeps every bucket once. Safe to run from several processes at the same time. Where a bucket's
 * server does not answer the others are swept all the same, and then it throws.
 */
export async function sweepExpired(deps: SweepDeps): Promise<Swept> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  const results = await Promise.allSettled(buckets.map((bucket) => sweepBucket(deps, bucket)));
  const failures = results.filter((result) => result.status === "rejected");
  if (failures.length > 0) {
    const reasons = failures.map(({ reason }) => reason);
    throw new AggregateError(reasons, `${failures.length} buckets could not be swept`);
  }
  const swept = results.filter((result) => result.status === "fulfilled");
  return {
    expired: swept.reduce((sum, { value }) => sum + value.expired, 0),
    summaries: swept.reduce((sum, { value }) => sum + value.summaries, 0),
  };
}

async function sweepBucket(deps: SweepDeps, bucket: number): Promise<Swept> {
  const { scripts } = deps;
  const given = deps.scriptTime?.() ?? "";
  const nowMs = await timeOf(scripts.redis, given);
  let expired = 0;
  for (;;) {
    const due = await dueLeases(scripts.redis, bucket, nowMs, LEASES_A_PAGE);
    const verdicts = await Promise.all(due.map((lease) => sweepOne(deps, bucket, lease)));
    expired += verdicts.filter((verdict) => verdict === "ok").length;
    // A page of leases that all live on another server's clock would come back for ever.
    const stuck = verdicts.every((verdict) => verdict === "alive");
    if (due.length < LEASES_A_PAGE || stuck) break;
  }
  const keys = bucketKeys(bucket);
  return { expired, summaries: await scripts.run(summarise, { nowMs: given, keys }) };
}

function sweepOne(deps: SweepDeps, bucket: number, { account, request }: DueLease) {
  return deps.scripts.run(sweep, {
    nowMs: deps.scriptTime?.() ?? "",
    account,
    keys: accountKeys(account, bucket),
    requestId: request,
    outcome: JSON.stringify(OUTCOME),
  });
}
