import { and, eq, inArray, isNull } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { ApiError } from "../core/errors.ts";
import type { KeyDigests, KeyIdentity } from "../core/keys.ts";
import { accounts, keys } from "./account-schema.ts";
import type { Database } from "./database.ts";

/** For how long a key that nobody has is not looked for again. */
const UNKNOWN_MS = 5_000;
export const KEYS_REMEMBERED_MAX = 100_000;
/** How often those without a turn share one statement, and how many of them may wait for it. */
const SHARED_EVERY_MS = 250;
export const SHARING_MAX = 256;

type Finding = KeyIdentity | null;

/** Those who wait for one key. */
interface Waiting extends PromiseWithResolvers<Finding> {
  readonly digests: KeyDigests;
}

export interface KeyDirectoryOptions {
  readonly database: Database;
  readonly now: () => number;
  /** The id of the current pepper; a key of an earlier one moves to it when it is found. */
  readonly pepper: string;
  /** Told why a key could not move. It is found by its earlier digest until it does. */
  readonly onNotMoved: (error: unknown, keyId: string) => void;
}

/**
 * Finds the owner of a key by its full digests, one under each pepper that counts. All of them
 * are looked for in one statement: a key that exists takes as long as one that does not. What it
 * finds never changes, so it is kept until the key is revoked; that a key does not exist is kept
 * for some seconds.
 * Callers who may not ask Postgres on their own share four statements a second, so that guessing
 * costs it little, and a valid key that is new here is found all the same, whoever guesses from
 * its address.
 */
export class KeyDirectory {
  // What is forgotten is only looked up again.
  readonly #known = new LRUCache<string, KeyIdentity>({ max: KEYS_REMEMBERED_MAX });
  readonly #unknown: LRUCache<string, true>;
  readonly #flights = new Map<string, Promise<Finding>>();
  #sharing = new Map<string, Waiting>();

  constructor(readonly options: KeyDirectoryOptions) {
    const { now } = options;
    const times = { ttl: UNKNOWN_MS, ttlResolution: 0, perf: { now } };
    this.#unknown = new LRUCache({ max: KEYS_REMEMBERED_MAX, ...times });
  }

  /**
   * Null when there is no such key. `hasTurn` is asked only about a key that is new here, and says
   * whether its caller may have a statement of their own. Throws when Postgres does not answer, and
   * `service_unavailable` when too many wait already.
   */
  async find(digests: KeyDigests, hasTurn: () => Promise<boolean>): Promise<Finding> {
    const known = this.#recall(digests[0]);
    if (known !== undefined) return known;
    return await (this.#flights.get(digests[0]) ?? this.#fly(digests, hasTurn));
  }

  /**
   * Told of a key that was found and refused as revoked. From then on it is looked for, and not
   * found, like one that never was.
   */
  forget([current]: KeyDigests): void {
    this.#known.delete(current);
  }

  #recall(digest: string): Finding | undefined {
    if (this.#unknown.has(digest)) return null;
    return this.#known.get(digest);
  }

  /** Callers with one key at the same time share its statement, and the turn of the first. */
  #fly(digests: KeyDigests, hasTurn: () => Promise<boolean>): Promise<Finding> {
    const [current] = digests;
    const flight = this.#ask(digests, hasTurn).finally(() => this.#flights.delete(current));
    this.#flights.set(current, flight);
    return flight;
  }

  async #ask(digests: KeyDigests, hasTurn: () => Promise<boolean>): Promise<Finding> {
    if (!(await hasTurn())) return await this.#share(digests);
    return (await this.#lookUp([digests])).get(digests[0]) ?? null;
  }

  #share(digests: KeyDigests): Promise<Finding> {
    if (this.#sharing.size >= SHARING_MAX) throw crowded();
    if (this.#sharing.size === 0) setTimeout(() => void this.#lookUpShared(), SHARED_EVERY_MS);
    const waiting = { ...Promise.withResolvers<Finding>(), digests };
    this.#sharing.set(digests[0], waiting);
    return waiting.promise;
  }

  async #lookUpShared(): Promise<void> {
    const sharing = this.#sharing;
    this.#sharing = new Map();
    try {
      const found = await this.#lookUp([...sharing.values()].map(({ digests }) => digests));
      for (const [digest, { resolve }] of sharing) resolve(found.get(digest) ?? null);
    } catch (error) {
      for (const { reject } of sharing.values()) reject(error);
    }
  }

  /** What the keys lead to, by their current digests. */
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
        // Nobody has a revoked key, so that it takes the same path as one that was made up.
        .where(and(inArray(keys.digest, [...digests]), isNull(keys.revokedAt)))
        .execute(),
    );
    return new Map(rows.map(({ digest, ...identity }) => [digest, identity]));
  }

  /** Nobody waits for it: the key is found by either digest until the earlier pepper is dropped. */
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

function crowded(): ApiError {
  const message = "Too many keys are being looked up; try again";
  return new ApiError("service_unavailable", message, { retryAfterSeconds: 1 });
}
