// Delivers settlements that Redis did not take, resolves holds without a live owner, and summarises
// refused requests of past minutes.

import type { AccountActors } from "../actors/account-actors.ts";
import {
  accountKeys,
  type BucketKeys,
  bucketKeys,
  holdsKey,
  MAIL_OWNER,
} from "../actors/records/keys.ts";
import { type HoldRecord, isEnded, parseHold } from "../actors/records/records.ts";
import { redisTime } from "../actors/redis/redis-clock.ts";
import { ENDED_AT_ONCE, forgetEnded, sweep } from "../actors/scripts/call-scripts.ts";
import { forgetOwner } from "../actors/scripts/lease-scripts.ts";
import type { ScriptTime } from "../actors/scripts/script.ts";
import type { ScriptRunner } from "../actors/scripts/script-runner.ts";
import { summarise } from "../actors/scripts/wallet-scripts.ts";
import { deliverStored } from "../actors/waiting-settlement.ts";
import { BUCKETS } from "../src/core/access/limits.ts";
import { ERRORS } from "../src/core/errors.ts";
import { NOTHING_COUNTED, outcomeText } from "../src/core/journal/journal.ts";
import { markerIn } from "../src/core/journal/marker.ts";
import type { WaitingSettlements } from "../src/store/ledger/waiting-settlements.ts";

export const HOLD_EXPIRED = "hold_expired";

/**
 * The outcome in the log of a call whose hold the sweep ended, mostly because its process died: the
 * real outcome is unknown.
 */
const HOLD_EXPIRED_OUTCOME = outcomeText({
  status: ERRORS.internal_error.status,
  errorCode: HOLD_EXPIRED,
  latencyMs: 0,
  ...NOTHING_COUNTED,
});

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

export interface SettlementDeps {
  readonly accounts: Pick<AccountActors, "of">;
  readonly waiting: WaitingSettlements;
}

/**
 * Delivers the stored settlements, and then sweeps: a hold without an owner is settled to the cost
 * that its call had, if Postgres has it, and else to its checkpoint (D-614). Without Postgres, or
 * if a settlement could not be delivered, it still sweeps; then it throws.
 */
export async function deliverAndSweep(deps: SettlementDeps & SweepDeps): Promise<void> {
  const [delivery] = await Promise.allSettled([deliverSettlements(deps)]);
  await sweepExpired(deps);
  if (delivery.status === "rejected") throw delivery.reason;
}

/**
 * Delivers every stored settlement and returns their number.
 * @throws Error if one of them could not be delivered; its row stays
 */
export async function deliverSettlements({ accounts, waiting }: SettlementDeps): Promise<number> {
  const { delivered, failures } = await waiting.deliver((settlement) =>
    deliverStored(accounts.of(settlement.accountId, settlement.bucket), settlement),
  );
  const [cause] = failures;
  if (cause === undefined) return delivered;
  throw new Error(`${failures.length} stored settlements could not be delivered`, { cause });
}

/** Holds are read in pages of this size; each is then resolved by its own script. */
const HOLDS_A_PAGE = 200;

/**
 * Sweeps every bucket once. Several processes may run this at the same time. If the server of a
 * bucket does not reply, or a hold cannot be settled, the others are still swept; then it throws.
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

/** The sweep of one bucket. */
interface BucketSweep extends SweepDeps {
  readonly keys: BucketKeys;
  /** The errors of holds that could not be settled; these holds stay as they are. */
  readonly failures: Error[];
}

async function sweepBucket(deps: SweepDeps, bucket: number): Promise<Swept> {
  const { scripts } = deps;
  const given = deps.scriptTime?.() ?? 0;
  const nowMs = await redisTime(scripts.redis, given);
  const keys = bucketKeys(bucket);
  const failures: Error[] = [];
  const run = { ...deps, keys, failures };
  const leases = Object.entries(await scripts.redis.hgetall(keys.leases));
  let expired = 0;
  for (const [owner, leaseMs] of leases) {
    if (Number(leaseMs) > nowMs) continue;
    expired += await sweepOwner(run, owner, () => true);
    await scripts.run(forgetOwner, { nowMs: given, keys, owner });
  }
  // In a hold that belongs to no process, the record has the deadline.
  const isDue = (hold: HoldRecord) => hold.deadlineMs <= nowMs;
  expired += await sweepOwner(run, MAIL_OWNER, isDue);
  const summaries = await scripts.run(summarise, { nowMs: given, keys });
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} holds of bucket ${bucket} stay`);
  }
  return { expired, summaries };
}

/** Resolves the due holds of one owner, page by page. Returns the number of settled holds. */
async function sweepOwner(run: BucketSweep, owner: string, isDue: IsDue): Promise<number> {
  const { redis } = run.scripts;
  const name = holdsKey(run.keys.number, owner);
  let [settled, cursor] = [0, "0"];
  do {
    const [next, flat] = await redis.hscanBuffer(name, cursor, "COUNT", HOLDS_A_PAGE);
    cursor = String(next);
    const found = holdsOf(flat);
    await removeEnded(run, owner, found);
    const verdicts = await Promise.all(
      found
        .filter(({ bytes }) => !isEnded(bytes))
        .map((hold) => sweepOne(run, { owner, ...hold }, isDue)),
    );
    settled += verdicts.filter(Boolean).length;
  } while (cursor !== "0");
  return settled;
}

/** Removes the records that settled calls have left. */
async function removeEnded(
  { scripts, keys }: BucketSweep,
  owner: string,
  found: readonly FoundHold[],
): Promise<void> {
  const ended = found.filter(({ bytes }) => isEnded(bytes)).map(({ requestId }) => requestId);
  // Redis may return more records at once than were requested.
  for (let start = 0; start < ended.length; start += ENDED_AT_ONCE) {
    const requestIds = ended.slice(start, start + ENDED_AT_ONCE);
    await scripts.run(forgetEnded, { keys, owner, requestIds, ownerMayReturn: true });
  }
}

type IsDue = (hold: HoldRecord) => boolean;

interface FoundHold {
  readonly requestId: string;
  readonly bytes: Buffer;
}

function holdsOf(flat: readonly Buffer[]): FoundHold[] {
  const holds: FoundHold[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const bytes = flat[at + 1];
    if (bytes !== undefined) holds.push({ requestId: String(flat[at]), bytes });
  }
  return holds;
}

/** Resolves a hold if it is due; returns true if it settled the hold. */
async function sweepOne(
  run: BucketSweep,
  { owner, requestId, bytes }: FoundHold & { readonly owner: string },
  isDue: IsDue,
): Promise<boolean> {
  try {
    const hold = parseHold(bytes);
    if (!isDue(hold)) return false;
    const verdict = await run.scripts.run(sweep, {
      nowMs: run.scriptTime?.() ?? 0,
      account: hold.account,
      keys: accountKeys(hold.account, run.keys.number),
      keyId: hold.key,
      requestId,
      owner,
      hasBudgets: hold.budgets.length > 0,
      marker: markerIn(hold.metadata),
      outcome: HOLD_EXPIRED_OUTCOME,
    });
    return verdict === "ok";
  } catch (cause) {
    // One record that cannot be read must not keep the holds of all other calls.
    run.failures.push(new Error(`The hold of ${requestId} could not be settled`, { cause }));
    return false;
  }
}
