import { and, eq, isNull } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import type { KeyDigests, KeyIdentity } from "../../core/access/keys.ts";
import { ApiError } from "../../core/errors.ts";
import { OpenWork } from "../../core/open-work.ts";
import type { Database } from "../servers/database.ts";
import { accounts, keys } from "../tables/account-schema.ts";
import { isAnyOf } from "../tables/any-of.ts";

/** The time for which an unknown key is remembered and not looked up again. */
const UNKNOWN_MS = 5_000;
export const KEYS_REMEMBERED_MAX = 100_000;
/** Keys of callers without a turn are looked up together: the interval, and the most that wait. */
const BATCH_EVERY_MS = 250;
export const BATCH_MAX = 256;

type LookupResult = KeyIdentity | null;

/** A key that waits for the next batch. */
interface PendingLookup extends PromiseWithResolvers<LookupResult> {
  readonly digests: KeyDigests;
}

export interface KeyDirectoryOptions {
  readonly database: Database;
  readonly now: () => number;
  /** The id of the current pepper; a key of an earlier one moves to it when it is found. */
  readonly pepper: string;
  /** Called if a key could not move. Until then the key is found by its earlier digest. */
  readonly onNotMoved: (error: unknown, keyId: string) => void;
}

/**
 * Finds the owner of a key by its full digests, one for each current pepper. One statement looks
 * for all of them, so a key that exists takes as long as one that does not. A result never changes,
 * so it is remembered until the key is revoked; an unknown key is remembered for some seconds.
 * Callers without a turn share four statements per second. So guessing keys costs Postgres little,
 * and a valid key that is new to this process is still found if others guess from its address.
 */
export class KeyDirectory {
  // A forgotten key is looked up again.
  readonly #known = new LRUCache<string, KeyIdentity>({ max: KEYS_REMEMBERED_MAX });
  readonly #unknown: LRUCache<string, true>;
  readonly #inFlight = new OpenWork<LookupResult>();
  #batch = new Map<string, PendingLookup>();

  constructor(readonly options: KeyDirectoryOptions) {
    const { now } = options;
    const times = { ttl: UNKNOWN_MS, ttlResolution: 0, perf: { now } };
    this.#unknown = new LRUCache({ max: KEYS_REMEMBERED_MAX, ...times });
  }

  /** The remembered result for a key: null if Postgres has no such key. */
  known([current]: KeyDigests): LookupResult | undefined {
    // No digest is both known and unknown.
    return this.#known.get(current) ?? (this.#unknown.has(current) ? null : undefined);
  }

  /**
   * Null if there is no such key. `hasTurn` is called only for a key that is not remembered: true
   * lets the caller have a separate statement. Simultaneous callers with the same key share one
   * lookup, and the turn of the first caller. Rejects if Postgres does not answer, and with
   * `service_unavailable` if too many keys wait already.
   */
  find(digests: KeyDigests, hasTurn: () => Promise<boolean>): Promise<LookupResult> {
    const known = this.known(digests);
    if (known !== undefined) return Promise.resolve(known);
    return this.#inFlight.share(digests[0], () => this.#find(digests, hasTurn));
  }

  /**
   * Forgets a key that was refused as revoked. From then on the key is looked up and not found,
   * like a key that never existed.
   */
  forget([current]: KeyDigests): void {
    this.#known.delete(current);
  }

  async #find(digests: KeyDigests, hasTurn: () => Promise<boolean>): Promise<LookupResult> {
    if (!(await hasTurn())) return await this.#addToBatch(digests);
    return (await this.#lookUp([digests])).get(digests[0]) ?? null;
  }

  #addToBatch(digests: KeyDigests): Promise<LookupResult> {
    if (this.#batch.size >= BATCH_MAX) throw tooManyLookups();
    if (this.#batch.size === 0) setTimeout(() => void this.#lookUpBatch(), BATCH_EVERY_MS);
    const pending = { ...Promise.withResolvers<LookupResult>(), digests };
    this.#batch.set(digests[0], pending);
    return pending.promise;
  }

  async #lookUpBatch(): Promise<void> {
    const batch = this.#batch;
    this.#batch = new Map();
    try {
      const found = await this.#lookUp([...batch.values()].map(({ digests }) => digests));
      for (const [digest, { resolve }] of batch) resolve(found.get(digest) ?? null);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  /** The owners of the keys that exist, by current digest. */
  async #lookUp(wanted: readonly KeyDigests[]): Promise<ReadonlyMap<string, KeyIdentity>> {
    const rows = await this.#rows(wanted.flat());
    const found = new Map<string, KeyIdentity>();
    for (const digests of wanted) {
      const [current] = digests;
      const stored = digests.find((digest) => rows.has(digest));
      const identity = stored === undefined ? undefined : rows.get(stored);
      if (stored === undefined || identity === undefined) {
        this.#unknown.set(current, true);
        continue;
      }
      this.#known.set(current, identity);
      found.set(current, identity);
      if (stored !== current) void this.#move(identity.keyId, stored, current);
    }
    return found;
  }

  async #rows(digests: readonly string[]): Promise<ReadonlyMap<string, KeyIdentity>> {
    const { database } = this.options;
    const fields = {
      digest: keys.digest,
      keyId: keys.id,
      accountId: accounts.id,
      bucket: accounts.bucket,
    };
    const rows = await database.withTimeout(
      database.db
        .select(fields)
        .from(keys)
        .innerJoin(accounts, eq(accounts.number, keys.account))
        // The statement leaves out revoked keys, so a revoked key takes the same path as a key that
        // never existed.
        .where(and(isAnyOf(keys.digest, digests), isNull(keys.revokedAt)))
        .execute(),
    );
    return new Map(rows.map(({ digest, ...identity }) => [digest, identity]));
  }

  /** Runs in the background: until the earlier pepper is removed, both digests find the key. */
  async #move(keyId: string, from: string, to: string): Promise<void> {
    const { database, pepper, onNotMoved } = this.options;
    try {
      await database.db
        .update(keys)
        .set({ digest: to, pepper })
        .where(and(eq(keys.id, keyId), eq(keys.digest, from), isNull(keys.revokedAt)));
    } catch (error) {
      onNotMoved(error, keyId);
    }
  }
}

function tooManyLookups(): ApiError {
  const message = "Too many keys are being looked up; try again";
  return new ApiError("service_unavailable", message, { retryAfterSeconds: 1 });
}
