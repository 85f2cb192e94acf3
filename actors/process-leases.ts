// The holds of this process. The process renews one lease in each bucket where it has holds, and
// Redis keeps the holds while the lease lasts. When a process dies, its leases end, and the sweep
// resolves its holds.

import { LEASE_MS } from "../src/core/access/limits.ts";
import type { ApiError } from "../src/core/errors.ts";
import { markerIn } from "../src/core/journal/marker.ts";
import type { Log } from "../src/core/log.ts";
import { ZERO } from "../src/core/money/money.ts";
import { ABANDONED, type OpenHold } from "./open-hold.ts";
import { accountKeys, type BucketKeys, bucketKeys, holdsKey } from "./records/keys.ts";
import { isEnded, parseHold } from "./records/records.ts";
import { leaseLost } from "./refusal.ts";
import { RequestIds } from "./request-ids.ts";
import { ENDED_AT_ONCE, forgetEnded, settleOf } from "./scripts/call-scripts.ts";
import { lease, renew } from "./scripts/lease-scripts.ts";
import type { ScriptTime } from "./scripts/script.ts";
import type { ScriptRunner } from "./scripts/script-runner.ts";

/** After this many rounds of renewal, the holds in Redis are compared with the open calls. */
const ROUNDS_A_COMPARISON = 12;
/**
 * For this many rounds, 15 s or more, Redis keeps the reply of a settled call. Redis takes an
 * admission for half of that time, so a late copy of the call's admission finds that the call has
 * ended.
 */
const ROUNDS_KEPT = 4;

/** The part of an open hold's account that a renewal uses. */
export interface LeasedAccount {
  /**
   * Returns why a call with this key must stop, by the newest access document, or null if it may
   * continue.
   */
  checkAccess(): Promise<(keyId: string) => ApiError | null>;
}

interface Bucket {
  readonly keys: BucketKeys;
  /** By request; null while the admission is in progress. */
  readonly open: Map<string, { readonly hold: OpenHold; readonly account: LeasedAccount } | null>;
  /** Calls that were settled in this round, and in those before it, the oldest first. */
  readonly ended: RequestIds[];
  /** The count of document changes when the open calls were last checked. */
  documents: number | null;
  rounds: number;
  /** True while `saveCost` sends the costs of its streams to Redis. */
  isSaving: boolean;
}

export interface ProcessLeasesDeps {
  readonly scripts: ScriptRunner;
  readonly scriptTime: () => ScriptTime;
  /** Names this process in Redis; different after each start. */
  readonly owner: string;
  readonly log: Pick<Log, "error" | "warn">;
}

export class ProcessLeases {
  readonly #buckets = new Map<number, Bucket>();

  constructor(readonly deps: ProcessLeasesDeps) {}

  get owner(): string {
    return this.deps.owner;
  }

  /** The calls that hold money now. */
  get openCalls(): number {
    let calls = 0;
    for (const { open } of this.#buckets.values()) {
      for (const call of open.values()) if (call !== null) calls += 1;
    }
    return calls;
  }

  /** The sum of the holds of these calls. */
  get held(): bigint {
    let held = 0n;
    for (const { open } of this.#buckets.values()) {
      for (const call of open.values()) held += call?.hold.amount ?? 0n;
    }
    return held;
  }

  /**
   * Registers an admission in progress, so a comparison does not take its hold for an unknown one.
   */
  opening(bucket: number, requestId: string): void {
    let entry = this.#buckets.get(bucket);
    if (entry === undefined) {
      const keys = bucketKeys(bucket);
      entry = {
        keys,
        open: new Map(),
        ended: [new RequestIds()],
        documents: null,
        rounds: 0,
        isSaving: false,
      };
      this.#buckets.set(bucket, entry);
    }
    entry.open.set(requestId, null);
  }

  opened(bucket: number, hold: OpenHold, account: LeasedAccount): void {
    this.#buckets.get(bucket)?.open.set(hold.id, { hold, account });
  }

