// Makes Redis agree with Postgres, bucket by bucket. Runs whenever a Redis server is met
// that does not know our scripts: it was just started, promoted or replaced, and may be older than
// Postgres, or empty. Nothing is served from it before this returns.

import type { AccountDocument } from "../src/store/documents.ts";
import type { Cursor, WalletRepository } from "../src/store/wallet-repository.ts";
import { accountKeys, bucketKeys } from "./keys.ts";
import { type RedisClient, runUnloaded } from "./script.ts";
import { configure, recover } from "./wallet-scripts.ts";

interface BucketState {
  readonly epoch: number;
  readonly entry: number;
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
  await repository.recovery({
    async rebuild(cursors, newEpoch) {
      // The cursors were read first: a bucket's entry number only grows, so one that is lower is
      // older.
      const states = await Promise.all(cursors.map((cursor) => readState(redis, cursor.bucket)));
      const raised: Cursor[] = [];
      for (const [index, cursor] of cursors.entries()) {
        const state = states[index] ?? null;
        if (agrees(state, cursor) && !isForced(deps, cursor)) continue;
        raised.push(await newEpoch(cursor.bucket, state?.epoch ?? 0));
      }
      await Promise.all(raised.map((cursor) => setUp(redis, cursor)));
      recovered = raised.map(({ bucket }) => bucket);
      return recovered;
    },
    // A key that was revoked must not work again because Redis forgot it.
    async giveDocuments(documents) {
      await Promise.all(documents.map((document) => give(redis, document)));
    },
  });
  if (recovered.length > 0) deps.onRecovered(recovered);
}

function isForced({ force }: RecoveryDeps, { bucket, epoch }: Cursor): boolean {
  return force?.bucket === bucket && (force.epoch ?? epoch) === epoch;
}

function agrees(state: BucketState | null, cursor: Cursor): boolean {
  return state !== null && state.epoch === cursor.epoch && state.entry >= cursor.entry;
}

async function readState(redis: RedisClient, bucket: number): Promise<BucketState | null> {
  const [epoch, entry] = await redis.hmget(bucketKeys(bucket).meta, "epoch", "entry");
  if (epoch === null || epoch === undefined) return null;
  return { epoch: Number(epoch), entry: Number(entry ?? 0) };
}

async function setUp(redis: RedisClient, { bucket, epoch, entry }: Cursor): Promise<void> {
  await runUnloaded(redis, recover, { keys: bucketKeys(bucket), epoch, entry });
}

async function give(redis: RedisClient, lost: AccountDocument): Promise<void> {
  const { accountId, bucket, version, document } = lost;
  const keys = accountKeys(accountId, bucket);
  await runUnloaded(redis, configure, { account: accountId, keys, version, document });
}
