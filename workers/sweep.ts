// Resolves holds without a live owner, and summarises refused requests of past minutes.

import { forgetOwner, sweep } from "../actors/call-scripts.ts";
import { HOLD_EXPIRED_OUTCOME } from "../actors/hold-expired.ts";
import { accountKeys, type BucketKeys, bucketKeys, holdsKey, MAIL_OWNER } from "../actors/keys.ts";
import { type HoldRecord, parseHold } from "../actors/records.ts";
import { timeOf } from "../actors/redis-clock.ts";
import type { ScriptTime } from "../actors/script.ts";
import type { ScriptRunner } from "../actors/script-runner.ts";
import { summarise } from "../actors/wallet-scripts.ts";
import { BUCKETS } from "../src/core/limits.ts";

export interface SweepDeps {
  readonly scripts: ScriptRunner;
  /** Only tests set a time. */
  readonly scriptTime?: () => ScriptTime;
}

export interface Swept {
  /** Holds settled to their last checkpoint. */
  readonly expired: number;
  /** Summary rows written to the journal. */
  readonly summaries: number;
}

/** Holds are read in pages of this size; each is then resolved by its own script. */
const HOLDS_A_PAGE = 200;

/**
 * Sweeps every bucket once. Several processes may run this at the same time. If the server of a
 * bucket does not reply, the others are still swept; then it throws.
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
  const given = deps.scriptTime?.() ?? 0;
  const nowMs = await timeOf(scripts.redis, given);
  const keys = bucketKeys(bucket);
  const leases = Object.entries(await scripts.redis.hgetall(keys.leases));
  let expired = 0;
  for (const [owner, leaseMs] of leases) {
    if (Number(leaseMs) > nowMs) continue;
    expired += await sweepOwner(deps, keys, owner, () => true);
    await scripts.run(forgetOwner, { nowMs: given, keys, owner });
  }
  // In a hold that belongs to no process, the record has the deadline.
  const isDue = (hold: HoldRecord) => hold.deadlineMs <= nowMs;
  expired += await sweepOwner(deps, keys, MAIL_OWNER, isDue);
  return { expired, summaries: await scripts.run(summarise, { nowMs: given, keys }) };
}

/** Resolves the holds of one owner that are due, page by page. Returns how many it settled. */
async function sweepOwner(
  deps: SweepDeps,
  keys: BucketKeys,
  owner: string,
  isDue: (hold: HoldRecord) => boolean,
): Promise<number> {
  const { redis } = deps.scripts;
  let [settled, cursor] = [0, "0"];
  do {
    const page = await redis.hscanBuffer(
      holdsKey(keys.number, owner),
      cursor,
      "COUNT",
      HOLDS_A_PAGE,
    );
    cursor = String(page[0]);
    const holds = holdsOf(page[1]).filter(({ hold }) => isDue(hold));
    const verdicts = await Promise.all(
      holds.map(({ requestId, hold }) => sweepOne(deps, keys, { owner, requestId, hold })),
    );
    settled += verdicts.filter((verdict) => verdict === "ok").length;
  } while (cursor !== "0");
  return settled;
}

interface FoundHold {
  readonly requestId: string;
  readonly hold: HoldRecord;
}

function holdsOf(flat: readonly Buffer[]): FoundHold[] {
  const holds: FoundHold[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const record = flat[at + 1];
    if (record !== undefined) holds.push({ requestId: String(flat[at]), hold: parseHold(record) });
  }
  return holds;
}

function sweepOne(
  deps: SweepDeps,
  keys: BucketKeys,
  { owner, requestId, hold }: FoundHold & { readonly owner: string },
) {
  return deps.scripts.run(sweep, {
    nowMs: deps.scriptTime?.() ?? 0,
    account: hold.account,
    keys: accountKeys(hold.account, keys.number),
    keyId: hold.key,
    requestId,
    owner,
    outcome: HOLD_EXPIRED_OUTCOME,
  });
}
