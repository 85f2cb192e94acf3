// Makes Redis agree with Postgres, bucket by bucket. Runs whenever a Redis server is met that does
// not remember it: it was just started, promoted or replaced, and may be older than Postgres, or
// empty. Nothing is served from it before this returns.

import type { AccountDocument } from "../src/store/documents.ts";
import type { Cursor, WalletRepository } from "../src/store/wallet-repository.ts";
import { writtenUntil } from "./journal.ts";
import { accountKeys, bucketKeys } from "./keys.ts";
import { UnknownLayout } from "./layouts.ts";
import { type BucketRecord, parseBucket } from "./records.ts";
import { type RedisClient, runUnloaded } from "./script.ts";
import { configure, recover } from "./wallet-scripts.ts";

interface BucketState {
  readonly epoch: number;
  /** How many entries of the epoch were ever written. */
  readonly written: number;
}

export interface RecoveryDeps {
  readonly redis: RedisClient;
  readonly repository: WalletRepository;
  readonly onRecovered: (buckets: readonly number[]) => void;
  /**
   * A bucket that is rebuilt although its numbers agree: its journal contradicts the ledger. With
   * an
   * epoch only if that is still in force, so that of many who find this out one rebuilds it.
   */
  readonly force?: { readonly bucket: number; readonly epoch?: number };
}

/**
 * Puts every bucket that is missing, older than its cursor, or of another epoch under a new epoch,
 * so that its wallets are built anew from Postgres. A bucket that agrees is left as it is, but for
 * access documents that it may have lost. Throws when Redis or Postgres does not answer.
 */
export async function verifyBuckets(deps: RecoveryDeps): Promise<void> {
  const { redis, repository } = deps;
  let recovered: readonly number[] = [];
  // A newer release serves from these; this one refuses them when they are used.
  const unknown = new Set<number>();
  await repository.recovery({
    async rebuild(cursors, newEpoch) {
      // The cursors were read first: a bucket's entry number only grows, so one that is lower is
      // older.
      const states = await Promise.all(cursors.map((cursor) => readState(redis, cursor.bucket)));
      const raised: Cursor[] = [];
      for (const [index, cursor] of cursors.entries()) {
        const state = states[index] ?? null;
        if (state === "unknown layout") unknown.add(cursor.bucket);
        if (state === "unknown layout") continue;
        if (agrees(state, cursor) && !isForced(deps, cursor)) continue;
        raised.push(await newEpoch(cursor.bucket, state?.epoch ?? 0));
      }
      await Promise.all(raised.map((cursor) => setUp(redis, cursor)));
      recovered = raised.map(({ bucket }) => bucket);
      return recovered;
    },
    // A key that was revoked must not work again because Redis forgot it.
    async giveDocuments(documents) {
      const known = documents.filter(({ bucket }) => !unknown.has(bucket));
      await Promise.all(known.map((document) => give(redis, document)));
    },
  });
  if (recovered.length > 0) deps.onRecovered(recovered);
}

function isForced({ force }: RecoveryDeps, { bucket, epoch }: Cursor): boolean {
  return force?.bucket === bucket && (force.epoch ?? epoch) === epoch;
}

function agrees(state: BucketState | null, cursor: Cursor): boolean {
  return state !== null && state.epoch === cursor.epoch && state.written >= cursor.entry;
}

async function readState(
  redis: RedisClient,
  bucket: number,
): Promise<BucketState | "unknown layout" | null> {
  const keys = bucketKeys(bucket);
  // The record first: entries of its epoch only become more meanwhile.
  const bytes = await redis.getBuffer(keys.bucket);
  if (bytes === null) return null;
  const record = knownBucket(bytes);
  if (record === null) return "unknown layout";
  const [newest] = await redis.xrevrange(keys.events, "+", "-", "COUNT", 1);
  return { epoch: record.epoch, written: writtenUntil(newest?.[0], record) };
}

/** Null for a record of a layout that this release does not know. */
function knownBucket(bytes: Buffer): BucketRecord | null {
  try {
    return parseBucket(bytes);
  } catch (error) {
    if (error instanceof UnknownLayout) return null;
    throw error;
  }
}

async function setUp(redis: RedisClient, { bucket, epoch }: Cursor): Promise<void> {
  await runUnloaded(redis, recover, { keys: bucketKeys(bucket), epoch });
}

async function give(redis: RedisClient, lost: AccountDocument): Promise<void> {
  const { accountId, bucket, version, document } = lost;
  const keys = accountKeys(accountId, bucket);
  await runUnloaded(redis, configure, { account: accountId, keys, version, document });
}
