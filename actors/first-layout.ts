// Upgrades Redis from the first layout to this one, while nothing else runs (docs/upgrading.md).
// First, everything that Postgres lacks is written to it: the journal, the holds of dead processes
// (settled to their checkpoints), and the counters of refused requests. Then each bucket gets a new
// epoch, and its wallets are built from Postgres when they are next used. Holds of waiting mail,
// limits, windows and stored replies are taken over.
//
// The upgrade can be killed at any point and started again. The entries made here are numbered
// after those of the journal, the same way in each run, so the ledger takes each once. Redis gets
// each record once. The key that marks a bucket as one of the first layout is removed last.

import { nano } from "../src/core/money.ts";
import type { FirstLayoutBucket, FirstLayoutRepository } from "../src/store/first-layout.ts";
import type { Ledger } from "../src/store/ledger.ts";
import type { WalletRepository } from "../src/store/wallet-repository.ts";
import { carryKeys, carryMail } from "./first-layout-carry.ts";
import { firstLayoutKeys, scanFirstLayout } from "./first-layout-keys.ts";
import {
  asStreamEntries,
  endingsOf,
  type FirstLayoutHold,
  type FirstLayoutWallet,
  parseFirstLayoutHold,
  readFirstLayoutEntry,
  summariesOf,
} from "./first-layout-records.ts";
import type { StreamEntry } from "./journal.ts";
import { bucketKeys } from "./keys.ts";
import { type RedisClient, runUnloaded } from "./script.ts";
import { recover } from "./wallet-scripts.ts";

export interface FirstLayoutDeps {
  readonly redis: RedisClient;
  readonly firstLayout: FirstLayoutRepository;
  readonly repository: WalletRepository;
  readonly ledger: Ledger;
  /** Called with messages for the operator. */
  readonly warn: (line: string) => void;
}

export interface FirstLayoutReport {
  readonly buckets: number;
  /** Journal entries moved to Postgres, including ends of holds and summaries. */
  readonly entries: number;
  /** Holds of waiting mail that were taken over. */
  readonly mailHolds: number;
}

/** An account's open holds, and its wallet without them. */
export interface HoldsOfAccount {
  readonly wallet: FirstLayoutWallet;
  readonly mail: readonly FirstLayoutHold[];
  readonly others: readonly FirstLayoutHold[];
}

/** What a bucket of the first layout has in Redis. */
interface OldBucket extends FirstLayoutBucket {
  /** The number of its last entry; null if Redis lost the bucket or is older than Postgres. */
  readonly lastEntry: number | null;
  readonly accounts: readonly HoldsOfAccount[];
}

interface FlushedBucket extends OldBucket {
  readonly moved: number;
  /** False if only Postgres can be trusted. */
  readonly isSound: boolean;
  /** How many entries of its epoch must be in Postgres when the flush ends. */
  readonly until: number;
}

const ENTRIES_PER_PAGE = 1_000;
const BUCKETS_AT_ONCE = 6;
/** Less than every epoch. */
const NO_EPOCH = -1;

/** Upgrades all buckets of the first layout. Does nothing if there are none. */
export async function upgradeFirstLayout(deps: FirstLayoutDeps): Promise<FirstLayoutReport> {
  let report: FirstLayoutReport = { buckets: 0, entries: 0, mailHolds: 0 };
  if ((await deps.firstLayout.buckets()).length === 0) return report;
  await deps.firstLayout.runExclusively(async () => {
    report = await upgradeAlone(deps);
  });
  return report;
}

