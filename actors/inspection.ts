// Reads what Redis holds, for an audit. Nothing here changes anything or builds a wallet.

import type { JournalEntry } from "../src/core/journal.ts";
import { BUCKETS } from "../src/core/limits.ts";
import { parseEntry } from "./journal.ts";
import { accountKeys, bucketKeys } from "./keys.ts";
import inspectLua from "./lua/inspect.lua" with { type: "text" };
import preludeLua from "./lua/prelude.lua" with { type: "text" };
import type { RedisClient, ScriptTime } from "./script.ts";

export interface OpenHoldFacts {
  readonly request: string;
  readonly leaseMs: number | null;
  /** Null when the record cannot be read. */
  readonly terms: {
    readonly paid: bigint;
    readonly free: bigint;
    readonly month: number;
    readonly stream: number;
    readonly checkpoint: bigint;
    readonly key: string;
  } | null;
}

export interface AccountInspection {
  readonly nowMs: number;
  /** Null when the bucket is not set up. */
  readonly epoch: number | null;
  /** The number of the newest journal entry. */
  readonly entry: number;
  /** The fields of the wallet, of whatever epoch; null when there is none. */
  readonly wallet: ReadonlyMap<string, string> | null;
  readonly holds: readonly OpenHoldFacts[];
  /** The journal behind the cursor. */
  readonly tail: readonly JournalEntry[];
}

export interface BucketInspection {
  readonly bucket: number;
  readonly epoch: number | null;
  readonly entry: number | null;
  readonly journalLength: number;
}

/** A lease whose hold is not there, or one that ran out long ago. */
export interface BadLease {
  readonly account: string;
  readonly request: string;
  readonly leaseMs: number;
  readonly held: boolean;
}

type Nested = readonly (string | Nested)[];

const SOURCE = preludeLua + inspectLua;
const LEASES_AT_ONCE = 500;

/** Everything of an account at one instant, with the journal entries behind `afterId`. */
export async function inspectAccount(
  redis: RedisClient,
  place: { readonly id: string; readonly bucket: number },
  after: { readonly streamId: string; readonly count: number; readonly now: ScriptTime },
): Promise<AccountInspection> {
  const keys = accountKeys(place.id, place.bucket);
  const names = [keys.meta, keys.wallet, keys.holds, keys.leases, keys.journal];
  const args = [after.now, place.id, after.streamId, after.count];
  // By its source: an audit must not depend on, or set off, the comparison that loading brings.
  const reply = (await redis.eval(SOURCE, names.length, ...names, ...args)) as Nested;
  const [nowMs, meta, wallet, holds, tail] = reply;
  const facts = pairs(meta as readonly string[]);
  const fields = pairs(wallet as readonly string[]);
  return {
    nowMs: Number(nowMs),
    epoch: numberOr(facts.get("epoch"), null),
    entry: numberOr(facts.get("entry"), 0),
    wallet: fields.size === 0 ? null : fields,
    holds: (holds as readonly (readonly string[])[]).map(parseHold),
    tail: (tail as unknown as readonly [string, readonly string[]][]).map(([id, entry]) =>
      parseEntry(id, entry),
    ),
  };
}

/** How every bucket stands. Read the cursors first: an entry number only grows. */
export async function inspectBuckets(redis: RedisClient): Promise<BucketInspection[]> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  return await Promise.all(
    buckets.map(async (bucket) => {
      const keys = bucketKeys(bucket);
      const [meta, journalLength] = await Promise.all([
        redis.hmget(keys.meta, "epoch", "entry"),
        redis.xlen(keys.journal),
      ]);
      return {
        bucket,
        epoch: numberOr(meta[0] ?? undefined, null),
        entry: numberOr(meta[1] ?? undefined, null),
        journalLength,
      };
    }),
  );
}

/** The first lease of a bucket without a hold, or one that ran out before `overdueMs`. */
export async function findBadLease(
  redis: RedisClient,
  bucket: number,
  overdueMs: number,
): Promise<BadLease | null> {
  const { leases } = bucketKeys(bucket);
  const flat = await redis.zrange(leases, "0", "-1", "WITHSCORES");
  const members = [...pairs(flat).keys()];
  for (let start = 0; start < members.length; start += LEASES_AT_ONCE) {
    const some = members.slice(start, start + LEASES_AT_ONCE);
    const found = await Promise.all(some.map((member) => readLease(redis, bucket, member)));
    const bad = found.find((lease) => lease !== null && (!lease.held || lease.leaseMs < overdueMs));
    if (bad) return bad;
  }
  return null;
}

/** Lease and hold of one call at one instant; null when the lease is gone meanwhile. */
async function readLease(
  redis: RedisClient,
  bucket: number,
  member: string,
): Promise<BadLease | null> {
  const slash = member.lastIndexOf("/");
  const [account, request] = [member.slice(0, slash), member.slice(slash + 1)];
  const keys = accountKeys(account, bucket);
  const replies = await redis
    .multi()
    .zscore(keys.leases, member)
    .hexists(keys.holds, request)
    .exec();
  const [lease, hold] = replies ?? [];
  const error = lease?.[0] ?? hold?.[0];
  if (error) throw error;
  const score = lease?.[1];
  if (score === null || score === undefined) return null;
  return { account, request, leaseMs: Number(score), held: Number(hold?.[1]) === 1 };
}

function parseHold(read: readonly string[]): OpenHoldFacts {
  const [request = "", lease, paid, free, month, stream, checkpoint, key] = read;
  const leaseMs = lease ? Number(lease) : null;
  if (paid === undefined || free === undefined || checkpoint === undefined) {
    return { request, leaseMs, terms: null };
  }
  const terms = {
    paid: BigInt(paid),
    free: BigInt(free),
    month: Number(month),
    stream: Number(stream),
    checkpoint: BigInt(checkpoint),
    key: key ?? "",
  };
  return { request, leaseMs, terms };
}

function pairs(flat: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (let index = 0; index < flat.length; index += 2) {
    map.set(flat[index] ?? "", flat[index + 1] ?? "");
  }
  return map;
}

function numberOr<T>(text: string | undefined, otherwise: T): number | T {
  return text === undefined ? otherwise : Number(text);
}
