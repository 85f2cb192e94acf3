// Makes Redis agree with Postgres, bucket by bucket. Runs for every Redis server that does not
// remember such a comparison: it was just started, promoted or replaced, and may be empty or older
// than Postgres. No call is served from that server before this returns.

import type { AccountDocument } from "../src/store/documents.ts";
import type { AppliedOperation } from "../src/store/lost-operations.ts";
import type { Cursor, EpochInRedis, WalletRepository } from "../src/store/wallet-repository.ts";
import { writtenUntil } from "./journal.ts";
import { accountKeys, bucketKeys } from "./keys.ts";
import { UnknownLayout } from "./layouts.ts";
import { type Lacking, lostInBucket } from "./lost-in-bucket.ts";
import { type BucketRecord, parseBucket } from "./records.ts";
import { type RedisClient, runUnloaded } from "./script.ts";
import { configure, recover } from "./wallet-scripts.ts";

interface BucketState {
  readonly epoch: number;
  /** How many entries of the epoch were ever written. */
  readonly written: number;
}

/** The operations that were found, and whether there can be no others. */
export interface ToldOfLost {
  readonly operations: readonly AppliedOperation[];
  readonly isWhole: boolean;
  readonly err?: unknown;
}

/** So many thousands of entries of a bucket are looked through before it is rebuilt. */
const PAGES_TOLD_OF = 4;

export interface RecoveryDeps {
  readonly redis: RedisClient;
  readonly repository: WalletRepository;
  readonly onRecovered: (buckets: readonly number[]) => void;
  /**
   * Told of what Postgres lost together with the epoch of a bucket, which is rebuilt without it: a
   * Redis that was restarted cannot wait for a person.
   */
  readonly onLost: (bucket: number, lost: ToldOfLost) => void;
  /**
   * Rebuilds this bucket although its numbers agree, because its journal contradicts the ledger. If
   * `epoch` is set, only while it is in force: of many processes that find the fault, one rebuilds.
   */
  readonly force?: { readonly bucket: number; readonly epoch?: number };
}

/**
 * Puts every bucket that is missing, older than its cursor, or of another epoch under a new epoch;
 * its wallets are then rebuilt from Postgres. A bucket that agrees stays as it is, except for
 * access documents that it may have lost. Throws when Redis or Postgres does not reply.
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
        // Others may have to wait for a person (D-492).
        const isDue = deps.force === undefined ? !agrees(state, cursor) : isForced(deps, cursor);
        if (!isDue) continue;
        const inRedis = { bucket: cursor.bucket, epoch: state?.epoch ?? 0 };
        if (inRedis.epoch > cursor.epoch) await tellOfLost(deps, inRedis);
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

/** Before the rebuild, which deletes the journal; it must neither take long nor be in the way. */
async function tellOfLost(
  { redis, repository, onLost }: RecoveryDeps,
  inRedis: EpochInRedis,
): Promise<void> {
  const lacking: Lacking = (entries) => repository.lacking(entries);
  const reading = { ...inRedis, pagesMax: PAGES_TOLD_OF };
  try {
    const { operations, first, isReadToEnd } = await lostInBucket(redis, lacking, reading);
    const isWhole = first === 0 && isReadToEnd;
    if (operations.length > 0 || !isWhole) onLost(inRedis.bucket, { operations, isWhole });
  } catch (err) {
    onLost(inRedis.bucket, { operations: [], isWhole: false, err });
  }
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

async function setUp(redis: RedisClient, { bucket, epoch }: Cursor): Promise<void> {
  await runUnloaded(redis, recover, { keys: bucketKeys(bucket), epoch });
}

async function give(redis: RedisClient, lost: AccountDocument): Promise<void> {
  const { accountId, bucket, version, document } = lost;
  const keys = accountKeys(accountId, bucket);
  await runUnloaded(redis, configure, { account: accountId, keys, version, document });
}
