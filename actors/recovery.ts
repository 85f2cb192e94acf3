// Makes Redis agree with Postgres, bucket by bucket. Runs for every Redis server that does not
// remember such a comparison: it was just started, promoted or replaced, and may be empty or older
// than Postgres. No call is served from that server before this returns.

import type { AccountDocument } from "../src/store/accounts/documents.ts";
import type { EpochInRedis, WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import type { BucketCursor } from "../src/store/ledger/journal-cursors.ts";
import { writtenUntil } from "./journal.ts";
import { type Lacking, lostInBucket } from "./lost-in-bucket.ts";
import { accountKeys, bucketKeys } from "./records/keys.ts";
import { UnknownLayout } from "./records/layouts.ts";
import { type BucketRecord, parseBucket } from "./records/records.ts";
import { type RedisClient, runUnloaded } from "./scripts/script.ts";
import { configure, recover } from "./scripts/wallet-scripts.ts";

interface BucketState {
  readonly epoch: number;
  /** The number of entries of the epoch that were ever written. */
  readonly written: number;
}

/**
 * The most pages, of a thousand entries each, that a comparison reads from a bucket's journal:
 * calls wait for the comparison.
 */
const PAGES_MAX = 4;

/**
 * A bucket to rebuild. With `epoch`, the bucket is rebuilt only while that epoch is in force: of
 * many processes that find a fault, one rebuilds.
 */
export interface ForcedRebuild {
  readonly bucket: number;
  readonly epoch?: number;
}

export interface RecoveryDeps {
  readonly redis: RedisClient;
  readonly repository: WalletRepository;
  readonly onRecovered: (buckets: readonly number[]) => void;
  /** Rebuilds these buckets, and no others, whatever their numbers are. */
  readonly force?: readonly ForcedRebuild[];
}

/**
 * Puts every bucket that is missing, older than its cursor, or of another epoch under a new epoch;
 * its wallets are then rebuilt from Postgres. A bucket that agrees stays, and gets the access
 * documents that it may have lost. A bucket of an epoch that Postgres lost stays too, unless its
 * whole journal is short and shows that nothing else was lost: the flush reads longer journals
 * (D-297). Throws when Redis or Postgres does not reply.
 */
export async function verifyBuckets(deps: RecoveryDeps): Promise<void> {
  const { redis, repository } = deps;
  let recovered: readonly number[] = [];
  // A newer release serves these buckets; this one refuses them when they are used.
  const unknown = new Set<number>();
  await repository.recovery({
    async rebuild(cursors, newEpochs) {
      // Read after the cursors: a bucket's entry number only grows, so a lower one means an older
      // Redis.
      const states = await Promise.all(cursors.map((cursor) => readState(redis, cursor.bucket)));
      const lost: EpochInRedis[] = [];
      for (const [index, cursor] of cursors.entries()) {
        const state = states[index] ?? null;
        if (state === "unknown layout") unknown.add(cursor.bucket);
        if (state === "unknown layout") continue;
        const isDue = deps.force?.some((one) => isForced(one, cursor)) ?? !agrees(state, cursor);
        if (!isDue) continue;
        const inRedis = { bucket: cursor.bucket, epoch: state?.epoch ?? 0 };
        const isLater = inRedis.epoch > cursor.epoch;
        if (isLater && deps.force === undefined && (await isWitness(deps, inRedis))) continue;
        lost.push(inRedis);
      }
      const raised = await newEpochs(lost);
      await Promise.all(raised.map((cursor) => setUp(redis, cursor)));
      recovered = raised.map(({ bucket }) => bucket);
      return recovered;
    },
    // A key that was revoked must not work again because Redis forgot it.
    async writeDocuments(documents) {
      const known = documents.filter(({ bucket }) => !unknown.has(bucket));
      await Promise.all(known.map((document) => give(redis, document)));
    },
  });
  if (recovered.length > 0) deps.onRecovered(recovered);
}

/** True if the journal of this epoch, which a rebuild deletes, may have entries Postgres lacks. */
async function isWitness(
  { redis, repository }: RecoveryDeps,
  inRedis: EpochInRedis,
): Promise<boolean> {
  const lacking: Lacking = (entries) => repository.lacking(entries);
  const reading = { ...inRedis, pagesMax: PAGES_MAX };
  const { operations, first, isReadToEnd } = await lostInBucket(redis, lacking, reading);
  return operations.length > 0 || first > 0 || !isReadToEnd;
}

function isForced(forced: ForcedRebuild, { bucket, epoch }: BucketCursor): boolean {
  return forced.bucket === bucket && (forced.epoch ?? epoch) === epoch;
}

function agrees(state: BucketState | null, cursor: BucketCursor): boolean {
  return state !== null && state.epoch === cursor.epoch && state.written >= cursor.entry;
}

async function readState(
  redis: RedisClient,
  bucket: number,
): Promise<BucketState | "unknown layout" | null> {
  const keys = bucketKeys(bucket);
  // Read the record first: the number of entries in its epoch can only grow meanwhile.
  const bytes = await redis.getBuffer(keys.bucket);
  if (bytes === null) return null;
  const record = knownBucket(bytes);
  if (record === null) return "unknown layout";
  const [newest] = await redis.xrevrange(keys.events, "+", "-", "COUNT", 1);
  return { epoch: record.epoch, written: writtenUntil(newest?.[0], record) };
}

/** Null if this release does not know the record's layout. */
function knownBucket(bytes: Buffer): BucketRecord | null {
  try {
    return parseBucket(bytes);
  } catch (error) {
    if (error instanceof UnknownLayout) return null;
    throw error;
  }
}

async function setUp(redis: RedisClient, { bucket, epoch }: BucketCursor): Promise<void> {
  await runUnloaded(redis, recover, { keys: bucketKeys(bucket), epoch });
}

async function give(redis: RedisClient, lost: AccountDocument): Promise<void> {
  const { accountId, bucket, version, document } = lost;
  const keys = accountKeys(accountId, bucket);
  await runUnloaded(redis, configure, { account: accountId, keys, version, document });
}