async function upgradeAlone(deps: FirstLayoutDeps): Promise<FirstLayoutReport> {
  const { redis, firstLayout } = deps;
  // Read again: another process may have finished while this one waited for the lock.
  const stored = await firstLayout.buckets();
  await Promise.all(stored.map(({ bucket }) => fence(redis, bucket)));
  const buckets = await readBuckets(deps, stored);
  const flushed = await atMost(BUCKETS_AT_ONCE, buckets, (bucket) => flushBucket(deps, bucket));
  await checkFlushed(deps, flushed);
  const mailHolds = await atMost(BUCKETS_AT_ONCE, flushed, async ({ bucket, epoch, accounts }) => {
    const keys = bucketKeys(bucket);
    await runUnloaded(redis, recover, { keys, epoch: epoch + 1 });
    return await carryMail(deps, keys, accounts);
  });
  await carryKeys(
    redis,
    new Map(flushed.map(({ bucket, epoch, isSound }) => [bucket, isSound ? epoch : NO_EPOCH])),
  );
  await Promise.all(stored.map(({ bucket }) => forgetBucket(redis, bucket)));
  await firstLayout.finish(stored);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return {
    buckets: stored.length,
    entries: sum(flushed.map(({ moved }) => moved)),
    mailHolds: sum(mailHolds),
  };
}

/** Runs over all items, at most so many at a time, and returns the results in their order. */
async function atMost<Item, Result>(
  count: number,
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += count) {
    results.push(...(await Promise.all(items.slice(start, start + count).map(run))));
  }
  return results;
}

/** Scripts of the earlier release refuse a bucket without its meta. */
async function fence(redis: RedisClient, bucket: number): Promise<void> {
  const { meta, fencedMeta } = firstLayoutKeys(bucket);
  if ((await redis.exists(meta)) === 1) await redis.renamenx(meta, fencedMeta);
}

async function readBuckets(
  deps: FirstLayoutDeps,
  stored: readonly FirstLayoutBucket[],
): Promise<OldBucket[]> {
  const { redis, firstLayout, warn } = deps;
  const owners = new Map<number, Set<string>>();
  for await (const page of scanFirstLayout(redis, ["{b*}:holds:acct_*"])) {
    for (const { bucket, id } of page) {
      owners.set(bucket, (owners.get(bucket) ?? new Set()).add(id));
    }
  }
  const mail = await firstLayout.unsettledMail();
  const lost: number[] = [];
  const buckets = await atMost(BUCKETS_AT_ONCE, stored, async (place): Promise<OldBucket> => {
    const { bucket, epoch, entry } = place;
    const meta = await redis.hmget(firstLayoutKeys(bucket).fencedMeta, "epoch", "entry");
    const lastEntry = Number(meta[1] ?? 0);
    if (Number(meta[0] ?? 0) !== epoch || lastEntry < entry) {
      if ((await redis.exists(bucketKeys(bucket).bucket)) === 0) lost.push(bucket);
      return { ...place, accounts: [], lastEntry: null };
    }
    const holds = [...(owners.get(bucket) ?? [])]
      .sort()
      .map((account) => readHolds(redis, { account, bucket, epoch }, mail));
    const accounts = (await Promise.all(holds)).filter((of) => of !== null);
    return { ...place, accounts, lastEntry };
  });
  if (lost.length > 0) {
    warn(
      `Redis has nothing of ${lost.length} of ${stored.length} buckets, or something older than ` +
        "Postgres: they are built from Postgres alone, without what was not flushed.",
    );
  }
  return buckets;
}

/** Null if the wallet is missing or of another epoch: its holds are invalid. */
async function readHolds(
  redis: RedisClient,
  place: { readonly account: string; readonly bucket: number; readonly epoch: number },
  mail: ReadonlySet<string>,
): Promise<HoldsOfAccount | null> {
  const { account, bucket } = place;
  const keys = firstLayoutKeys(bucket);
  const fields = ["paid", "free", "held_paid", "held_free", "seq", "free_since"];
  const [epoch, ...values] = await redis.hmget(keys.wallet(account), "epoch", ...fields);
  if (Number(epoch ?? 0) !== place.epoch) return null;
  const [paid = "0", free = "0", heldPaid = "0", heldFree = "0", seq, freeSince] = values.map(
    (value) => value ?? "0",
  );
  const records = Object.entries(await redis.hgetall(keys.holds(account))).sort(byRequest);
  const holds = records.flatMap(([request, record]) => parseFirstLayoutHold(request, record) ?? []);
  return {
    wallet: {
      account,
      seq: Number(seq),
      paid: nano(paid),
      free: nano(free),
      heldPaid: nano(heldPaid),
      heldFree: nano(heldFree),
      freeSinceMs: Number(freeSince),
    },
    mail: holds.filter(({ request }) => mail.has(request)),
    others: holds.filter(({ request }) => !mail.has(request)),
  };
}

