// Makes the keys with which the playground calls the API. Each is a real key of a session and an
// account, and ends by itself. Keys are in memory only: after a restart the playground makes new
// ones, and a worker revokes the old ones (workers/playground-keys.ts).

import { LRUCache } from "lru-cache";
import { type AdministrationDeps, createKey } from "../accounts/administration.ts";
import { CHAT } from "../core/access/limits.ts";
import { scopesOfSurface } from "../core/access/services.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";

/** For this long a key begins calls. The key stays valid for the longest stream after that. */
const KEY_MS = 15 * 60_000;
const KEYS_MAX = 10_000;

export class PlaygroundKeys {
  readonly #keys: LRUCache<string, Promise<string>>;

  constructor(readonly administration: AdministrationDeps) {
    const { now } = administration;
    const times = { ttl: KEY_MS, ttlResolution: 0, perf: { now } };
    this.#keys = new LRUCache({ max: KEYS_MAX, ...times });
  }

  /** The key of a session for an account, made at its first use. */
  async of(session: string, account: AccountRow): Promise<string> {
    const name = keyName(session, account);
    const known = this.#keys.get(name);
    if (known !== undefined) return await known;
    const made = this.#make(session, account);
    this.#keys.set(name, made);
    try {
      return await made;
    } catch (error) {
      this.#keys.delete(name);
      throw error;
    }
  }

  /** Drops a key that was refused; the next call makes a new one. */
  forget(session: string, account: AccountRow): void {
    this.#keys.delete(keyName(session, account));
  }

  async #make(session: string, account: AccountRow): Promise<string> {
    const { administration } = this;
    const { key } = await createKey(administration, account.id, {
      name: "Playground",
      // At each call the tier decides which of these scopes count.
      scopes: scopesOfSurface(account.surface),
      ipAllowlist: [],
      monthlyLimit: null,
      expiresAt: new Date(administration.now() + KEY_MS + CHAT.streamMaxMs),
      session,
    });
    return key;
  }
}

function keyName(session: string, { id }: AccountRow): string {
  return `${session} ${id}`;
}
