import { eq } from "drizzle-orm";
import type { KeyIdentity } from "../core/keys.ts";
import type { Database } from "./database.ts";
import { accounts, keys } from "./schema.ts";

/** For how long a key that nobody has is not looked for again. */
const UNKNOWN_MS = 5_000;
const REMEMBERED_MAX = 100_000;

/**
 * Finds the owner of a key by its full digest. What it finds is remembered for good, for it never
 * changes; that there is none only for some seconds, so that guessing costs Postgres little.
 */
export class KeyDirectory {
  readonly #known = new Map<string, KeyIdentity>();
  readonly #unknownUntilMs = new Map<string, number>();

  constructor(
    readonly database: Database,
    readonly now: () => number,
  ) {}

  /** Null when there is no such key. Throws when Postgres does not answer. */
  async find(digest: string): Promise<KeyIdentity | null> {
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const nowMs = this.now();
    if ((this.#unknownUntilMs.get(digest) ?? 0) > nowMs) return null;
    const [row] = await this.database.db
      .select({ keyId: keys.id, accountId: accounts.id, bucket: accounts.bucket })
      .from(keys)
      .innerJoin(accounts, eq(accounts.number, keys.account))
      .where(eq(keys.digest, digest));
    if (row === undefined) remember(this.#unknownUntilMs, digest, nowMs + UNKNOWN_MS);
    else remember(this.#known, digest, row);
    return row ?? null;
  }
}

/** Keeps memory bounded by beginning anew; what was forgotten is only looked up again. */
function remember<Value>(map: Map<string, Value>, digest: string, value: Value): void {
  if (map.size >= REMEMBERED_MAX) map.clear();
  map.set(digest, value);
}