  /**
   * Takes the lease of a bucket; without a lease, Redis refuses the holds of this process there.
   */
  async take(keys: BucketKeys): Promise<void> {
    const { scripts, scriptTime, owner } = this.deps;
    await scripts.run(lease, { nowMs: scriptTime(), keys, owner, leaseMs: LEASE_MS });
  }

  /** An admission took no hold, or its hold is not for this process any more. */
  closed(bucket: number, requestId: string): void {
    this.#buckets.get(bucket)?.open.delete(requestId);
  }

  /**
   * A call ended: Redis keeps the reply of its settlement until this process has it removed. If the
   * settlement was given up instead, its hold stays for the next comparison.
   */
  ended(bucket: number, requestId: string): void {
    const entry = this.#buckets.get(bucket);
    entry?.open.delete(requestId);
    entry?.ended.at(-1)?.add(requestId);
  }

  /** Interrupts every open call. Only streams listen: other calls end by themselves. */
  interrupt(reason: ApiError): void {
    for (const { open } of this.#buckets.values()) {
      for (const call of open.values()) call?.hold.abort(reason);
    }
  }

  /**
   * One round: renews the lease of every bucket with open calls, aborts calls that lost their hold
   * or had their key revoked, and from time to time releases holds that belong to no open call.
   */
  async renew(): Promise<void> {
    const rounds = [...this.#buckets].map(([number, bucket]) =>
      this.#renew(number, bucket).catch((error) =>
        this.deps.log.error({ bucket: number, err: error }, "A lease was not renewed"),
      ),
    );
    await Promise.all(rounds);
  }

  /**
   * Stores the cost so far of each stream in the buckets that are due, unless Redis has that cost
   * already.
   */
  async saveCosts(isDue: (bucket: number) => boolean = () => true): Promise<void> {
    const saving: Promise<void>[] = [];
    for (const [number, { open }] of this.#buckets) {
      if (!isDue(number)) continue;
      for (const call of open.values()) {
        if (call?.hold.isStream) saving.push(this.saveCost(number, call.hold));
      }
    }
    await Promise.all(saving);
  }

  /**
   * Stores the cost so far of a stream. The next request to Redis has the costs of all streams of
   * the bucket that were counted during the previous request.
   */
  async saveCost(number: number, hold: OpenHold): Promise<void> {
    const bucket = this.#buckets.get(number);
    const isUnsaved = await hold.count().catch((error) => {
      this.deps.log.error({ requestId: hold.id, err: error }, "Tokens were not counted");
      return false;
    });
    if (bucket === undefined || bucket.isSaving || !isUnsaved) return;
    bucket.isSaving = true;
    try {
      await this.#saveAll(bucket);
    } catch {
      // The renewal of the lease logs the error, and the costs are sent again in a second.
    }
    bucket.isSaving = false;
  }

  async #saveAll(bucket: Bucket): Promise<void> {
    for (;;) {
      const unsaved = streamsOf(bucket).filter(({ isUnsaved }) => isUnsaved);
      if (unsaved.length === 0) return;
      await this.#renewLease(bucket, unsaved);
    }
  }

  async #renew(number: number, bucket: Bucket): Promise<void> {
    bucket.rounds += 1;
    const isTimeToCompare = bucket.rounds % ROUNDS_A_COMPARISON === 0;
    // Without open calls the lease ends without help; the next admission begins a new one.
    const hadLease = bucket.open.size === 0 || (await this.#renewLease(bucket, streamsOf(bucket)));
    await this.#forgetEnded(bucket);
    if (!isTimeToCompare && hadLease) return;
    const knowsAll = await this.#compare(bucket);
    if (isTimeToCompare && knowsAll && isIdle(bucket)) this.#buckets.delete(number);
  }

  /** False if Redis had no lease of this process, and so may have resolved its holds. */
  async #renewLease(bucket: Bucket, holds: readonly OpenHold[]): Promise<boolean> {
    const { scripts, scriptTime, owner } = this.deps;
    const streams = holds.map((hold) => ({
      hold,
      requestId: hold.id,
      checkpoint: hold.streamedCost,
    }));
    const reply = await scripts.run(renew, {
      nowMs: scriptTime(),
      keys: bucket.keys,
      owner,
      leaseMs: LEASE_MS,
      streams,
    });
    for (const { hold, checkpoint } of streams) hold.saved(checkpoint);
    for (const id of reply.lost) bucket.open.get(id)?.hold.abort(leaseLost());
    if (bucket.documents !== reply.documents) await this.#checkAccess(bucket, reply.documents);
    return reply.hadLease;
  }

  /** Aborts the open calls of keys or accounts that must no longer be served. */
  async #checkAccess(bucket: Bucket, documents: number): Promise<void> {
    const holds = Map.groupBy(
      [...bucket.open.values()].filter((call) => call !== null),
      ({ account }) => account,
    );
    await Promise.all(
      [...holds].map(async ([account, calls]) => {
        const refusalForKey = await account.checkAccess();
        for (const { hold } of calls) {
          const refusal = refusalForKey(hold.keyId);
          if (refusal !== null) hold.abort(refusal);
        }
      }),
    );
    bucket.documents = documents;
  }

  /** Removes the replies in Redis of calls that ended some rounds ago. */
  async #forgetEnded({ keys, ended }: Bucket): Promise<void> {
    ended.push(new RequestIds());
    const { scripts, owner } = this.deps;
    while (ended.length > ROUNDS_KEPT) {
      const oldest = ended.shift()?.toArray() ?? [];
      for (let start = 0; start < oldest.length; start += ENDED_AT_ONCE) {
        const requestIds = oldest.slice(start, start + ENDED_AT_ONCE);
        // The next comparison finds the holds that Redis does not know.
        await scripts.run(forgetEnded, { keys, owner, requestIds, ownerMayReturn: false });
      }
    }
  }

  /**
   * Compares the holds in Redis with the open calls, and releases unknown ones. True if there were
   * none.
   */
  async #compare(bucket: Bucket): Promise<boolean> {
    const { scripts, owner } = this.deps;
    const before = new Map(bucket.open);
    const inRedis = await scripts.redis.hkeys(holdsKey(bucket.keys.number, owner));
    const known = new Set(inRedis);
    for (const [id, call] of before) {
      if (call !== null && !known.has(id) && bucket.open.has(id)) call.hold.abort(leaseLost());
    }
    const ended = new Set(bucket.ended.flatMap((ids) => ids.toArray()));
    const strangers = inRedis.filter(
      (id) => !before.has(id) && !bucket.open.has(id) && !ended.has(id),
    );
    await Promise.all(strangers.map((id) => this.#release(bucket, id)));
    return strangers.length === 0;
  }

  /**
   * Settles a hold that belongs to no call to its checkpoint, as the sweep would: its admission was
   * sent twice, its reply came too late, or its settlement was given up.
   */
  async #release(bucket: Bucket, requestId: string): Promise<void> {
    const { scripts, owner, log } = this.deps;
    const { number } = bucket.keys;
    const bytes = await scripts.redis.hgetBuffer(holdsKey(number, owner), requestId);
    if (bytes === null) return;
    if (isEnded(bytes)) return this.ended(number, requestId);
    const hold = parseHold(bytes);
    log.warn({ requestId, accountId: hold.account }, "A hold that no call knows was released");
    await scripts.run(settleOf(owner), {
      account: hold.account,
      keys: accountKeys(hold.account, number),
      keyId: hold.key,
      requestId,
      owner,
      hasBudgets: hold.budgets.length > 0,
      marker: markerIn(hold.metadata),
      cost: hold.checkpoint,
      outcome: ABANDONED,
      unused: [],
    });
  }
}

/** True if Redis has neither holds nor replies of this process in the bucket. */
function isIdle({ open, ended }: Bucket): boolean {
  return open.size === 0 && ended.every((ids) => ids.isEmpty);
}

/**
 * Streams, and calls with a settlement that waits for Redis: the sweep must charge the cost that
 * the caller received.
 */
function streamsOf({ open }: Bucket): OpenHold[] {
  const streams: OpenHold[] = [];
  for (const call of open.values()) {
    if (call !== null && (call.hold.isStream || call.hold.streamedCost > ZERO)) {
      streams.push(call.hold);
    }
  }
  return streams;
}