function byRequest([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

/** Moves to Postgres what it lacks: the journal, then the entries that end it. */
async function flushBucket(deps: FirstLayoutDeps, bucket: OldBucket): Promise<FlushedBucket> {
  const { epoch, lastEntry, accounts } = bucket;
  const nothing = { ...bucket, accounts: [], moved: 0, isSound: false, until: 0 };
  if (lastEntry === null) return nothing;
  const { redis } = deps;
  const { journal } = firstLayoutKeys(bucket.bucket);
  let [moved, from, position] = [0, `(${bucket.streamId}`, bucket.entry];
  for (;;) {
    const page = await redis.xrangeBuffer(journal, from, "+", "COUNT", ENTRIES_PER_PAGE);
    const entries = page.map(([, fields], index) =>
      readFirstLayoutEntry(fields[1] ?? Buffer.alloc(0), { epoch, position: position + index }),
    );
    const written = await write(deps, bucket, entries);
    if (written === null) return nothing;
    moved += written;
    if (page.length < ENTRIES_PER_PAGE) break;
    from = `(${page.at(-1)?.[0].toString()}`;
    position = (entries.at(-1)?.number ?? position) + 1;
  }
  const refused = await redis.hgetall(bucketKeys(bucket.bucket).refused);
  const endings = [
    ...accounts.flatMap(({ wallet, others }) => endingsOf(wallet, others)),
    ...summariesOf(refused),
  ];
  const written = await write(deps, bucket, asStreamEntries(endings, { epoch, first: lastEntry }));
  if (written === null) return nothing;
  return { ...bucket, moved: moved + written, isSound: true, until: lastEntry + endings.length };
}

/**
 * The ledger skips a bucket that another transaction has locked, such as one of a run that was
 * killed a moment ago.
 */
async function checkFlushed(
  { ledger }: FirstLayoutDeps,
  flushed: readonly FlushedBucket[],
): Promise<void> {
  const cursors = new Map((await ledger.cursors()).map(({ bucket, entry }) => [bucket, entry]));
  for (const { bucket, until } of flushed) {
    if ((cursors.get(bucket) ?? 0) >= until) continue;
    throw new Error(`The journal of bucket ${bucket} is being moved by another process: try again`);
  }
}

/** Null if the journal contradicts the ledger: it is then invalid, as in the flush. */
async function write(
  { ledger, warn }: FirstLayoutDeps,
  { bucket, epoch }: FirstLayoutBucket,
  entries: readonly StreamEntry[],
): Promise<number | null> {
  if (entries.length === 0) return 0;
  const { moved, conflicts, rejected, failure } = await ledger.write([{ bucket, epoch, entries }]);
  if (failure !== null) throw failure;
  for (const { prepared, reason } of rejected) {
    warn(`Journal entry ${prepared.item.number} of bucket ${bucket} was rejected: ${reason}`);
  }
  const [conflict] = conflicts;
  if (conflict === undefined) return moved;
  // Only a person can decide which store is right.
  if (["JournalGap", "LostOperations"].includes(conflict.error.name)) throw conflict.error;
  warn(`Bucket ${bucket} is built from Postgres alone: ${conflict.error.message}`);
  return null;
}

/** The key that marks the bucket as one of the first layout is removed last. */
async function forgetBucket(redis: RedisClient, bucket: number): Promise<void> {
  const { meta, fencedMeta, journal } = firstLayoutKeys(bucket);
  const { leases, refused } = bucketKeys(bucket);
  await redis.unlink(leases, refused, journal, meta);
  await redis.unlink(fencedMeta);
}
