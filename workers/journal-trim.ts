// Removes from Redis what has been in Postgres for long enough.

import { trimJournal } from "../actors/journal.ts";
import type { TrimmableCursor } from "../src/store/ledger/ledger.ts";
import type { FlushDeps } from "./log-flush.ts";

type TrimDeps = Pick<FlushDeps, "scripts" | "ledger" | "keepMs">;

/** How far this process trimmed each Redis, because an idle bucket does not need it twice. */
const trimmed = new WeakMap<object, Map<number, string>>();

/**
 * Removes entries from Redis that have been in Postgres for `keepMs`. Adds the errors of single
 * buckets to `failures`.
 */
export async function trimFlushed(deps: TrimDeps, failures: unknown[]): Promise<void> {
  const { ledger, keepMs } = deps;
  if (!Number.isFinite(keepMs)) return;
  const trimmable = await ledger.trimmable(keepMs);
  const trims = await Promise.allSettled(trimmable.map((cursor) => trimBucket(deps, cursor)));
  const behind = trimmable.filter(({ entry, keptEntry }, index) => {
    const result = trims[index];
    if (result?.status === "rejected") failures.push(result.reason);
    return result?.status === "fulfilled" && entry > keptEntry;
  });
  if (behind.length > 0) await ledger.markTrimmed(behind);
}

async function trimBucket(
  { scripts: { redis } }: TrimDeps,
  { bucket, epoch, keptEntry }: TrimmableCursor,
): Promise<void> {
  const done = trimmed.get(redis) ?? new Map<number, string>();
  trimmed.set(redis, done);
  const position = `${epoch}-${keptEntry}`;
  if (keptEntry === 0 || done.get(bucket) === position) return;
  await trimJournal(redis, bucket, { epoch, entry: keptEntry });
  done.set(bucket, position);
}
