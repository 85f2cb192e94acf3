import { eq, inArray } from "drizzle-orm";
import { ApiError } from "../core/errors.ts";
import type { KeyIdentity } from "../core/keys.ts";
import { accounts, keys } from "./account-schema.ts";
import type { Database } from "./database.ts";

/** For how long a key that nobody has is not looked for again. */
const UNKNOWN_MS = 5_000;
const REMEMBERED_MAX = 100_000;
/** How often those without a turn share one statement, and how many of them may wait for it. */
const SHARED_EVERY_MS = 250;
const SHARING_MAX = 256;

type Finding = KeyIdentity | null;

/**
 * Finds the owner of a key by its full digest. What it finds is remembered for good, for it never
 * changes; that there is none only for some seconds. Callers who may not ask Postgres on their own
 * share four statements a second, so that guessing costs it little, and a valid key that is new
 * here is found all the same, whoever guesses from its address.
 */
export class KeyDirectory {
  readonly #known = new Map<string, KeyIdentity>();
  readonly #unknownUntilMs = new Map<string, number>();
  readonly #flights = new Map<string, Promise<Finding>>();
  #sharing = new Map<string, PromiseWithResolvers<Finding>>();

  constructor(
    readonly database: Database,
    readonly now: () => number,
  ) {}

  /**
   * Null when there is no such key. `hasTurn` is asked only about a key that is new here, and says
   * whether its caller may have a statement of their own. Throws when Postgres does not answer, and
   * `service_unavailable` when too many wait already.
   */
  async find(digest: string, hasTurn: () => Promise<boolean>): Promise<Finding> {
    const known = this.#recall(digest);
    if (known !== undefined) return known;
    return await (this.#flights.get(digest) ?? this.#fly(digest, hasTurn));
  }

  #recall(digest: string): Finding | undefined {
    if ((this.#unknownUntilMs.get(digest) ?? 0) > this.now()) return null;
    return this.#known.get(digest);
  }

  /** Callers with one key at the same time share its statement, and the turn of the first. */
  #fly(digest: string, hasTurn: () => Promise<boolean>): Promise<Finding> {
    const flight = this.#ask(digest, hasTurn).finally(() => this.#flights.delete(digest));
    this.#flights.set(digest, flight);
    return flight;
  }

  async #ask(digest: string, hasTurn: () => Promise<boolean>): Promise<Finding> {
    if (!(await hasTurn())) return await this.#share(digest);
    return (await this.#lookUp([digest])).get(digest) ?? null;
  }

  #share(digest: string): Promise<Finding> {
    if (this.#sharing.size >= SHARING_MAX) throw crowded();
    if (this.#sharing.size === 0) setTimeout(() => void this.#lookUpShared(), SHARED_EVERY_MS);
    const waiting = Promise.withResolvers<Finding>();
    this.#sharing.set(digest, waiting);
    return waiting.promise;
  }

  async #lookUpShared(): Promise<void> {
    const sharing = this.#sharing;
    this.#sharing = new Map();
    try {
      const found = await this.#lookUp([...sharing.keys()]);
      for (const [digest, { resolve }] of sharing) resolve(found.get(digest) ?? null);
    } catch (error) {
      for (const { reject } of sharing.values()) reject(error);
    }
  }

  async #lookUp(digests: readonly string[]): Promise<ReadonlyMap<string, KeyIdentity>> {
    const fields = {
      digest: keys.digest,
      keyId: keys.id,
      accountId: accounts.id,
      bucket: accounts.bucket,
    };
    const rows = await this.database.answered(
      this.database.db
        .select(fields)
        .from(keys)
        .innerJoin(accounts, eq(accounts.number, keys.account))
        .where(inArray(keys.digest, [...digests]))
        .execute(),
    );
    const found = new Map(rows.map(({ digest, ...identity }) => [digest, identity]));
    const untilMs = this.now() + UNKNOWN_MS;
    for (const digest of digests) {
      const identity = found.get(digest);
      if (identity === undefined) remember(this.#unknownUntilMs, digest, untilMs);
      else remember(this.#known, digest, identity);
    }
    return found;
  }
}

function crowded(): ApiError {
  const message = "Too many keys are being looked up; try again";
  return new ApiError("service_unavailable", message, { retryAfterSeconds: 1 });
}

/** Keeps memory bounded by forgetting the oldest; what was forgotten is only looked up again. */
function remember<Value>(map: Map<string, Value>, digest: string, value: Value): void {
  map.delete(digest);
  for (const oldest of map.keys()) {
    if (map.size < REMEMBERED_MAX) break;
    map.delete(oldest);
  }
  map.set(digest, value);
}
